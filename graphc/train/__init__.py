"""Layer 10: checkpoints, and a loop that trains."""

from graphc.train.callbacks import Callback, Checkpoints, CSVLog, EarlyStopping, TensorBoard
from graphc.train.checkpoint import Checkpoint, Processes
from graphc.train.fit import fit
from graphc.train.history import History
from graphc.train.orbax import from_orbax, to_orbax
from graphc.train.parts import decoded, encoded
from graphc.train.saved import Saved
from graphc.train.storage import Part, Piece, Writer, entries
from graphc.train.writing import Writing

__all__ = [
    "CSVLog",
    "Callback",
    "Checkpoint",
    "Checkpoints",
    "EarlyStopping",
    "History",
    "Part",
    "Piece",
    "Processes",
    "Saved",
    "TensorBoard",
    "Writer",
    "Writing",
    "decoded",
    "encoded",
    "entries",
    "fit",
    "from_orbax",
    "to_orbax",
]
