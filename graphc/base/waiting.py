"""Waiting that keeps to the deadline and the cancellation tokens in force, and that Ctrl-C ends.

What is waited for wakes who waits. Only the main thread looks up now and then: a signal that comes between Python's
last look for one and the moment at which it blocks is not seen before something wakes the thread.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Generator
from contextlib import ExitStack, contextmanager
from typing import Protocol

from graphc.base.deadlines import Interruption, What, interruption
from graphc.base.watchdog import watched

__all__ = ["Lock", "Signal", "holding", "pause", "wait_only_for", "wait_until"]

_SIGNAL_SECONDS = 0.5
"""After how long Ctrl-C is seen at the latest."""


class Lock(Protocol):
    """What :func:`holding` takes: ``threading.Lock``, ``threading.RLock`` and what is like them."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Takes the lock; whether that worked."""
        ...

    def release(self) -> None:
        """Gives the lock back."""
        ...


def wait_until(
    condition: threading.Condition, predicate: Callable[[], bool], what: What, timeout: float | None = None
) -> bool:
    """Waits on a condition, which the caller holds, until a predicate is true.

    Args:
      condition: notified by whoever makes the predicate true. It is notified when a token in force is cancelled, so it
        must be one of an RLock (``threading.Condition()`` is) if this thread may cancel a token while it holds it.
      predicate: asked while the condition is held.
      what: what is waited for, for messages.
      timeout: seconds after which to give up without an error; None for never.

    Returns:
      What the predicate says at the end: False only when ``timeout`` has passed.

    Raises:
      DeadlineExceededError: the deadline in force has passed, and the predicate is still false.
      CancelledError: a token in force was cancelled, and the predicate is still false.
    """
    if predicate():
        return True
    current = interruption()
    end = None if timeout is None else time.monotonic() + timeout
    with watched(what):
        if current is None:
            return _wait(condition, predicate, None, end, what)
        with ExitStack() as stack:
            for token in current.tokens:
                # Not under the condition: the thread that cancels holds none of our locks, and takes this one.
                stack.callback(token.on_cancel(lambda: _notify(condition)))
            return _wait(condition, predicate, current, end, what)


def wait_only_for(condition: threading.Condition, predicate: Callable[[], bool]) -> None:
    """Waits on a condition, which the caller holds, until a predicate is true, whatever deadline is in force."""
    while not predicate():
        condition.wait(_until_signal(None))


def _until_signal(seconds: float | None) -> float | None:
    """Returns how long a thread that is to wait so many seconds, or for ever, may sleep at a time."""
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
    what: What,
) -> bool:
    while not predicate():
        left = None if end is None else min(end - time.monotonic(), threading.TIMEOUT_MAX)
        if left is not None and left <= 0:
            return False
        if current is not None:
            current.check(what)
            allowed = current.remaining()
            left = allowed if left is None else left if allowed is None else min(left, allowed)
        condition.wait(_until_signal(left))
    return True


class Signal:
    """An event that is set once, like ``threading.Event``; waiting for it keeps to what is in force."""

    __slots__ = ("_condition", "_is_set")

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._is_set = False

    @property
    def is_set(self) -> bool:
        """True if it is set."""
        return self._is_set

    def set(self) -> None:
        """Sets it, and wakes all who wait."""
        with self._condition:
            self._is_set = True
            self._condition.notify_all()

    def wait(self, what: What, timeout: float | None = None) -> bool:
        """Waits until it is set; as :func:`wait_until`."""
        if self._is_set:
            return True
        with self._condition:
            return wait_until(self._condition, lambda: self._is_set, what, timeout)


def pause(seconds: float, what: What) -> None:
    """Waits for so many seconds; ends early, with an error, by what is in force.

    Raises:
      DeadlineExceededError: the deadline in force has passed.
      CancelledError: a token in force was cancelled.
    """
    Signal().wait(what, seconds)


# A lock cannot be woken by a token, so only where there are tokens is it asked for again and again.
_LOOK_SECONDS = 0.05


@contextmanager
def holding(lock: Lock, what: What) -> Generator[None]:
    """Holds a lock inside the scope; waiting for it keeps to what is in force.

    Raises:
      DeadlineExceededError: the deadline in force passed first.
      CancelledError: a token in force was cancelled first.
    """
    if not lock.acquire(blocking=False):
        with watched(what):
            _acquire(lock, what)
    try:
        yield
    finally:
        lock.release()


def _acquire(lock: Lock, what: What) -> None:
    current = interruption()
    while True:
        left = None
        if current is not None:
            current.check(what)
            left = current.remaining()
            if current.tokens:
                left = _LOOK_SECONDS if left is None else min(left, _LOOK_SECONDS)
        left = _until_signal(left)
        if lock.acquire(timeout=-1 if left is None else left):
            return
