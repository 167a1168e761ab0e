"""The state of a queue: rows, who waits for them, and whether it is closed. It knows nothing of tensors."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from typing import Any, Protocol

from graphc.base import at, interruption, overseen, user_location
from graphc.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.queues.fifo import FifoRows
from graphc.queues.fillers import Fillers
from graphc.queues.pending_ops import Close, Put, Take
from graphc.queues.priority import PriorityRows
from graphc.queues.rows import Entry, rows_in
from graphc.queues.shuffle import ShuffledRows
from graphc.queues.spec import QueueSpec
from graphc.queues.wait_queue import Lines, Waiter

__all__ = ["QueueState", "Rows"]

_ANY_NUMBER = 1 << 62


class Rows(Protocol):
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


def _rows(spec: QueueSpec) -> Rows:
    if spec.kind == "RandomShuffleQueue":
        return ShuffledRows(spec.seed)
    return PriorityRows() if spec.kind == "PriorityQueue" else FifoRows()


class QueueState(Lines):
    """A queue that threads share, with TensorFlow's rules for who waits and what a close does.

    - Those who wait are served in the order in which they came, enqueues and dequeues each.
    - An enqueue of many rows goes in as room appears. A dequeue of many takes rows as they come.
    - A close comes after the enqueues that wait, which complete, or it cancels them. After it enqueues fail, and
      dequeues too once there are too few elements for them; those get nothing.
    - A wait that ends by a deadline or a token takes nothing. Rows of an enqueue that are in stay in.

    Args:
      spec: the queue's spec.
      label: kind and name, for messages.
      fillers: the known producers.

    Attributes:
      rows: the elements.
      closed: whether it is closed.
      capacity: the maximum number of elements.
      kept_back: the number of elements that stay while it is open.
      is_ordered: whether rows are given by their priority.
      fillers: the same.
    """

    def __init__(self, spec: QueueSpec, label: str, fillers: Fillers) -> None:
        super().__init__(2)
        self._putters, self._takers = self._lines
        self.spec = spec
        self.label = label
        self.rows = _rows(spec)
        self.closed = False
        self.capacity = spec.capacity if spec.capacity >= 0 else _ANY_NUMBER
        self.kept_back = spec.min_after_dequeue
        self.is_ordered = spec.kind == "PriorityQueue"
        self.fillers = fillers

    def put_row(self, row: tuple[object, ...]) -> None:
        """Adds one element; waits for room.

        Raises:
          CancelledError: the queue is closed, or closed while this waits, or a token was cancelled.
          DeadlineExceededError: the deadline in force has passed.
        """
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
        """Adds elements; waits until all of them are in. As :meth:`put_row`."""
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
        """Takes one element; waits until there is one.

        Raises:
          OutOfRangeError: the queue is closed and empty.
          CancelledError: a token was cancelled.
          DeadlineExceededError: the deadline in force has passed.
          FailedPreconditionError: nothing fills the queue, since its runners were not started, or no thread is left.
        """
        with self._lock:
            if self._takers or self.rows.size <= (0 if self.closed else self.kept_back):
                take = Take(self, 1)
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
        """Takes elements; waits until there are as many. As :meth:`take_row`.

        Args:
          wanted: the number of rows.
          up_to: whether fewer will do, but at least one, once the queue is closed.

        Raises:
          InvalidArgumentError: the queue gives rows by priority, and has never room for as many.
        """
        if not wanted:
            return []
        if self.is_ordered and wanted > self.capacity and up_to:
            wanted = self.capacity  # more are never there at once
        elif self.is_ordered and wanted > self.capacity:
            problem = f"has room for {self.capacity} elements, so that {wanted} in order are never there"
            remedy = "dequeue fewer at a time, or give it a larger capacity"
            raise at(InvalidArgumentError(f"{self.label} {problem}; {remedy}"), user_location())
        with self._lock:
            if self._takers or self.rows.size - (0 if self.closed else self.kept_back) < wanted:
                take = Take(self, wanted, up_to)
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
          cancel_pending: whether those are cancelled instead; then a queue may be closed again.

        Raises:
          CancelledError: the queue is closed already.
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
        """Returns how many elements may be dequeued at most."""
        return self.rows.size

    def difference(self, attrs: Mapping[str, Any]) -> str:
        """Says what the queue is other than attributes of an op want; empty if it is what they want."""
        return self.spec.difference(attrs)

    def _block(self, waiter: Waiter) -> None:
        condition = threading.Condition(self._lock)
        with overseen(waiter.what):  # one wait to the watchdog, however often it looks around
            while not waiter.wait(condition, self.fillers.patience):
                self._check_alone(waiter)

    def _check_alone(self, waiter: Waiter) -> None:
        """Raises if nothing can end a wait."""
        if isinstance(waiter, Take) and self.fillers.is_missing and not self._putters:
            raise at(self.fillers.complaint(self.label, waiter.what()), user_location())
        # A producer that has died leaves its consumer alone, which TensorFlow lets wait for ever.
        if interruption() is None and len(sys._current_frames()) == 1:  # pyright: ignore[reportPrivateUsage]
            problem = f"no thread is left but this one, which waits for {waiter.what()}"
            remedy = "close the queue where nothing more comes, and enqueue and dequeue in different threads"
            raise at(FailedPreconditionError(f"{problem}; {remedy}"), user_location())

    def _repair(self) -> None:
        self.rows.recount()
