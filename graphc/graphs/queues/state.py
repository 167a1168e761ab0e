"""The state of a queue: its rows, its waiters, and whether it is closed. It knows nothing about tensors."""

from __future__ import annotations

import sys
import threading
from collections.abc import Mapping
from typing import Any, Protocol

from graphc.compiler.base import at, interruption, overseen, user_location
from graphc.compiler.base.errors import FailedPreconditionError
from graphc.graphs.queues.fillers import Fillers
from graphc.graphs.queues.orders import FifoRows, ShuffledRows
from graphc.graphs.queues.pending_ops import Close, Put, Take
from graphc.graphs.queues.rows import Entry, rows_in
from graphc.graphs.queues.spec import QueueSpec
from graphc.graphs.queues.wait_queue import Lines, Waiter

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
    return ShuffledRows(spec.seed) if spec.kind == "RandomShuffleQueue" else FifoRows()


class QueueState(Lines):
    """A queue that threads share, with TensorFlow's rules for waiting and closing.

    - Waiting enqueues are served in order of arrival, and so are dequeues.
    - An enqueue of many rows goes in as room appears. A dequeue of many rows takes them as they come.
    - A close waits for the enqueues before it, or cancels them. After it, enqueues fail, and so do dequeues for which
      too
      few elements remain; those take nothing.
    - A wait that ends by a deadline or a token takes nothing. Rows of an enqueue that are already in stay in.

    Attributes:
      rows: the elements.
      closed: whether it is closed.
      capacity: the maximum number of elements.
      kept_back: the number of elements that stay while it is open.
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
        """Takes one element; waits until there is one.

        Raises:
          OutOfRangeError: the queue is closed and empty.
          CancelledError: a token was cancelled.
          DeadlineExceededError: the deadline in force has passed.
          FailedPreconditionError: nothing fills the queue: its runners were not started, or no thread is left.
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
        """Takes elements; waits until there are enough. See :meth:`take_row`.

        Args:
          wanted: the number of rows.
          up_to: whether fewer elements are enough once the queue is closed, but at least one.
        """
        if not wanted:
            return []
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
          cancel_pending: whether to cancel those instead; then a queue may be closed again.

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
        if isinstance(waiter, Take) and self.fillers.is_missing and not self._putters:
            raise at(self.fillers.complaint(self.label, waiter.what()), user_location())
        # If its producer dies, a consumer is alone; TensorFlow lets it wait forever.
        if interruption() is None and len(sys._current_frames()) == 1:  # pyright: ignore[reportPrivateUsage]
            problem = f"this is the only thread left, and it waits for {waiter.what()}"
            remedy = "close the queue when no more elements will come, and enqueue and dequeue in different threads"
            raise at(FailedPreconditionError(f"{problem}; {remedy}"), user_location())

    def _repair(self) -> None:
        self.rows.recount()
