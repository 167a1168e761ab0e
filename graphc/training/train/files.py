"""The checkpoint format, for other packages that read and write checkpoints."""

from graphc.training.train.parts import decoded, encoded
from graphc.training.train.restoring import MappedCheckpoint
from graphc.training.train.storage import ArrayBlock, CheckpointWriter, ProcessPart, Writing, entries

__all__ = [
    "ArrayBlock", "CheckpointWriter", "MappedCheckpoint", "ProcessPart", "Writing", "decoded", "encoded", "entries",
]  # fmt: skip
