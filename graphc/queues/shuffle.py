"""The rows of a queue that gives them in random order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import repeat

from graphc.queues.rows import BARE, Columns, Entry, Picks, Run

__all__ = ["ShuffledRows", "located"]


def located(entries: Sequence[Entry]) -> list[tuple[Columns, int]]:
    """Returns each row of entries as the columns that it is in, and its position there."""
    rows: list[tuple[Columns, int]] = []
    for entry in entries:
        if isinstance(entry, Run):
            rows.extend(zip(repeat(entry.columns), range(entry.start, entry.stop), strict=False))
        elif isinstance(entry, Picks):
            rows.extend(entry.rows)
        else:
            rows.append((entry, BARE))
    return rows


class ShuffledRows:
    """Rows of which each is as likely to be taken next as any other.

    Args:
      seed: with the same seed, the same rows in the same order are taken in the same order; None for any order.
    """

    __slots__ = ("_random", "_rows")

    def __init__(self, seed: int | None) -> None:
        self._rows: list[tuple[Columns, int]] = []
        self._random = random.Random(seed)

    @property
    def size(self) -> int:
        """How many rows there are."""
        return len(self._rows)

    def put(self, entry: Entry) -> None:
        """Adds rows."""
        self._rows += located([entry])

    def take_row(self) -> Entry:
        """Takes one row."""
        return Picks(self._picked(1))

    def take(self, count: int) -> list[Entry]:
        """Takes so many rows, of at least as many: the same that as many calls of :meth:`take_row` would."""
        return [Picks(self._picked(count))]

    def put_back(self, entries: Sequence[Entry]) -> None:
        """Puts rows that were taken back."""
        self._rows += located(entries)

    def recount(self) -> None:
        """Counts nothing: there is no count beside the rows."""

    def _picked(self, count: int) -> list[tuple[Columns, int]]:
        rows, draw, picked = self._rows, self._random.random, list[tuple[Columns, int]]()
        for there in range(len(rows), len(rows) - count, -1):
            place = int(draw() * there)
            rows[place], rows[-1] = rows[-1], rows[place]
            picked.append(rows.pop())
        return picked
