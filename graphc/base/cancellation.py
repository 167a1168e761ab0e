"""CancellationToken: one thread asks others to stop waiting."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, Self

from graphc.base.deadlines import Interruption, enter, interruption
from graphc.base.errors import InternalError, InvalidTypeError, at
from graphc.base.frames import user_location

__all__ = ["CancellationToken"]


class CancellationToken:
    """Asks work to stop: what waits inside ``with token:`` raises CancelledError once :meth:`cancel` is called.

    One token may be in force in any number of threads and tasks at once. Work that does not wait goes on, unless it
    looks at :attr:`cancelled`.

    Args:
      parent: a token whose cancellation is this one's, too.

    Raises:
      InvalidTypeError: the parent is no token.

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
        self._callbacks: dict[object, Callable[[], None]] = {}
        self._leave_parent: Callable[[], None] = lambda: None
        given: Any = parent
        if not isinstance(given, CancellationToken | None):
            error = InvalidTypeError(f"gx.CancellationToken: expected a token or None as parent, got {given!r:.60}")
            raise at(error, user_location())
        if parent is not None:
            self._leave_parent = parent.on_cancel(lambda: self._follow(parent))

    def _follow(self, parent: CancellationToken) -> None:
        self.cancel(parent.reason)

    @property
    def cancelled(self) -> bool:
        """Whether it is cancelled."""
        return self._cancelled

    @property
    def reason(self) -> str:
        """What was said when it was cancelled."""
        return self._reason

    def cancel(self, reason: str = "") -> bool:
        """Cancels it, and calls what was registered; the first call counts.

        Args:
          reason: for messages.

        Returns:
          Whether this call has cancelled it.
        """
        with self._condition:
            if self._cancelled:
                return False
            self._reason, self._cancelled = reason, True
            callbacks = list(self._callbacks.values())
            self._callbacks.clear()
            self._condition.notify_all()
        with ExitStack() as stack:  # of which each is called, also where another one raises
            for callback in reversed(callbacks):
                stack.callback(callback)
        return True

    def on_cancel(self, callback: Callable[[], None]) -> Callable[[], None]:
        """Has a function called when the token is cancelled, by the thread that does; at once if it is already.

        Args:
          callback: must not wait.

        Returns:
          A function that takes the callback back.
        """
        key = object()
        with self._condition:
            if not self._cancelled:
                self._callbacks[key] = callback
                return partial(self._forget, key)
        callback()
        return lambda: None

    def _forget(self, key: object) -> None:
        self._callbacks.pop(key, None)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until it is cancelled, or for so many seconds; returns whether it is."""
        with self._condition:
            return self._condition.wait_for(lambda: self._cancelled, timeout)

    def close(self) -> None:
        """Lets go of the parent, for a token that lives shorter than its parent; it can still be cancelled."""
        self._leave_parent()

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
