"""Layer 12: checkpoints, and a training loop."""

from graphc.base import hint_missing
from graphc.train import files
from graphc.train.callbacks import Callback, Checkpoints, CSVLog, EarlyStopping, TensorBoard
from graphc.train.checkpoint import Checkpoint, Processes
from graphc.train.fit import fit
from graphc.train.history import History
from graphc.train.orbax import from_orbax, to_orbax

__all__ = [
    "CSVLog",
    "Callback",
    "Checkpoint",
    "Checkpoints",
    "EarlyStopping",
    "History",
    "Processes",
    "TensorBoard",
    "files",
    "fit",
    "from_orbax",
    "to_orbax",
]

hint_missing(globals(), "gx.train")
