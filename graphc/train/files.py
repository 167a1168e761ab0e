"""The checkpoint format, for other packages that read and write checkpoints."""

from graphc.train.parts import decoded, encoded
from graphc.train.saved import Saved
from graphc.train.storage import Part, Piece, Writer, entries
from graphc.train.writing import Writing

__all__ = ["Part", "Piece", "Saved", "Writer", "Writing", "decoded", "encoded", "entries"]
