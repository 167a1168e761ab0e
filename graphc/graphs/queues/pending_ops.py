"""The operations that wait at a queue: enqueues, dequeues and closes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from graphc.compiler.base.errors import CancelledError, OutOfRangeError
from graphc.graphs.queues.rows import Entry, Run, rows_in
from graphc.graphs.queues.wait_queue import Waiter

if TYPE_CHECKING:
    from graphc.graphs.queues.state import QueueState

__all__ = ["Close", "Put", "Take"]


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


class Take(Waiter):
    """A dequeue.

    It takes rows as they come, so that it can take more rows than the queue has room for, and returns them if it cannot
    get all.

    Args:
      queue: the queue to take from.
      wanted: the number of rows.
      up_to: whether fewer rows are enough once the queue is closed.

    Attributes:
      got: the rows so far.
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
        kept = f" and keeps {queue.kept_back} while it is open" if queue.kept_back else ""
        return f"{elements} of {queue.label}, {there}{kept}"


def _too_few(queue: QueueState, wanted: int) -> OutOfRangeError:
    there = queue.rows.size
    remedy = "; dequeue_up_to returns the remaining ones" if there else ""
    error = OutOfRangeError(
        f"{queue.label} is closed and has insufficient elements (requested {wanted}, current size {there}){remedy}"
    )
    error.__cause__ = queue.fillers.failure
    return error
