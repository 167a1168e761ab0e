"""Layer 12: checkpoints, and a training loop."""

from graphc.compiler.base import hint_missing
from graphc.training.train import files
from graphc.training.train.callbacks import Callback, Checkpoints, CSVLog, EarlyStopping, TensorBoard
from graphc.training.train.checkpoint import Checkpoint, Processes
from graphc.training.train.fit import fit
from graphc.training.train.history import History
from graphc.training.train.orbax import from_orbax, to_orbax

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
