"""Reading in chunks: a file returns chunks of a size that suits it; elements and batches are cut from these.

So an element costs an index, a batch a slice, and a position is that of a chunk and a row in it.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias, cast, runtime_checkable

import numpy as np

from graphc.compiler.base import files, nest
from graphc.compiler.base.errors import FileMissingError, InvalidTypeError
from graphc.compiler.core import as_strings
from graphc.compiler.function import TensorSpec

INFINITE = math.inf
"""The cardinality of a source that does not end."""

Cardinality: TypeAlias = "int | float | None"
"""Number of elements: an integer, :data:`INFINITE`, or None where only reading them tells."""

State: TypeAlias = dict[str, Any]
"""A position: a small structure of JSON values and NumPy arrays."""


class SourceIterator(Protocol):
    """Reads a source once, from the start or from a position set by :meth:`restore`."""

    def __iter__(self) -> Self: ...

    def __next__(self) -> Any:
        """Returns the next element.

        Raises:
          StopIteration: there are no more elements.
        """
        ...

    def read_many(self, count: int) -> Any | None:
        """Returns between one and ``count`` of the next elements as one batch; None if there are no more."""
        ...

    def state(self) -> State:
        """Returns the position: an iterator of the same source that restores it continues with the same elements."""
        ...

    def restore(self, state: State) -> None:
        """Moves to a position from :meth:`state`, forward or backward."""
        ...

    def close(self) -> None:
        """Releases files and other resources; a second call does nothing."""
        ...


class ChunkSource(Protocol):
    """A source of elements. It holds no position: each :meth:`open` starts anew."""

    @property
    def spec(self) -> Any:
        """The types of an element: its structure with a ``TensorSpec`` for each leaf."""
        ...

    @property
    def cardinality(self) -> Cardinality:
        """The number of elements."""
        ...

    def open(self) -> SourceIterator:
        """Starts to read."""
        ...


@runtime_checkable
class RowSource(ChunkSource, Protocol):
    """A source that can be read in any order, so that a shuffle permutes row numbers instead of rows."""

    def __len__(self) -> int: ...

    def take_rows(self, indices: Any) -> Any:
        """Returns rows as one batch.

        Args:
          indices: their numbers, a vector of ints from 0 to below the length.
        """
        ...


def stacked_spec(spec: Any, size: int | None = None) -> Any:
    """Returns the spec of a batch of elements.

    Args:
      spec: the spec of an element.
      size: the number of elements in a batch; None for any number.

    Example:
      >>> from graphc.training.data.sources import stacked_spec
      >>> from graphc.compiler.function import TensorSpec
      >>> stacked_spec({"x": TensorSpec((3,), "float32")})["x"].shape
      (None, 3)
    """

    def stacked(leaf: TensorSpec) -> TensorSpec:
        return TensorSpec(None if leaf.shape is None else (size, *leaf.shape), leaf.dtype)

    return map_spec(stacked, spec)


def map_spec(function: Callable[[TensorSpec], Any], spec: Any) -> Any:
    """Applies a function to each leaf of a spec; :mod:`graphc.nest` treats a ``TensorSpec`` as a dataclass, not a leaf.

    Example:
      >>> from graphc.training.data.sources import map_spec
      >>> from graphc.compiler.function import TensorSpec
      >>> map_spec(str, (TensorSpec((3,), "float32"), {"name": TensorSpec((), "string")}))
      ('float32[3]', {'name': 'string[]'})
    """
    if isinstance(spec, TensorSpec):
        return function(spec)
    _, children = nest.children(spec) or ((), ())
    return nest.unflatten(nest.level(spec), [map_spec(function, child) for child in children])


Columns: TypeAlias = "Sequence[np.ndarray[Any, Any]]"
"""The leaves of a batch."""

BLOCK = 1 << 18
"""Number of bytes of a file to read at once."""


class FileReader(Protocol):
    """Reads one file."""

    def read(self) -> Columns | None:
        """Returns the next chunk, of at least one row; None at the end."""
        ...

    def position(self) -> list[int]:
        """Returns the start of the next chunk."""
        ...

    def seek(self, position: Sequence[int]) -> None:
        """Moves to a position, right after opening."""
        ...

    def skip(self) -> bool:
        """Skips the row that :meth:`read` failed on; returns False if the rest cannot be read."""
        ...

    def close(self) -> None:
        """Closes the file."""
        ...


class FileFormat(Protocol):
    """A file format.

    Attributes:
      word: the name of the format, for messages.
    """

    @property
    def word(self) -> str:
        """See the class."""
        ...

    @property
    def spec(self) -> Any:
        """The types of an element."""
        ...

    def open(self, name: bytes) -> FileReader:
        """Opens a file."""
        ...

    def count(self, name: bytes) -> int | None:
        """Returns the number of elements in a file; None where only reading it tells."""
        ...


@dataclass(frozen=True)
class FileSource:
    """The elements of files, in sequence.

    Args:
      names: the files.
      format: the format of the files.
    """

    names: tuple[bytes, ...]
    format: FileFormat

    def __str__(self) -> str:
        first = repr(os.fsdecode(self.names[0])) if self.names else ""
        more = f" and {len(self.names) - 1} more" if len(self.names) > 1 else ""
        return f"{self.format.word}({first}{more})"

    @property
    def spec(self) -> Any:
        """The types of an element."""
        return self.format.spec

    @property
    def cardinality(self) -> Cardinality:
        """The number of elements in the files, if they store it."""
        counts = [self.format.count(name) for name in self.names]
        return None if None in counts else sum(cast("list[int]", counts))

    def open(self) -> _Files:
        """Starts to read."""
        return _Files(self)


class _Files:
    """Cuts elements and batches from the chunks of files."""

    def __init__(self, source: FileSource) -> None:
        self._source = source
        self._structure = nest.flatten(map_spec(lambda _: 0, source.spec))[1]
        self._file: int = 0
        self._reader: FileReader | None = None
        self._start: list[int] = []
        self._columns: Columns = ()
        self._row = self._length = 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        if self._row == self._length and not self._advance():
            raise StopIteration
        row, self._row = self._row, self._row + 1
        if self._structure == nest.LEAF:
            return self._columns[0][row]
        return nest.unflatten(self._structure, [column[row] for column in self._columns])

    def read_many(self, count: int) -> Any | None:
        """Returns the rest of the chunk, or the next chunk, as a batch of at most ``count`` elements."""
        if self._row == self._length and not self._advance():
            return None
        start, self._row = self._row, min(self._row + count, self._length)
        return nest.unflatten(self._structure, [column[start : self._row] for column in self._columns])

    def _advance(self) -> bool:
        """Reads the next chunk; returns False at the end. After an error, skips the part that could not be read."""
        while self._file < len(self._source.names):
            try:
                columns = self._opened().read()
            except Exception:
                if self._reader is None or not self._reader.skip():
                    self._leave()
                self._columns, self._row, self._length = (), 0, 0
                raise
            if columns is not None:
                self._columns, self._row, self._length = columns, 0, len(columns[0])
                return True
            self._leave()
        return False

    def _opened(self) -> FileReader:
        if self._reader is None:
            self._reader = self._source.format.open(self._source.names[self._file])
        self._start = self._reader.position()
        return self._reader

    def _leave(self) -> None:
        self.close()
        self._file += 1

    def state(self) -> State:
        """Returns the file, the start of its chunk, and the number of rows taken from it."""
        if self._row < self._length:
            return {"file": self._file, "position": self._start, "row": self._row}
        position = [] if self._reader is None else self._reader.position()
        return {"file": self._file, "position": position, "row": 0}

    def restore(self, state: State) -> None:
        """Moves to a position."""
        self.close()
        self._file, rows = state["file"], state["row"]
        self._columns, self._row, self._length = (), 0, 0
        if state["position"]:
            self._reader = self._source.format.open(self._source.names[self._file])
            self._reader.seek(state["position"])
        while rows and self._advance():  # chunks may be smaller than in the program that made the state
            self._row = min(rows, self._length)
            rows -= self._row

    def close(self) -> None:
        """Closes the file."""
        if self._reader is not None:
            reader, self._reader = self._reader, None
            reader.close()

    def __del__(self) -> None:
        if getattr(self, "_reader", None) is not None:
            self.close()


def objects(items: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Returns a vector of Python objects, such as strings."""
    vector = np.empty(len(items), object)
    vector[:] = items
    return vector


def file_names(given: Any, use: str) -> tuple[bytes, ...]:
    """Returns a user's file names: one, or any number, as text, bytes, paths or a tensor of strings.

    Raises:
      InvalidTypeError: these are not file names.
    """
    strings = as_strings(given)
    if strings is None or not strings.size:
        problem = f"{use}: expected a file name or a list of names, got {given!r:.60}"
        raise InvalidTypeError(problem).here()
    return tuple(os.fsencode(str(name)) for name in strings.__array__().ravel())


# Listing of files that match patterns.


def matching_files(patterns: Any, use: str) -> list[bytes]:
    """Returns the names of the files that match one of several patterns, in order.

    Args:
      patterns: a pattern with ``*``, ``?`` and ``[...]``, or a list of patterns.
      use: the name of the calling function, for messages.

    Raises:
      FileMissingError: no files match.
    """
    wanted = [os.fsdecode(name) for name in file_names(patterns, use)]
    names = sorted({name for pattern in wanted for name in files.glob(pattern)})
    if not names:
        raise FileMissingError(f"{use}: no files match {', '.join(map(repr, wanted))}").here()
    return [os.fsencode(name) for name in names]
