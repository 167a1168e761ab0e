"""The rows of a priority queue."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from itertools import count

import numpy as np

from graphc.graphs.queues.rows import BARE, Columns, Entry, located, picked

__all__ = ["PriorityRows"]


class PriorityRows:
    """Rows ordered by the number in their first component, lowest first; the oldest first among equal ones."""

    __slots__ = ("_heap", "_numbers")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Columns, int]] = []
        self._numbers = count()

    @property
    def size(self) -> int:
        """Returns the number of rows."""
        return len(self._heap)

    def put(self, entry: Entry) -> None:
        """Adds rows."""
        for columns, position in located(entry):
            heapq.heappush(self._heap, (_priority(columns, position), next(self._numbers), columns, position))

    def take_row(self) -> Entry:
        """Takes the row with the lowest priority."""
        return picked([self._pop()])

    def take(self, count: int) -> list[Entry]:
        """Takes ``count`` rows; there must be that many."""
        return [picked([self._pop() for _ in range(count)])]

    def put_back(self, entries: Sequence[Entry]) -> None:
        """Puts back taken rows, before others of the same priority."""
        first = min((number for _, number, _, _ in self._heap), default=0)
        for back, (columns, position) in enumerate(reversed([row for entry in entries for row in located(entry)]), 1):
            heapq.heappush(self._heap, (_priority(columns, position), first - back, columns, position))

    def recount(self) -> None:
        """Does nothing: the number of rows is not stored separately."""

    def _pop(self) -> tuple[Columns, int]:
        _, _, columns, position = heapq.heappop(self._heap)
        return columns, position


def _priority(columns: Columns, position: int) -> int:
    first = np.asarray(columns[0])
    return int(first if position == BARE else first[position])
