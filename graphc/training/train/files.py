"""The checkpoint format, for other packages that read and write checkpoints."""

from graphc.training.train.parts import decoded, encoded
from graphc.training.train.saved import Saved
from graphc.training.train.storage import Part, Piece, Writer, entries
from graphc.training.train.writing import Writing

__all__ = ["Part", "Piece", "Saved", "Writer", "Writing", "decoded", "encoded", "entries"]
