"""Lines of waiters at an object that threads share.

Each waiter is a step that any thread that changes the object takes for it, in order of arrival. So no thread wakes up
in vain, and none overtakes another: the thread that makes room in a queue puts in the first waiter's rows itself, and
wakes it when all of them are in.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque

from graphc.compiler.base import Interruption, at, interruption, user_location, wait_until
from graphc.compiler.base.errors import AbortedError, GraphcError

__all__ = ["Lines", "Waiter"]


class Waiter(ABC):
    """A call that waits, or may have to.

    Attributes:
      done: whether its wait is over: it is served, or has failed.
      error: the error that it failed with.
    """

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
        """Waits until it is done; see :func:`graphc.compiler.base.wait_until`.

        Args:
          condition: a condition of the shared lock, used by this waiter alone.
          timeout: seconds after which to give up without an error.
        """
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
            raise at(self._aborted(waiter), user_location())
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
            raise at(waiter.error, user_location())

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
