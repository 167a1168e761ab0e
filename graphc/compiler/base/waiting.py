"""Waiting that observes the deadline and cancellation tokens in force, and that Ctrl-C interrupts.

Waiters are woken by the event that they wait for. Only the main thread polls: a signal that arrives between Python's
last check and the blocking call is not handled until something wakes the thread.
"""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Protocol

from graphc.compiler.base.config import config
from graphc.compiler.base.deadlines import Interruption, Subject, interruption
from graphc.compiler.base.frames import Location, user_location

# The watchdog: reports long waits without progress.

_logger = logging.getLogger("graphc.watchdog")


class Watch:
    """A wait under observation."""

    __slots__ = ("_what", "place", "reported", "since", "thread")

    def __init__(self, subject: Subject, location: Location | None) -> None:
        self._what = subject
        self.place = location
        self.since = time.monotonic()
        self.reported = False
        self.thread = threading.current_thread().name

    def progress(self) -> None:
        """Records progress: the time without progress starts anew, and another stall is reported again."""
        self.since, self.reported = time.monotonic(), False

    def report(self, seconds: float) -> None:
        """Logs that there was no progress."""
        self.reported = True
        try:
            subject = self._what if isinstance(self._what, str) else self._what()
        except Exception as error:  # it may read state that another thread is changing
            subject = f"something that cannot be described now ({error!r})"
        where = "" if self.place is None else f"\n  at {self.place}"
        _logger.warning("no progress for %.3g s: thread %s waits for %s%s", seconds, self.thread, subject, where)


class _Watchdog:
    """Observes all waits; its thread exists only while there are any."""

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._watches: dict[int, Watch] = {}
        self._numbers = itertools.count()
        self._thread: threading.Thread | None = None

    def add(self, watch: Watch) -> int:
        with self._condition:
            number = next(self._numbers)
            self._watches[number] = watch
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="graphc.watchdog", daemon=True)
                self._thread.start()
            return number

    def remove(self, number: int) -> None:
        with self._condition:
            self._watches.pop(number, None)
            if not self._watches:
                self._condition.notify_all()

    def _run(self) -> None:
        while True:
            with self._condition:
                limit = config.watchdog_seconds
                if not self._watches or limit is None:
                    self._thread = None
                    return
                now = time.monotonic()
                due = [watch for watch in self._watches.values() if not watch.reported and now - watch.since >= limit]
                if not due:
                    waits = [limit - (now - watch.since) for watch in self._watches.values() if not watch.reported]
                    # A wait that was reported may progress and stall again.
                    self._condition.wait(min(max(0.0, min(waits, default=limit)), threading.TIMEOUT_MAX))
                    continue
            for watch in due:  # without the lock: logging handlers may be the user's
                try:
                    watch.report(now - watch.since)
                except BaseException:
                    with self._condition:
                        self._thread = None  # the next wait starts another one
                    raise


_watchdog = _Watchdog()


_listener: Callable[[str, float], None] | None = None


def listen_to_waits(listener: Callable[[str, float], None] | None) -> None:
    """Sets a function called after each wait with its subject and its start by ``time.perf_counter``."""
    global _listener
    _listener = listener


_watch: ContextVar[Watch | None] = ContextVar("graphc.watch", default=None)


def note_progress() -> None:
    """Tells the watchdog that the current wait makes progress."""
    watch = _watch.get()
    if watch is not None:
        watch.progress()


@contextmanager
def watched(subject: Subject) -> Generator[None]:
    """Marks this thread as waiting inside the scope; see ``gx.config.watchdog_seconds``."""
    # Of nested scopes only the outermost counts: the others are parts of its wait.
    listener = _listener
    if listener is None:
        with overseen(subject):
            yield
        return
    start = time.perf_counter()
    try:
        with overseen(subject):
            yield
    finally:
        listener(subject if isinstance(subject, str) else subject(), start)


def overseen(subject: Subject) -> AbstractContextManager[None]:
    """Marks work that must make progress, with its waits, like :func:`watched`, on all threads with its context."""
    if config.watchdog_seconds is None or _watch.get() is not None:
        return _NOTHING
    return _watching(Watch(subject, user_location()))


_NOTHING = nullcontext()


@contextmanager
def _watching(watch: Watch) -> Generator[None]:
    number = _watchdog.add(watch)
    token = _watch.set(watch)
    try:
        yield
    finally:
        _watch.reset(token)
        _watchdog.remove(number)


_SIGNAL_SECONDS = 0.5
"""Maximum delay in seconds until Ctrl-C is handled."""


class Lock(Protocol):
    """The interface of locks for :func:`holding`: ``threading.Lock``, ``threading.RLock`` and the like."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Acquires the lock; returns True on success."""
        ...

    def release(self) -> None:
        """Releases the lock."""
        ...


def wait_until(
    condition: threading.Condition, predicate: Callable[[], bool], subject: Subject, timeout: float | None = None
) -> bool:
    """Waits on a condition, which the caller holds, until a predicate is true; False only if ``timeout`` has passed."""
    # A cancelled token in force notifies the condition as well: it must use an RLock (as ``threading.Condition()``
    # does) if this thread may cancel a token while holding it.
    if predicate():
        return True
    current = interruption()
    end = None if timeout is None else time.monotonic() + timeout
    with watched(subject):
        if current is None:
            return _wait(condition, predicate, None, end, subject)
        with ExitStack() as stack:
            for token in current.tokens:
                # Not while holding the condition: the cancelling thread holds none of our locks, and acquires this one.
                stack.callback(token.on_cancel(lambda: _notify(condition)))
            return _wait(condition, predicate, current, end, subject)


def wait_only_for(condition: threading.Condition, predicate: Callable[[], bool]) -> None:
    """Waits on a condition, which the caller holds, until a predicate is true, ignoring deadlines."""
    while not predicate():
        condition.wait(_until_signal(None))


def _until_signal(seconds: float | None) -> float | None:
    """Returns the time that a thread may sleep at once, out of a wait of ``seconds`` or without limit."""
    if threading.current_thread() is not threading.main_thread():
        return seconds
    return _SIGNAL_SECONDS if seconds is None else min(seconds, _SIGNAL_SECONDS)


def _notify(condition: threading.Condition) -> None:
    with condition:
        condition.notify_all()


def _wait(
    condition: threading.Condition,
    predicate: Callable[[], bool],
    current: Interruption | None,
    end: float | None,
    subject: Subject,
) -> bool:
    while not predicate():
        left = None if end is None else min(end - time.monotonic(), threading.TIMEOUT_MAX)
        if left is not None and left <= 0:
            return False
        if current is not None:
            current.check(subject)
            allowed = current.remaining()
            left = allowed if left is None else left if allowed is None else min(left, allowed)
        condition.wait(_until_signal(left))
    return True


class Signal:
    """An event that is set once, like ``threading.Event``; waits observe the deadline and tokens in force."""

    __slots__ = ("_condition", "_is_set")

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._is_set = False

    @property
    def is_set(self) -> bool:
        """True if the event is set."""
        return self._is_set

    def set(self) -> None:
        """Sets the event and wakes all waiters."""
        with self._condition:
            self._is_set = True
            self._condition.notify_all()

    def wait(self, subject: Subject, timeout: float | None = None) -> bool:
        """Waits until the event is set; see :func:`wait_until`."""
        if self._is_set:
            return True
        with self._condition:
            return wait_until(self._condition, lambda: self._is_set, subject, timeout)


def pause(seconds: float, subject: Subject) -> None:
    """Waits for ``seconds``; a deadline or token in force ends the wait early with an error."""
    Signal().wait(subject, seconds)


# A token cannot wake a lock's waiter, so if tokens are in force the lock is polled.
_LOOK_SECONDS = 0.05


@contextmanager
def holding(lock: Lock, subject: Subject) -> Generator[None]:
    """Holds a lock inside the scope; waiting for it observes the deadline and tokens in force."""
    if not lock.acquire(blocking=False):
        with watched(subject):
            _acquire(lock, subject)
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: Lock, subject: Subject) -> None:
    current = interruption()
    while True:
        left = None
        if current is not None:
            current.check(subject)
            left = current.remaining()
            if current.tokens:
                left = _LOOK_SECONDS if left is None else min(left, _LOOK_SECONDS)
        left = _until_signal(left)
        if lock.acquire(timeout=-1 if left is None else left):
            return
