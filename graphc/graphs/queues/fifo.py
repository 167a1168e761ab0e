"""The rows of a first-in, first-out queue."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence

from graphc.graphs.queues.rows import Entry, Run, rows_in

__all__ = ["FifoRows"]


class FifoRows:
    """Rows in order. Runs stay whole until a part of them is taken; adjacent parts of a run are merged again.

    Attributes:
      size: the number of rows.
    """

    __slots__ = ("_entries", "size")

    def __init__(self) -> None:
        self._entries: deque[Entry] = deque()
        self.size = 0

    def put(self, entry: Entry) -> None:
        """Adds rows at the end."""
        if type(entry) is Run:
            last = self._entries[-1] if self._entries else None
            self.size += entry.stop - entry.start
            if type(last) is Run and last.columns is entry.columns and last.stop == entry.start:
                last.stop = entry.stop
                return
        else:
            self.size += 1
        self._entries.append(entry)

    def take_row(self) -> Entry:
        """Takes the first row."""
        first = self._entries[0]
        self.size -= 1
        if type(first) is tuple:
            return self._entries.popleft()
        return self._split(first, 1)

    def take(self, count: int) -> list[Entry]:
        """Takes ``count`` rows; there must be that many."""
        taken, entries, left = list[Entry](), self._entries, count
        while left:
            first = entries[0]
            rows = 1 if type(first) is tuple else rows_in(first)
            if rows <= left:
                taken.append(entries.popleft())
                left -= rows
            else:
                taken.append(self._split(first, left))
                left = 0
        self.size -= count
        return taken

    def put_back(self, entries: Sequence[Entry]) -> None:
        """Puts taken rows back in their place."""
        self._entries.extendleft(reversed(entries))
        self.recount()

    def recount(self) -> None:
        """Recounts the rows, after Ctrl-C has interrupted a change of rows and count."""
        self.size = sum(map(rows_in, self._entries))

    def _split(self, first: Entry, count: int) -> Entry:
        assert isinstance(first, Run)
        part = Run(first.columns, first.start, first.start + count)
        first.start += count
        if first.start == first.stop:
            self._entries.popleft()
        return part
