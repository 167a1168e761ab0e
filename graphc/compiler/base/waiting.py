"""Waiting that observes the deadline and cancellation tokens in force, and that Ctrl-C interrupts.

Waiters are woken by the event that they wait for. Only the main thread polls: a signal that arrives between Python's
last check and the blocking call is not handled until something wakes the thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Protocol

from graphc.compiler.base.deadlines import Interruption, Subject, interruption
from graphc.compiler.base.watchdog import watched

__all__ = ["Lock", "Signal", "holding", "pause", "wait_only_for", "wait_until"]

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
    """Waits on a condition, which the caller holds, until a predicate is true.

    Args:
      condition: notified when the predicate may have become true. It is also notified when a token in force is
        cancelled, so it must use an RLock (as ``threading.Condition()`` does) if this thread may cancel a token while
        holding it.
      predicate: called while the condition is held.
      subject: the subject of the wait, for messages.
      timeout: the time limit in seconds, after which it returns without an error; None for no limit.

    Returns:
      The predicate's final value: False only if ``timeout`` has passed.

    Raises:
      DeadlineExceededError: the deadline in force passed while the predicate was false.
      CancelledError: a token in force was cancelled while the predicate was false.
    """
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
    """Waits for ``seconds``; a deadline or token in force ends the wait early with an error.

    Raises:
      DeadlineExceededError: the deadline in force has passed.
      CancelledError: a token in force was cancelled.
    """
    Signal().wait(subject, seconds)


# A token cannot wake a lock's waiter, so if tokens are in force the lock is polled.
_LOOK_SECONDS = 0.05


@contextmanager
def holding(lock: Lock, subject: Subject) -> Generator[None]:
    """Holds a lock inside the scope; waiting for it observes the deadline and tokens in force.

    Raises:
      DeadlineExceededError: the deadline in force passed first.
      CancelledError: a token in force was cancelled first.
    """
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
