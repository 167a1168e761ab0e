"""The checkpoint format, for other packages that read and write checkpoints."""

from graphc.training.train.parts import decoded, encoded
from graphc.training.train.restoring import Saved
from graphc.training.train.storage import Part, Piece, Writer, Writing, entries

__all__ = ["Part", "Piece", "Saved", "Writer", "Writing", "decoded", "encoded", "entries"]
