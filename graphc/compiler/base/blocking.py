"""Waiting for calls that cannot be interrupted: on a separate thread, or in asyncio without blocking its loop."""

from __future__ import annotations

import atexit
import contextvars
import heapq
import itertools
import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from contextvars import ContextVar
from functools import cache
from typing import TypeVar
from weakref import WeakSet

from graphc.compiler.base.deadlines import Subject, interruption
from graphc.compiler.base.frames import user_location
from graphc.compiler.base.waiting import Signal, wait_until

# A thread pool with priorities.
#
# Its threads are daemons and end when idle. Work runs in a copy of the context in which it was submitted, so the
# deadline and tokens in force there apply to it too.

_IDLE_SECONDS = 2.0
_MOST_QUEUED = 10_000
_GRACE_SECONDS = 5.0

_working_for: ContextVar[tuple[Pool, ...]] = ContextVar("graphc.pool", default=())
"""The pools whose work this context runs: on one of their threads, or on one that such a thread waits for."""


class Work:
    """A unit of work in a pool."""

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
        """Claims the work; returns False if another thread has claimed it."""
        return self._taken.acquire(blocking=False)

    def cancel(self) -> bool:
        """Cancels the work; returns False if it has already begun."""
        if not self.take():
            return False
        self._run = self._context = None
        return True

    def run(self) -> None:
        """Runs the work; call it only after :meth:`take`."""
        run, context = self._run, self._context
        self._run = self._context = None  # drops references that are no longer needed
        assert run is not None
        assert context is not None
        context.run(self._run_here, run)

    def _run_here(self, run: Callable[[], None]) -> None:
        _working_for.set((*_working_for.get(), self._pool))
        run()


class Pool:
    """Runs work on a bounded number of threads, in order of priority."""

    def __init__(
        self,
        name: str,
        limit: Callable[[], int],  # the maximum number of working threads; called each time
        *,
        idle_seconds: float = _IDLE_SECONDS,
        most_queued: int = _MOST_QUEUED,  # further submissions wait, except on threads of the pool
        grace_seconds: float = _GRACE_SECONDS,  # that running work has at the end of the process
    ) -> None:
        self.name = name
        self._limit = limit
        self._idle_seconds = idle_seconds
        self._most_queued = most_queued
        self.grace_seconds = grace_seconds
        self._numbers = itertools.count()
        self._closed = False
        self.start_anew()

    def start_anew(self) -> None:
        """Resets the pool to no threads and no work, for a forked process."""
        self._condition = threading.Condition()  # the threads of the pool wait on it
        self._room = threading.Condition()
        self._queue: list[Work] = []
        self._threads: set[threading.Thread] = set()
        self._idle = 0
        self._at_work: set[threading.Thread] = set()

    def give(self, run: Callable[[], None], *, priority: float = 0, name: str = "work", inherits: bool = True) -> Work:
        """Queues work, which must not raise; higher priority runs earlier, equal ones in order of submission."""
        if len(self._queue) >= self._most_queued and not self.is_mine():
            self._wait_for_room(name)
        context = contextvars.copy_context() if inherits else contextvars.Context()
        work = Work(self, run, name, (-priority, next(self._numbers)), context)
        with self._condition:
            heapq.heappush(self._queue, work)
            if self._idle:
                self._condition.notify()
            # An idle thread may be about to take earlier work.
            if len(self._queue) > self._idle and len(self._threads) < self._limit():
                self._start()
        return work

    def is_mine(self) -> bool:
        """Returns True on a thread of the pool, or on one that acts for such a thread while it waits."""
        return self in _working_for.get()

    @property
    def is_busy(self) -> bool:
        """True if queued work waits for other work to finish."""
        with self._condition:
            # After the limit is lowered, surplus threads end once their work is done.
            return len(self._queue) > min(len(self._threads), self._limit()) - len(self._at_work)

    @property
    def num_queued(self) -> int:
        """The number of queued units of work, including recently cancelled ones."""
        return len(self._queue)

    @property
    def threads(self) -> tuple[threading.Thread, ...]:
        """The current threads."""
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
        # A plain context: the deadlines in force here must not leak into a thread that does other work.
        thread = threading.Thread(target=self._work, name=f"{self.name}-{number}", daemon=True)
        _close_at_exit()
        _pools.add(self)
        thread.start()
        self._threads.add(thread)  # it takes no work before the condition is released

    def close(self, seconds: float) -> bool:
        """Drops the queue and waits at most ``seconds`` for running work; returns True if all threads have ended."""
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
        """Returns the next unit of work; after a while without work removes the thread and returns None."""
        with self._condition:
            self._at_work.discard(threading.current_thread())
            # Also ends threads that were idle when the limit was lowered.
            if self._is_too_many() or not (self._queue or self._wait_for_work()) or self._is_too_many():
                # Done here, since nobody may count on the thread after this.
                self._threads.discard(threading.current_thread())
                self._condition.notify()  # queued work then goes to another thread
                return None
            work = heapq.heappop(self._queue)
            self._at_work.add(threading.current_thread())
        with self._room:
            self._room.notify_all()
        return work


_pools: WeakSet[Pool] = WeakSet()


@cache
def _close_at_exit() -> None:
    """Registers the cleanup when a thread starts: after JAX's exit handlers, so that it runs before them."""
    atexit.register(_close_all)


def _close_all() -> None:
    for pool in list(_pools):
        pool.close(pool.grace_seconds)


def _start_all_anew() -> None:
    for pool in list(_pools):
        pool.start_anew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_start_all_anew)


T = TypeVar("T")

# One thread for each wait: a wait that never ends must not keep others from working.
_threads = Pool("graphc.wait", lambda: sys.maxsize, grace_seconds=0)

_given_up: dict[Signal, tuple[Subject, list[int]]] = {}
"""Abandoned functions that still run: the signal set at their end, their description, and their thread."""


def run_on_thread(function: Callable[[], T], subject: Subject, *, inherits: bool = False) -> T:
    """Runs a blocking function that cannot be interrupted on another thread, and waits for it."""
    # If the wait ends early, the function continues on a daemon thread that ends with it, and its result is dropped.
    # With ``inherits``, the deadlines and tokens in force apply inside the function, too.
    done, results, errors, threads = Signal(), list[T](), list[BaseException](), list[int]()

    def run() -> None:
        threads.append(threading.get_ident())
        try:
            results.append(function())
        except BaseException as error:
            errors.append(error)
        finally:
            done.set()
            _given_up.pop(done, None)

    _threads.give(run, inherits=inherits)
    try:
        done.wait(subject)
    except BaseException:
        _given_up[done] = subject, threads
        if done.is_set:
            _given_up.pop(done, None)
        _report_given_up(done, subject)
        raise
    if errors:
        raise errors.pop()
    return results.pop()


def _report_given_up(done: Signal, subject: Subject) -> None:
    """Logs after some seconds that an abandoned function still runs: two of them hold all XLA threads of two cores."""
    location = user_location()

    def run() -> None:
        if not done.wait(subject, _REPORT_SECONDS):
            what = subject if isinstance(subject, str) else subject()
            line = "" if location is None else f"\n  given up at {location}"
            _logger.warning(
                "%s is still being computed, %g s after its caller gave up, and may hold threads of its device for "
                "which other work waits. XLA cannot be interrupted: bound the loop "
                "(gx.loop_options(max_iterations=...)), or run it in a process of its own%s",
                what,
                _REPORT_SECONDS,
                line,
            )

    _threads.give(run, inherits=False)


_REPORT_SECONDS = 5.0
_logger = logging.getLogger("graphc.watchdog")


def finish_given_up() -> None:
    """Waits for the functions abandoned by :func:`run_on_thread`, except one that calls this function."""
    here = threading.get_ident()
    for done, (subject, threads) in list(_given_up.items()):
        if here not in threads:
            done.wait(
                lambda subject=subject: f"{subject if isinstance(subject, str) else subject()}, which was abandoned"
            )


def start_on_thread(function: Callable[[], None]) -> None:
    """Calls a function, which must not raise, on a separate thread that acts for this one."""
    _threads.give(function)


async def until_called(register: Callable[[Callable[[], None]], object], subject: Subject) -> None:
    """Waits in asyncio, without blocking its loop, until a callback is called."""
    import asyncio  # the caller has imported it already; it takes 9 ms

    loop = asyncio.get_running_loop()
    woken, called = asyncio.Event(), list[bool]()

    def wake() -> None:
        with suppress(RuntimeError):  # the loop was closed: nobody waits
            loop.call_soon_threadsafe(woken.set)

    def callback() -> None:
        called.append(True)
        wake()

    current = interruption()
    register(callback)
    if current is None:
        await woken.wait()
        return
    forget = [token.on_cancel(wake) for token in current.tokens]
    timer = None
    try:
        while not called:
            current.check(subject)
            left = current.remaining()
            timer = None if left is None else loop.call_later(left, woken.set)
            await woken.wait()
            woken.clear()
    finally:
        if timer is not None:
            timer.cancel()
        for take_back in forget:
            take_back()


def when_done(function: Callable[[], object], callback: Callable[[], None]) -> None:
    """Calls a blocking function on a separate thread, and then the callback, even if the function raised."""

    def run() -> None:
        try:
            with suppress(BaseException):  # raised again for the waiting caller
                function()
        finally:
            callback()

    _threads.give(run, inherits=False)
