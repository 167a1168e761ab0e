"""A pool of threads for work of different priorities.

Its threads are daemons and end when there is nothing to do. Work runs in a copy of the context in which it was given,
so the deadline and tokens that are in force there hold for it, too.
"""

from __future__ import annotations

import atexit
import contextvars
import heapq
import itertools
import os
import threading
import time
from collections.abc import Callable
from contextvars import ContextVar

from graphc.base.waiting import wait_until

__all__ = ["Pool", "Work"]

_IDLE_SECONDS = 2.0
_MOST_QUEUED = 10_000
# XLA's code cannot be left: a thread that comes back from it while Python shuts down aborts the process (before Python
# 3.14). So the end of a program gives what still runs time to end, and not for ever, since it may be stuck.
_GRACE_SECONDS = 5.0

_working_for: ContextVar[tuple[Pool, ...]] = ContextVar("graphc.pool", default=())
"""The pools whose work runs here: on one of their threads, or on one that a thread of theirs waits for."""


class Work:
    """A piece of work that was given to a pool.

    Attributes:
      name: for messages.
    """

    __slots__ = ("_context", "_pool", "_run", "_taken", "name", "order")

    def __init__(
        self, pool: Pool, run: Callable[[], None], name: str, order: tuple[float, int], context: contextvars.Context
    ) -> None:
        self.name = name
        self._pool = pool
        self.order = order
        self._run: Callable[[], None] | None = run
        self._context: contextvars.Context | None = context
        self._taken = threading.Lock()

    def __lt__(self, other: Work) -> bool:
        return self.order < other.order

    def take(self) -> bool:
        """Claims it, so that nobody else runs it; whether it was still there to be claimed."""
        return self._taken.acquire(blocking=False)

    def cancel(self) -> bool:
        """Takes it back; whether that was in time, before it began."""
        if not self.take():
            return False
        self._run = self._context = None
        return True

    def run(self) -> None:
        """Runs it; only for who has taken it."""
        run, context = self._run, self._context
        self._run = self._context = None  # what it refers to is not kept longer than it is needed
        assert run is not None
        assert context is not None
        context.run(self._run_here, run)

    def _run_here(self, run: Callable[[], None]) -> None:
        _working_for.set((*_working_for.get(), self._pool))
        run()


class Pool:
    """Runs pieces of work on a bounded number of threads, those of the highest priority first.

    Args:
      name: of its threads.
      limit: gives the number of threads that may work at once; asked each time.
      idle_seconds: how long a thread waits for work before it ends.
      most_queued: how much work may be queued; who gives more waits until there is room. Threads of the pool never wait
        for that.
    """

    def __init__(
        self,
        name: str,
        limit: Callable[[], int],
        *,
        idle_seconds: float = _IDLE_SECONDS,
        most_queued: int = _MOST_QUEUED,
    ) -> None:
        self.name = name
        self._limit = limit
        self._idle_seconds = idle_seconds
        self._most_queued = most_queued
        self._numbers = itertools.count()
        self._closed = False
        self.start_anew()

    def start_anew(self) -> None:
        """Has no threads and no work; for a forked process, in which there are neither."""
        self._condition = threading.Condition()  # what a thread of the pool waits on
        self._room = threading.Condition()
        self._queue: list[Work] = []
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._at_work: set[threading.Thread] = set()

    def give(self, run: Callable[[], None], *, priority: float = 0, name: str = "work", inherits: bool = True) -> Work:
        """Queues a piece of work.

        Args:
          run: what to do; it must not raise.
          priority: the higher, the earlier; equal ones in the order in which they are given.
          name: for messages.
          inherits: whether what is in force here, and other context variables, go with the work.

        Raises:
          DeadlineExceededError: the queue stayed full until the deadline in force.
          CancelledError: a token in force was cancelled while the queue was full.
        """
        if len(self._queue) >= self._most_queued and not self.is_mine():
            self._wait_for_room(name)
        context = contextvars.copy_context() if inherits else contextvars.Context()
        work = Work(self, run, name, (-priority, next(self._numbers)), context)
        with self._condition:
            heapq.heappush(self._queue, work)
            if self._idle:
                self._condition.notify()
            # One that is idle may be on its way to work that was given before.
            if len(self._queue) > self._idle and len(self._threads) < self._limit():
                self._start()
        return work

    def is_mine(self) -> bool:
        """Returns True if this is a thread of the pool, or one that acts for such a thread, which waits for it."""
        return self in _working_for.get()

    @property
    def is_busy(self) -> bool:
        """True if some of the work that is queued waits until other work is done."""
        with self._condition:
            # Threads above a limit that was lowered end when they have done their work.
            return len(self._queue) > min(len(self._threads), self._limit()) - len(self._at_work)

    @property
    def num_queued(self) -> int:
        """Returns how many pieces of work wait for a thread, those included that were cancelled a moment ago."""
        return len(self._queue)

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        """The threads that there are now."""
        with self._condition:
            return tuple(self._threads)

    def _wait_for_room(self, name: str) -> None:
        with self._room:
            wait_until(
                self._room,
                lambda: len(self._queue) < self._most_queued,
                lambda: f"room in the queue of {self.name}, where {len(self._queue)} wait, for {name}",
            )

    def _start(self) -> None:
        number = next(index for index in itertools.count() if f"{self.name}-{index}" not in self._names())
        # A plain context: what is in force here must not outlive its scope in a thread that does other work.
        thread = threading.Thread(target=self._work, name=f"{self.name}-{number}", daemon=True)
        _close_at_exit(self)
        thread.start()
        self._threads.add(thread)  # it takes no work before this one lets go of the condition

    def close(self, seconds: float) -> bool:
        """Drops what is queued, and waits so many seconds for what runs; whether all threads have ended."""
        end = time.monotonic() + seconds
        with self._condition:
            self._closed = True
            self._queue.clear()
            self._condition.notify_all()
        for thread in self.threads:
            thread.join(max(0.0, end - time.monotonic()))
        return not self.threads

    def _names(self) -> set[str]:
        return {thread.name for thread in self._threads}

    def _work(self) -> None:
        try:
            while (work := self._next()) is not None:
                if work.take():
                    work.run()
                del work
        finally:
            with self._condition:
                self._at_work.discard(threading.current_thread())
                self._threads.discard(threading.current_thread())

    def _is_too_many(self) -> bool:
        return len(self._threads) > self._limit()

    def _wait_for_work(self) -> bool:
        self._idle += 1
        try:
            self._condition.wait_for(lambda: self._queue or self._closed, self._idle_seconds)
            return bool(self._queue)
        finally:
            self._idle -= 1

    def _next(self) -> Work | None:
        """Gives the next piece of work; None, and the thread is no more of the pool, after nothing came for a while."""
        with self._condition:
            self._at_work.discard(threading.current_thread())
            # Also one that was idle when the limit was lowered ends.
            if self._is_too_many() or not (self._queue or self._wait_for_work()) or self._is_too_many():
                # Here, since after this nobody may count on the thread.
                self._threads.discard(threading.current_thread())
                self._condition.notify()  # what is queued is for another one then
                return None
            work = heapq.heappop(self._queue)
            self._at_work.add(threading.current_thread())
        with self._room:
            self._room.notify_all()
        return work


_pools: set[Pool] = set()


def _close_at_exit(pool: Pool) -> None:
    """To be called when a thread starts: what JAX does at exit is registered by then, and is done after this."""
    if not _pools:
        atexit.register(_close_all)
    _pools.add(pool)


def _close_all() -> None:
    end = time.monotonic() + _GRACE_SECONDS
    for pool in _pools:
        pool.close(end - time.monotonic())


def _start_all_anew() -> None:
    for pool in _pools:
        pool.start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_all_anew)
