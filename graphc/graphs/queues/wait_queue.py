"""Lines of waiters at an object that threads share.

Each waiter is a step that any thread that changes the object takes for it, in order of arrival. So no thread wakes up
in vain, and none overtakes another: the thread that makes room in a queue puts in the first waiter's rows itself, and
wakes it when all of them are in.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque
from typing import TYPE_CHECKING

from graphc.compiler.base import Interruption, interruption, wait_until
from graphc.compiler.base.errors import AbortedError, CancelledError, GraphcError, OutOfRangeError
from graphc.graphs.queues.rows import Entry, Run, rows_in

if TYPE_CHECKING:
    from graphc.graphs.queues.state import QueueState


class Waiter(ABC):
    """A call that waits, or may have to."""

    __slots__ = ("_condition", "_interruption", "done", "error")

    def __init__(self) -> None:
        self.done = False
        self.error: GraphcError | None = None
        self._condition: threading.Condition | None = None
        self._interruption: Interruption | None = None

    @abstractmethod
    def step(self) -> bool:
        """Proceeds as far as it can; returns True if it made progress. Called with the lock held."""

    @abstractmethod
    def what(self) -> str:
        """Describes what it waits for, as a noun."""

    def withdraw(self) -> None:  # noqa: B027  most leave nothing behind
        """Undoes its effects as far as possible. Called with the lock held."""

    def finish(self, error: GraphcError | None = None) -> bool:
        """Ends the wait; returns True."""
        self.error, self.done = error, True
        if self._condition is not None:
            self._condition.notify()
        return True

    @property
    def is_given_up(self) -> bool:
        """True if its deadline has passed, or its token is cancelled, even if its thread has not noticed yet.

        Another thread may have noticed: an abandoned compiled call leaves its thread behind.
        """
        return self._interruption is not None and self._interruption.is_due

    def wait(self, condition: threading.Condition, timeout: float | None = None) -> bool:
        """Waits until it is done; see :func:`graphc.compiler.base.wait_until`."""
        self._condition, self._interruption = condition, interruption()
        return wait_until(condition, lambda: self.done, self.what, timeout)


class Lines:
    """An object that threads share, with the lines of its waiters."""

    def __init__(self, count: int) -> None:
        # If a signal handler cancels a token while this thread is in here, the waiters wake up.
        self._lock = threading.RLock()
        self._lines: tuple[deque[Waiter], ...] = tuple([deque[Waiter]() for _ in range(count)])
        self._end_reason = ""

    def give_up(self, reason: str) -> None:
        """Ends all waits with AbortedError, now and later, because the object can no longer be found."""
        with self._lock:
            self._end_reason = reason
            for line in self._lines:
                for waiter in [*line]:
                    if not waiter.is_given_up:
                        waiter.withdraw()
                        waiter.finish(self._aborted(waiter))
                        line.remove(waiter)

    def _aborted(self, waiter: Waiter) -> AbortedError:
        return AbortedError(f"{self._end_reason} while this waited for {waiter.what()}")

    def _advance(self) -> None:
        """Serves waiters as long as one makes progress."""
        moved = True
        while moved:
            moved = False
            for line in self._lines:
                moved = _serve(line) or moved

    def _wait(self, waiter: Waiter, line: deque[Waiter]) -> None:
        """Joins the line and waits until served; called with the lock held."""
        if self._end_reason:
            raise self._aborted(waiter).here()
        try:
            line.append(waiter)
            if line[0] is waiter:
                self._advance()
            if not waiter.done:
                self._block(waiter)
        except BaseException:  # a deadline, a token or Ctrl-C
            self._repair()
            if waiter in line:
                line.remove(waiter)
            waiter.withdraw()
            self._advance()
            raise
        if waiter.error is not None:
            raise waiter.error.here()

    def _block(self, waiter: Waiter) -> None:
        """Waits until a waiter is served; called with the lock held."""
        waiter.wait(threading.Condition(self._lock))

    def _repair(self) -> None:
        """Repairs a state that Ctrl-C may have left half done; called with the lock held."""


def _serve(line: deque[Waiter]) -> bool:
    """Lets the first waiters of a line proceed; returns True if one made progress."""
    moved = False
    while line:
        first = line[0]
        if first.is_given_up:
            first.withdraw()
        elif not first.step():
            break
        elif not first.done:
            return True
        line.popleft()
        moved = True
    return moved


# The operations that wait at a queue: enqueues, dequeues and closes.


class Put(Waiter):
    """An enqueue that waits for room. Its rows go in as room appears, without rows of other enqueues in between."""

    __slots__ = ("_entry", "_queue", "_rows")

    def __init__(self, queue: QueueState, entry: Entry) -> None:
        super().__init__()
        self._queue = queue
        self._entry = entry
        self._rows = rows_in(entry)

    def step(self) -> bool:
        """Puts in as many rows as there is room for."""
        queue = self._queue
        if queue.closed:
            return self.finish(CancelledError(f"{queue.label} is closed and accepts no more elements"))
        room = queue.capacity - queue.rows.size
        if room <= 0:
            return False
        entry = self._entry
        if isinstance(entry, Run) and entry.stop - entry.start > room:
            queue.rows.put(Run(entry.columns, entry.start, entry.start + room))
            entry.start += room
            return True
        queue.rows.put(entry)
        return self.finish()

    def cancel(self) -> None:
        """Fails the enqueue, because the queue is closed without waiting for pending enqueues."""
        closed = f"{self._queue.label} was closed with cancel_pending_enqueues while it waited for room"
        self.finish(CancelledError(f"the enqueue was cancelled: {closed}{self._progress()}"))

    def what(self) -> str:
        """Describes what it waits for."""
        return f"room in {self._queue.label}, which is full (capacity {self._queue.capacity}){self._progress()}"

    def _progress(self) -> str:
        left = rows_in(self._entry)
        return f"; {self._rows - left} of its {self._rows} rows are in" if self._rows > 1 else ""


class Close(Waiter):
    """A close that waits for the enqueues before it."""

    __slots__ = ("_queue",)

    def __init__(self, queue: QueueState) -> None:
        super().__init__()
        self._queue = queue

    def step(self) -> bool:
        """Closes the queue once all enqueues before it are done."""
        queue = self._queue
        if queue.closed:
            return self.finish(CancelledError(f"{queue.label} is already closed"))
        queue.closed = True
        return self.finish()

    def cancel(self) -> None:
        """Fails the close, because another close does not wait."""
        self.finish(
            CancelledError(
                f"{self._queue.label} was closed with cancel_pending_enqueues while this close waited for them"
            )
        )

    def what(self) -> str:
        """Describes what it waits for."""
        return f"the enqueues to {self._queue.label} before its close; close(cancel_pending_enqueues=True) cancels them"


class PendingDequeue(Waiter):
    """A dequeue.

    It takes rows as they come, so that it can take more rows than the queue has room for, and returns them if it cannot
    get all.
    """

    __slots__ = ("_left", "_queue", "_up_to", "_wanted", "got")

    def __init__(self, queue: QueueState, wanted: int, up_to: bool = False) -> None:
        super().__init__()
        self._queue = queue
        self._wanted = self._left = wanted
        self._up_to = up_to
        self.got: list[Entry] = []

    def step(self) -> bool:
        """Takes as many rows as it may."""
        queue = self._queue
        rows = queue.rows
        if queue.closed and rows.size < self._left:
            self.withdraw()
            if not (self._up_to and rows.size):
                return self.finish(_too_few(queue, self._wanted))
            self._left = rows.size
        ready = min(rows.size if queue.closed else rows.size - queue.kept_back, self._left)
        if ready <= 0:
            return False
        self.got += rows.take(ready)
        self._left -= ready
        return self.finish() if not self._left else True

    def withdraw(self) -> None:
        """Puts back the rows that it took."""
        if self.got:
            self._queue.rows.put_back(self.got)
            self.got = []
            self._left = self._wanted

    def what(self) -> str:
        """Describes what it waits for."""
        queue = self._queue
        elements = "an element" if self._wanted == 1 else f"{self._wanted} elements"
        got = sum(map(rows_in, self.got))
        there = f"of which {got + queue.rows.size} are there" if got else f"which has {queue.rows.size}"
        reserve = f" and keeps {queue.kept_back} while it is open" if queue.kept_back else ""
        return f"{elements} of {queue.label}, {there}{reserve}"


def _too_few(queue: QueueState, wanted: int) -> OutOfRangeError:
    there = queue.rows.size
    remedy = "; dequeue_up_to returns the remaining ones" if there else ""
    error = OutOfRangeError(
        f"{queue.label} is closed and has insufficient elements (requested {wanted}, current size {there}){remedy}"
    )
    error.__cause__ = queue.fillers.failure
    return error
