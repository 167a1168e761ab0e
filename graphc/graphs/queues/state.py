"""The state of a queue: its rows, its waiters, and whether it is closed. It knows nothing about tensors."""

from __future__ import annotations

import random
import sys
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from itertools import count as counting
from typing import Any, Protocol

import numpy as np

from graphc.compiler.base import interruption, overseen
from graphc.compiler.base.errors import FailedPreconditionError
from graphc.graphs.queues.components import QueueSpec
from graphc.graphs.queues.rows import BARE, Columns, Entry, Part, Picks, Run, rows_in
from graphc.graphs.queues.shared import Fillers
from graphc.graphs.queues.wait_queue import Close, Lines, PendingDequeue, Put, Waiter
from graphc.graphs.refusals import user_error

# The rows of a queue, in the order in which it returns them: first-in, first-out, or random.

_BITS = 40
_BARE = (1 << _BITS) - 1


class FifoRows:
    """Rows in order. Runs stay whole until a part of them is taken; adjacent parts of a run are merged again."""

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
        for index, row in enumerate(picked):
            number, position = row >> _BITS, row & _BARE
            part = together.get(number)
            if part is None:
                part = together[number] = ([], [])
            part[0].append(BARE if position == _BARE else position)
            part[1].append(index)
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
            index = int(draw() * there)
            rows[index], rows[-1] = rows[-1], rows[index]
            picked.append(rows.pop())
        return picked


_ANY_NUMBER = 1 << 62


class RowBuffer(Protocol):
    """A container of a queue's rows, in its order."""

    @property
    def size(self) -> int:
        """The number of rows."""
        ...

    def put(self, entry: Entry) -> None:
        """Adds rows."""
        ...

    def take_row(self) -> Entry:
        """Takes one row; there must be one."""
        ...

    def take(self, count: int) -> list[Entry]:
        """Takes ``count`` rows; there must be that many."""
        ...

    def put_back(self, entries: list[Entry]) -> None:
        """Puts back rows that were taken."""
        ...

    def recount(self) -> None:
        """Counts the rows."""
        ...


def _rows(spec: QueueSpec) -> RowBuffer:
    return ShuffledRows(spec.seed) if spec.kind == "RandomShuffleQueue" else FifoRows()


class QueueState(Lines):
    """A queue that threads share, with TensorFlow's rules for waiting and closing.

    - Waiting enqueues are served in order of arrival, and so are dequeues.
    - An enqueue of many rows goes in as room appears. A dequeue of many rows takes them as they come.
    - A close waits for the enqueues before it, or cancels them. After it, enqueues fail, and so do dequeues for which
      too few elements remain; those take nothing.
    - A wait that ends by a deadline or a token takes nothing. Rows of an enqueue that are already in stay in.
    """

    def __init__(self, spec: QueueSpec, label: str, fillers: Fillers) -> None:
        super().__init__(2)
        self._putters, self._takers = self._lines
        self.spec = spec
        self.label = label
        self.rows = _rows(spec)
        self.closed = False
        self.capacity = spec.capacity if spec.capacity >= 0 else _ANY_NUMBER
        self.kept_back = spec.min_after_dequeue  # the number of elements that stay while it is open
        self.fillers = fillers

    def put_row(self, row: tuple[object, ...]) -> None:
        """Adds one element; waits for room."""
        with self._lock:
            if self._putters or self.closed or self.rows.size >= self.capacity:
                self._wait(Put(self, row), self._putters)
                return
            try:
                self.rows.put(row)
                self.fillers.is_fed = True
                if self._takers:
                    self._advance()
            except BaseException:  # Ctrl-C
                self.rows.recount()
                raise

    def put(self, entry: Entry) -> None:
        """Adds elements; waits until all of them are in. See :meth:`put_row`."""
        with self._lock:
            self.fillers.is_fed = True
            if self._putters or self.closed or self.rows.size + rows_in(entry) > self.capacity:
                self._wait(Put(self, entry), self._putters)
                return
            try:
                self.rows.put(entry)
                if self._takers:
                    self._advance()
            except BaseException:  # Ctrl-C
                self.rows.recount()
                raise

    def take_row(self) -> Entry:
        """Takes one element; waits until there is one."""
        with self._lock:
            if self._takers or self.rows.size <= (0 if self.closed else self.kept_back):
                take = PendingDequeue(self, 1)
                self._wait(take, self._takers)
                return take.got[0]
            try:
                entry = self.rows.take_row()
                if self._putters:
                    self._advance()
            except BaseException:  # Ctrl-C
                self.rows.recount()
                raise
            return entry

    def take(self, wanted: int, *, up_to: bool = False) -> list[Entry]:
        """Takes elements; waits until there are enough. See :meth:`take_row`.

        Args:
          up_to: whether fewer elements are enough once the queue is closed, but at least one.
        """
        if not wanted:
            return []
        with self._lock:
            if self._takers or self.rows.size - (0 if self.closed else self.kept_back) < wanted:
                take = PendingDequeue(self, wanted, up_to)
                self._wait(take, self._takers)
                return take.got
            try:
                entries = self.rows.take(wanted)
                if self._putters:
                    self._advance()
            except BaseException:  # Ctrl-C
                self.rows.recount()
                raise
            return entries

    def close(self, *, cancel_pending: bool = False) -> None:
        """Closes the queue, after the enqueues that wait for room.

        Args:
          cancel_pending: whether to cancel those instead; then a queue may be closed again.
        """
        with self._lock:
            if not cancel_pending:
                self._wait(Close(self), self._putters)
                return
            self.closed = True
            for waiter in self._putters:
                assert isinstance(waiter, Put | Close)
                waiter.cancel()
            self._putters.clear()
            self._advance()

    @property
    def size(self) -> int:
        """Returns the maximum number of elements that can be dequeued now."""
        return self.rows.size

    def difference(self, attrs: Mapping[str, Any]) -> str:
        """Describes the first difference from an op's attributes; empty if there is none."""
        return self.spec.difference(attrs)

    def _block(self, waiter: Waiter) -> None:
        condition = threading.Condition(self._lock)
        with overseen(waiter.what):  # the watchdog sees one wait, however often it wakes
            while not waiter.wait(condition, self.fillers.patience):
                self._check_alone(waiter)

    def _check_alone(self, waiter: Waiter) -> None:
        """Raises an error if nothing can end a wait."""
        if isinstance(waiter, PendingDequeue) and self.fillers.is_missing and not self._putters:
            raise self.fillers.complaint(self.label, waiter.what()).here()
        # If its producer dies, a consumer is alone; TensorFlow lets it wait forever.
        if interruption() is None and len(sys._current_frames()) == 1:  # pyright: ignore[reportPrivateUsage]
            problem = f"this is the only thread left, and it waits for {waiter.what()}"
            remedy = "close the queue when no more elements will come, and enqueue and dequeue in different threads"
            raise user_error(f"{problem}; {remedy}", FailedPreconditionError)

    def _repair(self) -> None:
        self.rows.recount()
