"""Deadlines, and what is in force where a program waits.

A deadline and cancellation tokens are in force inside their scopes, nested: the earliest deadline and every token. They
are kept in a context variable, so a task of asyncio and work given to :func:`graphc.submit` start with what is in force
where they were made; a plain ``threading.Thread`` starts with none.
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

from graphc.base.detours import set_detour
from graphc.base.errors import CancelledError, DeadlineExceededError, InvalidArgumentError, InvalidTypeError, at
from graphc.base.frames import Location, user_location

if TYPE_CHECKING:
    from graphc.base.cancellation import CancellationToken

__all__ = [
    "Deadline",
    "Interruption",
    "What",
    "check_interrupted",
    "checked_seconds",
    "deadline",
    "interruption",
    "only_interrupted",
]

What: TypeAlias = str | Callable[[], str]
"""What is waited for, as a noun for messages, or a function that says so when it is asked."""


class Deadline:
    """A point in time by which what waits must be done.

    Args:
      seconds: from now on.
    """

    __slots__ = ("_at", "seconds")

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._at = time.monotonic() + seconds

    def remaining(self) -> float:
        """Returns the seconds that are left, 0 once it has passed."""
        return max(0.0, self._at - time.monotonic())

    @property
    def expired(self) -> bool:
        """True if it has passed."""
        return time.monotonic() >= self._at

    def earlier(self, other: Deadline | None) -> Deadline:
        """This one or another, whichever comes first."""
        return self if other is None or self._at <= other._at else other

    def __repr__(self) -> str:
        return f"<Deadline of {self.seconds:g} s, {self.remaining():.3g} s left>"


class Interruption:
    """What may end a wait early: a deadline, tokens, or both.

    Attributes:
      deadline: the earliest of the scopes that are open, or None.
      tokens: of all scopes that are open, the outermost first.
      outer: what was in force before.
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
        """True if waiting must end."""
        return (self.deadline is not None and self.deadline.expired) or any(token.cancelled for token in self.tokens)

    def remaining(self) -> float | None:
        """Returns how long to wait at most in seconds; None for as long as it takes."""
        return None if self.deadline is None else min(self.deadline.remaining(), threading.TIMEOUT_MAX)

    def error(self, what: What, place: Location | None = None) -> CancelledError | DeadlineExceededError:
        """Returns the error of a wait that had to end; :attr:`is_due` holds.

        Args:
          what: what was waited for.
          place: the user's line; where the program is now when None.
        """
        waited = what if isinstance(what, str) else what()
        token = next((token for token in self.tokens if token.cancelled), None)
        place = place or user_location()
        if token is not None:
            reason = f" ({token.reason})" if token.reason else ""
            return at(CancelledError(f"cancelled{reason} while waiting for {waited}"), place)
        assert self.deadline is not None
        seconds = self.deadline.seconds
        return at(DeadlineExceededError(f"the deadline of {seconds:g} s passed while waiting for {waited}"), place)

    def check(self, what: What) -> None:
        """Raises :meth:`error` if waiting must end."""
        if self.is_due:
            raise self.error(what)


_IN_FORCE = "a deadline or cancellation token is in force"


class _InForce:
    """Makes compiled calls look for an interruption as long as a context holds it.

    Only contexts do: a scope's own, and copies of it (tasks of asyncio, work of a pool), which last longer than the
    scope. The interruption itself may live on in the frames of an exception that somebody keeps.
    """

    __slots__ = ("interruption",)

    def __init__(self, interruption: Interruption) -> None:
        self.interruption = interruption
        set_detour(id(self), _IN_FORCE, active=True)

    def __del__(self) -> None:
        set_detour(id(self), "", active=False)


_current: ContextVar[_InForce | None] = ContextVar("graphc.interruption", default=None)


def interruption() -> Interruption | None:
    """Returns what is in force here; None if there is neither a deadline nor a token."""
    found = _current.get()
    return None if found is None else found.interruption


def only_interrupted(reasons: Mapping[Hashable, str]) -> bool:
    """Tells if of the reasons why calls take the long way each is a deadline or token in force, here or elsewhere."""
    given = list(reasons.values())
    return given.count(_IN_FORCE) == len(given)


def enter(interruption: Interruption | None) -> None:
    """Puts something else in force from here on; for scopes, which put back what was before."""
    _current.set(None if interruption is None else _InForce(interruption))


def check_interrupted(what: What) -> None:
    """Raises if the deadline in force has passed, or a token in force is cancelled.

    Args:
      what: what the program is about to wait for, as a noun.

    Raises:
      DeadlineExceededError: the deadline has passed.
      CancelledError: a token is cancelled.
    """
    found = interruption()
    if found is not None:
        found.check(what)


def checked_seconds(seconds: Any, use: str) -> float | None:
    """Returns a number of seconds as a user gives it; None stays None.

    Raises:
      InvalidArgumentError: it is not positive, or not finite.
      InvalidTypeError: it is no number.
    """
    if seconds is None or (type(seconds) is float and 0 < seconds < math.inf):  # without asking an abstract class
        return seconds
    if isinstance(seconds, bool) or not isinstance(seconds, Real):
        error = InvalidTypeError(f"{use}: expected a number of seconds or None, got {seconds!r:.80}")
        raise at(error, user_location())
    value = float(seconds)
    if not (value > 0 and math.isfinite(value)):
        remedy = "; None stands for no bound" if value > 0 or math.isnan(value) else ""
        error = InvalidArgumentError(
            f"{use}: expected a positive, finite number of seconds or None, got {seconds!r}{remedy}"
        )
        raise at(error, user_location())
    return value


def deadline(seconds: float | None) -> AbstractContextManager[Deadline | None]:
    """Returns what waits inside the scope must be done in so many seconds from now; see :func:`graphc.deadline`."""
    return _Scope(checked_seconds(seconds, "gx.deadline"))


class _Scope(AbstractContextManager["Deadline | None"]):
    """The scope of a deadline: a class, since a generator would take half as long as a call of a small program."""

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
