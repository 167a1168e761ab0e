"""Who waits at a queue: each waiter is a step that whoever changes the queue takes for it, in the order of arrival.

So nobody is woken who cannot go on, and nobody overtakes: the thread that makes room puts the rows of the first waiter
itself, and wakes it when all of them are in.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import TYPE_CHECKING, Any

from graphc.base import Interruption, interruption
from graphc.base.errors import CancelledError, GraphcError, OutOfRangeError
from graphc.queues.rows import Entry, Run, rows_in

if TYPE_CHECKING:
    from graphc.queues.state import QueueState

__all__ = ["Close", "Put", "Take", "Waiter", "serve"]


class Waiter:
    """One call that waits, or may have to.

    Attributes:
      done: whether it need not wait any more: it is served, or has failed.
      error: why it has failed.
    """

    __slots__ = ("_condition", "_interruption", "done", "error")

    def __init__(self) -> None:
        self.done = False
        self.error: GraphcError | None = None
        self._condition: threading.Condition | None = None
        self._interruption: Interruption | None = None

    def condition(self, lock: Any) -> threading.Condition:
        """Begins to wait; returns what it waits on, which is its own, of the lock of the queue."""
        self._interruption = interruption()
        self._condition = threading.Condition(lock)
        return self._condition

    @property
    def is_given_up(self) -> bool:
        """Returns True if its deadline has passed, or its token is cancelled, though its thread has not seen that yet.

        Whoever waits for that thread may have: a compiled call that is given up leaves it behind.
        """
        return self._interruption is not None and self._interruption.is_due

    def step(self, queue: QueueState) -> bool:
        """Goes on as far as it can; returns True if it got anywhere. The queue is locked."""
        raise NotImplementedError

    def withdraw(self, queue: QueueState) -> None:
        """Leaves the queue as if this call had not been, as far as that can be. The queue is locked."""

    def what(self, queue: QueueState) -> str:
        """Says what it waits for, as a noun."""
        raise NotImplementedError

    def finish(self, error: GraphcError | None = None) -> bool:
        """Ends the wait; returns True."""
        self.error, self.done = error, True
        if self._condition is not None:
            self._condition.notify()
        return True


class Put(Waiter):
    """An enqueue that waits for room. Many rows go in as room appears; nobody else's come between them.

    Args:
      entry: the rows.
    """

    __slots__ = ("_entry", "_rows")

    def __init__(self, entry: Entry) -> None:
        super().__init__()
        self._entry = entry
        self._rows = rows_in(entry)

    def step(self, queue: QueueState) -> bool:
        """Puts as many rows as there is room for."""
        if queue.closed:
            return self.finish(CancelledError(f"{queue.label} is closed, so it takes no more elements"))
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

    def cancel(self, queue: QueueState) -> None:
        """Fails, since the queue is closed and does not wait for pending enqueues."""
        self.finish(
            CancelledError(
                f"the enqueue was cancelled: {queue.label} was closed with cancel_pending_enqueues while it waited "
                f"for room{self._progress()}"
            )
        )

    def what(self, queue: QueueState) -> str:
        """Says what it waits for."""
        return f"room in {queue.label}, which is full (capacity {queue.capacity}){self._progress()}"

    def _progress(self) -> str:
        left = rows_in(self._entry)
        return f"; {self._rows - left} of its {self._rows} rows are in" if self._rows > 1 else ""


class Close(Waiter):
    """A close that waits for the enqueues before it."""

    __slots__ = ()

    def step(self, queue: QueueState) -> bool:
        """Closes the queue: all enqueues before it are done."""
        if queue.closed:
            return self.finish(CancelledError(f"{queue.label} is already closed"))
        queue.closed = True
        return self.finish()

    def cancel(self, queue: QueueState) -> None:
        """Fails, since another close does not wait."""
        self.finish(
            CancelledError(f"{queue.label} was closed with cancel_pending_enqueues while this close waited for them")
        )

    def what(self, queue: QueueState) -> str:
        """Says what it waits for."""
        return f"the enqueues to {queue.label} before its close; close(cancel_pending_enqueues=True) cancels them"


class Take(Waiter):
    """A dequeue.

    It takes rows as they come, so that it can have more of them than the queue has room for, and gives them back if it
    cannot have all.

    Args:
      wanted: how many rows.
      up_to: whether fewer will do once the queue is closed.

    Attributes:
      got: the rows so far.
    """

    __slots__ = ("_left", "_up_to", "_wanted", "got")

    def __init__(self, wanted: int, up_to: bool = False) -> None:
        super().__init__()
        self._wanted = self._left = wanted
        self._up_to = up_to
        self.got: list[Entry] = []

    def step(self, queue: QueueState) -> bool:
        """Takes as many rows as may be taken."""
        rows = queue.rows
        if queue.closed and rows.size < self._left:
            self.withdraw(queue)
            if not (self._up_to and rows.size):
                return self.finish(_too_few(queue, self._wanted))
            self._left = rows.size
        ready = min(rows.size if queue.closed else rows.size - queue.kept_back, self._left)
        if ready <= 0:
            return False
        self.got += rows.take(ready)
        self._left -= ready
        return self.finish() if not self._left else True

    def withdraw(self, queue: QueueState) -> None:
        """Puts back what it got."""
        if self.got:
            queue.rows.put_back(self.got)
            self.got = []
            self._left = self._wanted

    def what(self, queue: QueueState) -> str:
        """Says what it waits for."""
        elements = "an element" if self._wanted == 1 else f"{self._wanted} elements"
        got = sum(map(rows_in, self.got))
        there = f"of which {got + queue.rows.size} are there" if got else f"which has {queue.rows.size}"
        kept = f" and keeps {queue.kept_back} while it is open" if queue.kept_back else ""
        return f"{elements} of {queue.label}, {there}{kept}"


def _too_few(queue: QueueState, wanted: int) -> OutOfRangeError:
    there = queue.rows.size
    remedy = "; dequeue_up_to gives those that are left" if there else ""
    error = OutOfRangeError(
        f"{queue.label} is closed and has insufficient elements (requested {wanted}, current size {there}){remedy}"
    )
    error.__cause__ = queue.fillers.failure
    return error


def serve(line: deque[Waiter], queue: QueueState) -> bool:
    """Lets the first ones of a line go on; returns True if one got anywhere."""
    moved = False
    while line:
        first = line[0]
        if first.is_given_up:
            first.withdraw(queue)
        elif not first.step(queue):
            break
        elif not first.done:
            return True
        line.popleft()
        moved = True
    return moved
