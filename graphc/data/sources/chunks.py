"""Reading chunk by chunk: what a file gives at once is as large as suits it; elements and batches are cut from that.

So elements cost an index, batches a slice, and the position of any element is that of its chunk and its row in there.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self, TypeAlias, cast

import numpy as np

from graphc.base import at, nest, user_location
from graphc.base.errors import InvalidTypeError
from graphc.core import as_strings
from graphc.data.sources.source import Cardinality, State, map_spec

__all__ = ["BLOCK", "Columns", "FileFormat", "FileReader", "FileSource", "file_names", "objects"]

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
        """Returns where the next chunk starts."""
        ...

    def seek(self, position: Sequence[int]) -> None:
        """Goes to a position, right after the file was opened."""
        ...

    def skip(self) -> bool:
        """Passes over the row for which :meth:`read` has failed; returns False if what follows it cannot be read."""
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
        """Starts to read a file."""
        ...

    def count(self, name: bytes) -> int | None:
        """Returns the number of elements in a file; None where only reading it tells."""
        ...


@dataclass(frozen=True)
class FileSource:
    """The elements of files, one file after the other.

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
        """Returns how many elements the files have, where they say so."""
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
        """Returns what is left of the chunk, or of the next one, as a batch of at most so many elements."""
        if self._row == self._length and not self._advance():
            return None
        start, self._row = self._row, min(self._row + count, self._length)
        return nest.unflatten(self._structure, [column[start : self._row] for column in self._columns])

    def _advance(self) -> bool:
        """Reads the next chunk; returns False at the end. After an error what could not be read is passed over."""
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
        """Returns the file, where its chunk starts, and how many rows of that are taken."""
        if self._row < self._length:
            return {"file": self._file, "position": self._start, "row": self._row}
        position = [] if self._reader is None else self._reader.position()
        return {"file": self._file, "position": position, "row": 0}

    def restore(self, state: State) -> None:
        """Goes to a position."""
        self.close()
        self._file, rows = state["file"], state["row"]
        self._columns, self._row, self._length = (), 0, 0
        if state["position"]:
            self._reader = self._source.format.open(self._source.names[self._file])
            self._reader.seek(state["position"])
        while rows and self._advance():  # chunks may be smaller than those of the program that made the state
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
    """Returns a vector of Python's objects, such as strings."""
    found = np.empty(len(items), object)
    found[:] = items
    return found


def file_names(given: Any, use: str) -> tuple[bytes, ...]:
    """Returns the names of files that a user gives: one, or any number, as text, bytes, paths or a tensor of strings.

    Raises:
      InvalidTypeError: these are no names.
    """
    strings = as_strings(given)
    if strings is None or not strings.size:
        problem = f"{use}: expected the name of a file or a list of names, got {given!r:.60}"
        raise at(InvalidTypeError(problem), user_location())
    return tuple(os.fsencode(str(name)) for name in strings.__array__().ravel())
