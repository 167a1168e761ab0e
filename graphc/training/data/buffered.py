"""Rows that are read in blocks: returned one by one from a block, or as full blocks."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np

from graphc.training.data.elements import Block, Row, joined, row_of, rows_of, size_of
from graphc.training.data.plan import Rows
from graphc.training.data.sources import State

__all__ = ["Ahead", "BufferedRows", "full_block"]


class BufferedRows(Rows):
    """Rows that are returned one by one from blocks that are read ahead.

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
        """Returns the next block, like :meth:`block`, beyond the rows that are already read."""

    def filled(self, count: int = 0, least: int = 1) -> int:
        """Returns the number of rows that are read ahead, after reading more if there are too few; 0 at the end.

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
        """Returns the index of the read that gave the next row."""
        return max(number for number, (start, _) in enumerate(self._marks) if start <= self._place)

    def back(self, count: int) -> None:
        """Puts back the last rows that :meth:`block` returned, if :meth:`filled` had read them before."""
        self._place -= count

    def __next__(self) -> Row:
        if self._place == self._size and not self.filled():
            raise StopIteration
        self._place += 1
        return row_of(self._buffer, self._place - 1)

    def block(self, count: int) -> Block | None:
        """Returns the remaining rows that were read ahead, or the next block."""
        if self._place == self._size:
            self._forget()
            return self.read(count)
        place = self._place
        self._place = min(place + count, self._size)
        return rows_of(self._buffer, place, self._place)

    def _forget(self) -> None:
        self._buffer, self._place, self._size, self._marks = (), 0, 0, []

    def state(self) -> State:
        """Returns the position before the rows that were read ahead, and the number of them that are used."""
        if self._place == self._size:
            return {"at": super().state(), "used": 0}
        start, mark = self._marks[self._segment()]
        return {"at": mark, "used": self._place - start}

    def restore(self, state: State) -> None:
        """Moves to a position."""
        super().restore(state["at"])
        self._forget()
        left = state["used"]
        while left:
            found = self.read(left)
            left -= 0 if found is None else size_of(found)


class Ahead(BufferedRows):
    """Rows of any kind, read ahead in blocks invisibly.

    Args:
      rows: the rows that it reads.
      ahead: the number of rows to read at once.
      full: whether to read on until there are ``ahead`` rows.
    """

    def __init__(self, rows: Rows, ahead: int, *, full: bool) -> None:
        super().__init__(rows, ahead=ahead)
        self._full = full

    def read(self, count: int) -> Block | None:
        """Returns the next block."""
        return full_block(self.input, count) if self._full else self.input.block(count)

    def block(self, count: int) -> Block | None:
        """Returns the remaining rows that were read ahead; reads more if there are none."""
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
