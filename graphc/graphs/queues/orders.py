"""The rows of a queue, in the order in which it returns them: first-in, first-out, or random."""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Sequence
from itertools import count as counting

import numpy as np

from graphc.graphs.queues.rows import BARE, Columns, Entry, Part, Picks, Run, rows_in

__all__ = ["FifoRows", "ShuffledRows"]

_BITS = 40
_BARE = (1 << _BITS) - 1


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
