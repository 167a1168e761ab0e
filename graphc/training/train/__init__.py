"""Checkpoints, and a training loop."""

from graphc.compiler.base import hint_missing
from graphc.training.train import files
from graphc.training.train.callbacks import Callback, Checkpoints, CSVLog, EarlyStopping, History, TensorBoard
from graphc.training.train.checkpoint import Checkpoint, Processes
from graphc.training.train.fit import fit
from graphc.training.train.restoring import from_orbax, to_orbax

__all__ = [
    "CSVLog", "Callback", "Checkpoint", "Checkpoints", "EarlyStopping", "History", "Processes", "TensorBoard", "files",
    "fit", "from_orbax", "to_orbax",
]  # fmt: skip

hint_missing(globals(), "gx.train")
