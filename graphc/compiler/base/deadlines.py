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
from contextlib import AbstractContextManager, ExitStack
from contextvars import ContextVar
from functools import partial
from numbers import Real
from typing import Any, Self, TypeAlias

from graphc.compiler.base.errors import (
    CancelledError,
    DeadlineExceededError,
    InternalError,
    InvalidArgumentError,
    InvalidTypeError,
)
from graphc.compiler.base.frames import Location, user_location
from graphc.compiler.base.slow_path import set_slow_path_reason

Subject: TypeAlias = str | Callable[[], str]
"""The subject of a wait as a noun, for messages, or a function that returns it."""


class Deadline:
    """A point in time by which waits must end."""

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
    """The conditions that may end a wait early: a deadline, tokens, or both."""

    __slots__ = ("deadline", "outer", "tokens")

    def __init__(
        self, deadline: Deadline | None, tokens: tuple[CancellationToken, ...], outer: Interruption | None = None
    ) -> None:
        self.deadline = deadline  # the earliest of the open scopes
        self.tokens = tokens  # of all open scopes, the outermost first
        self.outer = outer

    @property
    def is_due(self) -> bool:
        """True if waits must end now."""
        return (self.deadline is not None and self.deadline.expired) or any(token.cancelled for token in self.tokens)

    def remaining(self) -> float | None:
        """Returns the maximum time to wait in seconds; None for no limit."""
        return None if self.deadline is None else min(self.deadline.remaining(), threading.TIMEOUT_MAX)

    def error(self, subject: Subject, location: Location | None = None) -> CancelledError | DeadlineExceededError:
        """Returns the error for a wait that had to end; requires :attr:`is_due`."""
        waited = subject if isinstance(subject, str) else subject()
        token = next((token for token in self.tokens if token.cancelled), None)
        location = location or user_location()
        if token is not None:
            reason = f" ({token.reason})" if token.reason else ""
            return CancelledError(f"cancelled{reason} while waiting for {waited}").at(location)
        assert self.deadline is not None
        seconds = self.deadline.seconds
        return DeadlineExceededError(f"the deadline of {seconds:g} s passed while waiting for {waited}").at(location)

    def check(self, subject: Subject) -> None:
        """Raises :meth:`error` if waits must end now."""
        if self.is_due:
            raise self.error(subject)


_IN_FORCE = "a deadline or cancellation token is in force"


class _InForce:
    """Makes compiled calls check for an interruption as long as a context holds this object."""

    # Only contexts hold it: the scope's own and copies (asyncio tasks, work in a pool), which may outlive the scope.
    # The interruption itself may live on in the frames of an exception.

    __slots__ = ("interruption",)

    def __init__(self, interruption: Interruption) -> None:
        self.interruption = interruption
        set_slow_path_reason(id(self), _IN_FORCE, active=True)

    def __del__(self) -> None:
        set_slow_path_reason(id(self), "", active=False)


_current: ContextVar[_InForce | None] = ContextVar("graphc.interruption", default=None)


def interruption() -> Interruption | None:
    """Returns the interruption in force; None if there is neither a deadline nor a token."""
    scope = _current.get()
    return None if scope is None else scope.interruption


def only_interrupted(reasons: Mapping[Hashable, str]) -> bool:
    """Returns True if all reasons for the slow path are deadlines or tokens in force, in any thread."""
    texts = list(reasons.values())
    return texts.count(_IN_FORCE) == len(texts)


def enter(interruption: Interruption | None) -> None:
    """Replaces the interruption in force; for scopes, which restore the previous one."""
    _current.set(None if interruption is None else _InForce(interruption))


def check_interrupted(subject: Subject) -> None:
    """Raises if the deadline in force has passed or a token in force is cancelled."""
    current = interruption()
    if current is not None:
        current.check(subject)


def checked_seconds(seconds: Any, use: str) -> float | None:
    """Returns a user's number of seconds, checked to be positive and finite; None stays None."""
    if seconds is None or (type(seconds) is float and 0 < seconds < math.inf):  # skips a slow isinstance check
        return seconds
    if isinstance(seconds, bool) or not isinstance(seconds, Real):
        raise InvalidTypeError(f"{use}: expected a number of seconds or None, got {seconds!r:.80}").here()
    value = float(seconds)
    if not (value > 0 and math.isfinite(value)):
        remedy = "; use None for no limit" if value > 0 or math.isnan(value) else ""
        raise InvalidArgumentError(
            f"{use}: expected a positive, finite number of seconds or None, got {seconds!r}{remedy}"
        ).here()
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
        earliest = Deadline(self._seconds).earlier(outer)
        _current.set(_InForce(Interruption(earliest, tokens, before)))
        return earliest

    def __exit__(self, *error: object) -> None:
        if self._seconds is not None:
            enter(self._before)


# CancellationToken: lets one thread ask others to stop waiting.


class CancellationToken:
    """A request to stop: calls that wait inside ``with token:`` raise CancelledError once :meth:`cancel` is called.

    A token may be in force in any number of threads and tasks at once. Work that does not wait continues, unless it
    checks :attr:`cancelled`.

    Args:
      parent: a token whose cancellation also cancels this one.

    Raises:
      InvalidTypeError: ``parent`` is not a token.

    Example:
      >>> import graphc as gx
      >>> token = gx.CancellationToken()
      >>> token.cancel("no longer needed")
      True
      >>> token.cancelled, token.reason
      (True, 'no longer needed')
    """

    def __init__(self, parent: CancellationToken | None = None) -> None:
        self._condition = threading.Condition()
        self._cancelled = False
        self._reason = ""
        self._callbacks: dict[object, tuple[Callable[[], None], Callable[[], None]]] = {}
        outer: Any = parent
        if not isinstance(outer, CancellationToken | None):
            raise InvalidTypeError(
                f"gx.CancellationToken: expected a token or None as parent, got {outer!r:.60}"
            ).here()
        # The parent is checked on access; it refers to this token only while this token has callbacks.
        self._parent = parent

    @property
    def cancelled(self) -> bool:
        """True if the token is cancelled."""
        parent = self._parent
        return self._cancelled or (parent is not None and parent.cancelled)

    @property
    def reason(self) -> str:
        """The reason given at the cancellation."""
        parent = self._parent
        return self._reason if self._cancelled or parent is None else parent.reason

    def cancel(self, reason: str = "") -> bool:
        """Cancels the token and runs the registered callbacks; only the first call has an effect.

        Args:
          reason: the reason, for messages.

        Returns:
          True if this call cancelled the token.
        """
        return not self.cancelled and self._end(reason)

    def _end(self, reason: str) -> bool:
        with self._condition:
            if self._cancelled:
                return False
            self._reason, self._cancelled = reason, True
            callbacks = list(self._callbacks.values())
            self._callbacks.clear()
            self._condition.notify_all()
        with ExitStack() as stack:  # runs every callback even if another raises
            for callback, leave in reversed(callbacks):
                stack.callback(callback)
                leave()
        return True

    def _follow(self) -> None:
        parent = self._parent
        if parent is not None:
            self._end(parent.reason)

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Registers a function for the cancelling thread to call; calls it at once if the token is already cancelled.

        Args:
          callback: the function, which must not wait.

        Returns:
          A function that removes the callback.
        """
        key, parent = object(), self._parent
        leave = _nothing if parent is None else parent.on_cancel(self._follow)
        with self._condition:
            if not self._cancelled:
                self._callbacks[key] = callback, leave
                return partial(self._forget, key)
        leave()
        callback()
        return _nothing

    def _forget(self, key: object) -> None:
        _, leave = self._callbacks.pop(key, (None, _nothing))
        leave()

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the token is cancelled, at most ``timeout`` seconds; returns True if it is cancelled."""
        forget = self.on_cancel(_nothing)  # so that the parent also wakes it
        try:
            with self._condition:
                return self._condition.wait_for(lambda: self._cancelled, timeout)
        finally:
            forget()

    def close(self) -> None:
        """Detaches the token from its parent, whose later cancellation has no effect; the token itself stays usable."""
        if self.cancelled:
            self._follow()
        with self._condition:
            self._parent = None
            leaves = [leave for _, leave in self._callbacks.values()]
        for leave in leaves:
            leave()

    def __enter__(self) -> Self:
        before = interruption()
        deadline, tokens = (None, ()) if before is None else (before.deadline, before.tokens)
        enter(Interruption(deadline, (*tokens, self), before))
        return self

    def __exit__(self, *exception: object) -> None:
        current = interruption()
        if current is None or current.tokens[-1:] != (self,):
            raise InternalError("the scopes of cancellation tokens were not closed in the order in which they opened")
        enter(current.outer)

    def __repr__(self) -> str:
        state = f"cancelled: {self._reason}" if self._cancelled else "not cancelled"
        return f"<CancellationToken, {state}>"


def _nothing() -> None:
    pass
