"""CancellationToken: lets one thread ask others to stop waiting."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from typing import Any, Self

from graphc.compiler.base.deadlines import Interruption, enter, interruption
from graphc.compiler.base.errors import InternalError, InvalidTypeError, at
from graphc.compiler.base.frames import user_location

__all__ = ["CancellationToken"]


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
        given: Any = parent
        if not isinstance(given, CancellationToken | None):
            error = InvalidTypeError(f"gx.CancellationToken: expected a token or None as parent, got {given!r:.60}")
            raise at(error, user_location())
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
