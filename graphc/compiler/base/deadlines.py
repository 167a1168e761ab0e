"""Deadlines and cancellation tokens in force.

A deadline and cancellation tokens are in force inside their scopes. Scopes nest: the earliest deadline and every token
apply. They are kept in a context variable, so that asyncio tasks and work passed to :func:`graphc.submit` inherit them
from where they were made; a plain ``threading.Thread`` inherits nothing.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable, Mapping
from contextlib import AbstractContextManager
from contextvars import ContextVar
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

from graphc.compiler.base.errors import (
    CancelledError,
    DeadlineExceededError,
    InvalidArgumentError,
    InvalidTypeError,
    at,
)
from graphc.compiler.base.frames import Location, user_location
from graphc.compiler.base.slow_path import set_slow_path_reason

if TYPE_CHECKING:
    from graphc.compiler.base.cancellation import CancellationToken

__all__ = [
    "Deadline",
    "Interruption",
    "Subject",
    "check_interrupted",
    "checked_seconds",
    "deadline",
    "interruption",
    "only_interrupted",
]

Subject: TypeAlias = str | Callable[[], str]
"""The subject of a wait as a noun, for messages, or a function that returns it."""


class Deadline:
    """A point in time by which waits must end.

    Args:
      seconds: the time from now on.
    """

    __slots__ = ("_at", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._at = time.monotonic() + seconds

    def remaining(self) -> float:
        """The seconds that remain; 0 once the deadline has passed."""
        return max(0.0, self._at - time.monotonic())

    @property
    def expired(self) -> bool:
        """True if the deadline has passed."""
        return time.monotonic() >= self._at

    def earlier(self, other: Deadline | None) -> Deadline:
        """Returns the earlier of this deadline and another."""
        return self if other is None or self._at <= other._at else other

    def __repr__(self) -> str:
        return f"<Deadline of {self.seconds:g} s, {self.remaining():.3g} s left>"


class Interruption:
    """The conditions that may end a wait early: a deadline, tokens, or both.

    Attributes:
      deadline: the earliest deadline of the open scopes, or None.
      tokens: the tokens of all open scopes, the outermost first.
      outer: the interruption that was in force before.
    """

    __slots__ = ("deadline", "outer", "tokens")

    def __init__(
        self, deadline: Deadline | None, tokens: tuple[CancellationToken, ...], outer: Interruption | None = None
    ) -> None:
        self.deadline = deadline
        self.tokens = tokens
        self.outer = outer

    @property
    def is_due(self) -> bool:
        """True if waits must end now."""
        return (self.deadline is not None and self.deadline.expired) or any(token.cancelled for token in self.tokens)

    def remaining(self) -> float | None:
        """Returns the maximum time to wait in seconds; None for no limit."""
        return None if self.deadline is None else min(self.deadline.remaining(), threading.TIMEOUT_MAX)

    def error(self, subject: Subject, place: Location | None = None) -> CancelledError | DeadlineExceededError:
        """Returns the error for a wait that had to end; requires :attr:`is_due`.

        Args:
          subject: the subject of the wait.
          place: the user's line; None for the line that is running.
        """
        waited = subject if isinstance(subject, str) else subject()
        token = next((token for token in self.tokens if token.cancelled), None)
        place = place or user_location()
        if token is not None:
            reason = f" ({token.reason})" if token.reason else ""
            return at(CancelledError(f"cancelled{reason} while waiting for {waited}"), place)
        assert self.deadline is not None
        seconds = self.deadline.seconds
        return at(DeadlineExceededError(f"the deadline of {seconds:g} s passed while waiting for {waited}"), place)

    def check(self, subject: Subject) -> None:
        """Raises :meth:`error` if waits must end now."""
        if self.is_due:
            raise self.error(subject)


_IN_FORCE = "a deadline or cancellation token is in force"


class _InForce:
    """Makes compiled calls check for an interruption as long as a context holds this object.

    Only contexts hold it: the scope's own, and copies of it (asyncio tasks, work in a pool), which may outlive the
    scope. The interruption itself may live on in the frames of an exception.
    """

    __slots__ = ("interruption",)

    def __init__(self, interruption: Interruption) -> None:
        self.interruption = interruption
        set_slow_path_reason(id(self), _IN_FORCE, active=True)

    def __del__(self) -> None:
        set_slow_path_reason(id(self), "", active=False)


_current: ContextVar[_InForce | None] = ContextVar("graphc.interruption", default=None)


def interruption() -> Interruption | None:
    """Returns the interruption in force; None if there is neither a deadline nor a token."""
    found = _current.get()
    return None if found is None else found.interruption


def only_interrupted(reasons: Mapping[Hashable, str]) -> bool:
    """Returns True if all reasons for the slow path are deadlines or tokens in force, in any thread."""
    given = list(reasons.values())
    return given.count(_IN_FORCE) == len(given)


def enter(interruption: Interruption | None) -> None:
    """Replaces the interruption in force; for scopes, which restore the previous one."""
    _current.set(None if interruption is None else _InForce(interruption))


def check_interrupted(subject: Subject) -> None:
    """Raises if the deadline in force has passed or a token in force is cancelled.

    Args:
      subject: the subject of the wait that is about to begin, as a noun.

    Raises:
      DeadlineExceededError: the deadline has passed.
      CancelledError: a token is cancelled.
    """
    found = interruption()
    if found is not None:
        found.check(subject)


def checked_seconds(seconds: Any, use: str) -> float | None:
    """Checks and returns a number of seconds given by the user; None stays None.

    Raises:
      InvalidArgumentError: the number is not positive, or not finite.
      InvalidTypeError: the value is not a number.
    """
    if seconds is None or (type(seconds) is float and 0 < seconds < math.inf):  # skips a slow isinstance check
        return seconds
    if isinstance(seconds, bool) or not isinstance(seconds, Real):
        error = InvalidTypeError(f"{use}: expected a number of seconds or None, got {seconds!r:.80}")
        raise at(error, user_location())
    value = float(seconds)
    if not (value > 0 and math.isfinite(value)):
        remedy = "; use None for no limit" if value > 0 or math.isnan(value) else ""
        error = InvalidArgumentError(
            f"{use}: expected a positive, finite number of seconds or None, got {seconds!r}{remedy}"
        )
        raise at(error, user_location())
    return value


def deadline(seconds: float | None) -> AbstractContextManager[Deadline | None]:
    """Sets a deadline for all waits inside the scope; see :func:`graphc.deadline`."""
    return _Scope(checked_seconds(seconds, "gx.deadline"))


class _Scope(AbstractContextManager["Deadline | None"]):
    """The scope of a deadline; a class, since a generator would take half as long as a call of a small program."""

    __slots__ = ("_before", "_seconds")

    def __init__(self, seconds: float | None) -> None:
        self._seconds = seconds

    def __enter__(self) -> Deadline | None:
        self._before = before = interruption()
        outer, tokens = (None, ()) if before is None else (before.deadline, before.tokens)
        if self._seconds is None:
            return outer
        found = Deadline(self._seconds).earlier(outer)
        _current.set(_InForce(Interruption(found, tokens, before)))
        return found

    def __exit__(self, *error: object) -> None:
        if self._seconds is not None:
            enter(self._before)
