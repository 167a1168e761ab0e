"""The rows of a queue that returns them in random order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import count as counting

import numpy as np

from graphc.graphs.queues.rows import BARE, Columns, Entry, Part, Picks, Run, rows_in

__all__ = ["ShuffledRows"]

_BITS = 40
_BARE = (1 << _BITS) - 1


class ShuffledRows:
    """Rows in random order: each is equally likely to be taken next.

    A row is stored as an int: the number of its columns, and its position in them. Python's garbage collector does not
    visit ints, of which a large queue has many.

    Args:
      seed: the seed: the same seed takes the same rows in the same order; None for a random order.
    """

    __slots__ = ("_columns", "_left", "_numbers", "_random", "_rows")

    def __init__(self, seed: int | None) -> None:
        self._rows: list[int] = []
        self._columns: dict[int, Columns] = {}
        self._left: dict[int, int] = {}
        self._numbers = counting()
        self._random = random.Random(seed)

    @property
    def size(self) -> int:
        """Returns the number of rows."""
        return len(self._rows)

    def put(self, entry: Entry) -> None:
        """Adds rows."""
        if isinstance(entry, Picks):
            for columns, positions, _ in entry.parts:
                first = self._number(columns, len(positions))
                self._rows += [first | (_BARE if position == BARE else int(position)) for position in positions]
        elif isinstance(entry, Run):
            first = self._number(entry.columns, rows_in(entry))
            self._rows.extend(range(first + entry.start, first + entry.stop))
        else:
            self._rows.append(self._number(entry, 1) | _BARE)

    def take_row(self) -> Entry:
        """Takes one row."""
        row = self._picked(1)[0]
        columns, position = self._columns[row >> _BITS], row & _BARE
        self._took(row >> _BITS, 1)
        return columns if position == _BARE else Run(columns, position, position + 1)

    def take(self, count: int) -> list[Entry]:
        """Takes ``count`` rows, of at least as many: the same rows as ``count`` calls of :meth:`take_row`."""
        picked = self._picked(count)
        codes = np.array(picked, np.int64)
        numbers = codes >> _BITS
        number = int(numbers[0])
        if count > 1 and (numbers == number).all():  # all rows come from one enqueue_many
            columns = self._columns[number]
            self._took(number, count)
            return [Picks([(columns, codes & _BARE, range(count))], count)]
        together: dict[int, tuple[list[int], list[int]]] = {}
        for place, row in enumerate(picked):
            number, position = row >> _BITS, row & _BARE
            part = together.get(number)
            if part is None:
                part = together[number] = ([], [])
            part[0].append(BARE if position == _BARE else position)
            part[1].append(place)
        parts: list[Part] = [(self._columns[number], *part) for number, part in together.items()]
        for number, part in together.items():
            self._took(number, len(part[0]))
        return [Picks(parts, count)]

    def put_back(self, entries: Sequence[Entry]) -> None:
        """Puts back rows that were taken."""
        for entry in entries:
            self.put(entry)

    def recount(self) -> None:
        """Does nothing: the number of rows is not stored separately."""

    def _number(self, columns: Columns, rows: int) -> int:
        number = next(self._numbers)
        self._columns[number], self._left[number] = columns, rows
        return number << _BITS

    def _took(self, number: int, rows: int) -> None:
        self._left[number] -= rows
        if not self._left[number]:
            del self._columns[number], self._left[number]

    def _picked(self, count: int) -> list[int]:
        rows, draw, picked = self._rows, self._random.random, list[int]()
        for there in range(len(rows), len(rows) - count, -1):
            place = int(draw() * there)
            rows[place], rows[-1] = rows[-1], rows[place]
            picked.append(rows.pop())
        return picked
