"""Rows that are read in blocks: one by one out of a block, and so many that a block is full."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from graphc.data.elements import Block, Row, joined, row_of, rows_of, size_of
from graphc.data.plan import Rows
from graphc.data.sources import State

__all__ = ["Ahead", "BufferedRows", "full_block"]


class BufferedRows(Rows):
    """Gives rows one by one out of blocks that it reads ahead.

    Args:
      inputs: the rows that it reads.
      ahead: the number of rows to read at once where single rows are requested.
    """

    def __init__(self, *inputs: Rows, ahead: int) -> None:
        super().__init__(*inputs)
        self.ahead = ahead
        self._buffer: Block = ()
        self._place = self._size = 0
        self._marks: list[tuple[int, State]] = []  # where each read starts in the buffer, and the position before it

    @abstractmethod
    def read(self, count: int) -> Block | None:
        """Returns the next block as :meth:`block` does, past what is read ahead."""

    def filled(self, count: int = 0, least: int = 1) -> int:
        """Returns how many rows are read ahead, after reading some where there are too few; 0 at the end.

        Args:
          count: the number of rows to read, if that many come at once.
          least: the minimum number of rows, except at the end.
        """
        while self._size - self._place < least and self._read_more(max(count, self.ahead, least)):
            pass
        return self._size - self._place

    def _read_more(self, count: int) -> bool:
        mark = super().state()
        found = self.read(count)
        if found is None:
            return False
        left = self._size - self._place
        buffer = tuple(map(np.asarray, found))
        earlier = self._marks[self._segment() :] if left else []
        self._marks = [*[(start - self._place, before) for start, before in earlier], (left, mark)]
        self._buffer = joined([rows_of(self._buffer, self._place), buffer]) if left else buffer
        self._place, self._size = 0, size_of(self._buffer)
        return True

    def _segment(self) -> int:
        """Returns which of the reads gave the next row."""
        return max(number for number, (start, _) in enumerate(self._marks) if start <= self._place)

    def back(self, count: int) -> None:
        """Takes back the last rows that :meth:`block` gave, where :meth:`filled` had read them before."""
        self._place -= count

    def __next__(self) -> Row:
        if self._place == self._size and not self.filled():
            raise StopIteration
        self._place += 1
        return row_of(self._buffer, self._place - 1)

    def block(self, count: int) -> Block | None:
        """Returns what is left of the rows that were read ahead, or the next block."""
        if self._place == self._size:
            self._forget()
            return self.read(count)
        place = self._place
        self._place = min(place + count, self._size)
        return rows_of(self._buffer, place, self._place)

    def _forget(self) -> None:
        self._buffer, self._place, self._size, self._marks = (), 0, 0, []

    def state(self) -> State:
        """Returns the position before the rows that were read ahead, and how many of these are used."""
        if self._place == self._size:
            return {"at": super().state(), "used": 0}
        start, mark = self._marks[self._segment()]
        return {"at": mark, "used": self._place - start}

    def restore(self, state: State) -> None:
        """Goes to a position."""
        super().restore(state["at"])
        self._forget()
        left = state["used"]
        while left:
            found = self.read(left)
            left -= 0 if found is None else size_of(found)


class Ahead(BufferedRows):
    """Rows of any kind that are read ahead in blocks, which nobody sees.

    Args:
      rows: the rows that it reads.
      ahead: the number of rows to read at once.
      full: whether to go on reading until there are so many.
    """

    def __init__(self, rows: Rows, ahead: int, *, full: bool) -> None:
        super().__init__(rows, ahead=ahead)
        self._full = full

    def read(self, count: int) -> Block | None:
        """Returns the next block."""
        return full_block(self.input, count) if self._full else self.input.block(count)

    def block(self, count: int) -> Block | None:
        """Returns what is left of the rows that were read ahead, after reading some where there are none."""
        return super().block(count) if self.filled(count) else None


def full_block(rows: Rows, count: int) -> Block | None:
    """Returns the next ``count`` rows as a block; fewer only at the end, and None if there are none."""
    first = rows.block(count)
    if first is None or len(first[0]) == count:
        return first
    blocks, left = [first], count - size_of(first)
    while left:
        found = rows.block(left)
        if found is None:
            break
        blocks.append(found)
        left -= size_of(found)
    return joined(blocks)
