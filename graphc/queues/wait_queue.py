"""Lines of those who wait at something that threads share.

Each waiter is a step that whoever changes the thing takes for it, in the order of arrival. So nobody is woken who
cannot go on, and nobody overtakes: the thread that makes room in a queue puts the rows of the first waiter itself, and
wakes it when all of them are in.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections import deque

from graphc.base import Interruption, at, interruption, user_location, wait_until
from graphc.base.errors import AbortedError, GraphcError

__all__ = ["Lines", "Waiter"]


class Waiter(ABC):
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

    @abstractmethod
    def step(self) -> bool:
        """Goes on as far as it can; returns True if it got anywhere. What is shared is locked."""

    @abstractmethod
    def what(self) -> str:
        """Says what it waits for, as a noun."""

    def withdraw(self) -> None:  # noqa: B027  most leave nothing behind
        """Leaves things as if this call had not been, as far as that can be. What is shared is locked."""

    def finish(self, error: GraphcError | None = None) -> bool:
        """Ends the wait; returns True."""
        self.error, self.done = error, True
        if self._condition is not None:
            self._condition.notify()
        return True

    @property
    def is_given_up(self) -> bool:
        """Returns True if its deadline has passed, or its token is cancelled, though its thread has not seen that yet.

        Whoever waits for that thread may have: a compiled call that is given up leaves it behind.
        """
        return self._interruption is not None and self._interruption.is_due

    def wait(self, condition: threading.Condition, timeout: float | None = None) -> bool:
        """Waits until it is done; as :func:`graphc.base.wait_until`.

        Args:
          condition: a condition of the shared lock, used by this waiter alone.
          timeout: seconds after which to give up without an error.
        """
        self._condition, self._interruption = condition, interruption()
        return wait_until(condition, lambda: self.done, self.what, timeout)


class Lines:
    """Something that threads share, and the lines of those who wait at it.

    Args:
      count: the number of lines. The first waiter of each is tried whenever something changes, in their order.
    """

    def __init__(self, count: int) -> None:
        # A token that is cancelled in a signal handler, while this thread is in here, wakes those who wait.
        self._lock = threading.RLock()
        self._lines: tuple[deque[Waiter], ...] = tuple([deque[Waiter]() for _ in range(count)])
        self._gone = ""

    def give_up(self, reason: str) -> None:
        """Ends all waits with AbortedError, those of now and later: nobody else will find this any more.

        Args:
          reason: the reason for the failure.
        """
        with self._lock:
            self._gone = reason
            for line in self._lines:
                for waiter in [*line]:
                    if not waiter.is_given_up:
                        waiter.withdraw()
                        waiter.finish(self._aborted(waiter))
                        line.remove(waiter)

    def _aborted(self, waiter: Waiter) -> AbortedError:
        return AbortedError(f"{self._gone} while this waited for {waiter.what()}")

    def _advance(self) -> None:
        """Serves those who wait, for as long as one gets anywhere."""
        moved = True
        while moved:
            moved = False
            for line in self._lines:
                moved = _serve(line) or moved

    def _wait(self, waiter: Waiter, line: deque[Waiter]) -> None:
        """Lines up and waits until served; this is locked."""
        if self._gone:
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
        """Waits until a waiter is served; this is locked."""
        waiter.wait(threading.Condition(self._lock))

    def _repair(self) -> None:
        """Makes whole what Ctrl-C may have left half done; this is locked."""


def _serve(line: deque[Waiter]) -> bool:
    """Lets the first ones of a line go on; returns True if one got anywhere."""
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
