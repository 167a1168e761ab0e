"""Deferred Ctrl-C: interrupts wait while code runs that must complete, or that cannot propagate them."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

__all__ = ["HeldInterrupts", "held_interrupts", "interrupts_held"]


class HeldInterrupts:
    """The handler that defers Ctrl-C inside a scope of :func:`interrupts_held`.

    Attributes:
      open: whether interrupts pass through now, because the scope runs the user's Python code.
    """

    __slots__ = ("_handler", "_held", "_must_wait", "open")

    def __init__(self, handler: Any = None, must_wait: Callable[[], bool] | None = None) -> None:
        self.open = False
        self._handler = handler
        self._must_wait = must_wait
        self._held: list[tuple[int, Any]] = []

    def __call__(self, number: int, frame: Any) -> None:
        """Handles the signal."""
        if not self.open and (self._must_wait is None or self._must_wait()):
            self._held.append((number, frame))
        else:
            self._handler(number, frame)

    def deliver(self) -> None:
        """Passes the deferred interrupts to the previous handler."""
        if self._held:
            held = self._held.pop()
            self._held.clear()
            self._handler(*held)


class _Current(threading.local):
    """The thread's current handler of deferred interrupts."""

    held = HeldInterrupts()


_current = _Current()


def held_interrupts() -> HeldInterrupts:
    """Returns the handler that defers Ctrl-C here, or an idle one if none does.

    Python code called from places that Ctrl-C cannot leave sets :attr:`HeldInterrupts.open` around interruptible code
    by plain assignments: no signal is handled between an assignment and the ``try`` or ``except`` next to it.
    """
    return _current.held


@contextmanager
def interrupts_held(must_wait: Callable[[], bool] | None = None) -> Generator[None]:
    """Defers Ctrl-C to the end of the scope, or until the scope calls the user's Python code.

    Args:
      must_wait: called at Ctrl-C; returns True to defer it; None always defers.
    """
    handler: Any = signal.getsignal(signal.SIGINT)
    if not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    before, held = _current.held, HeldInterrupts(handler, must_wait)
    _current.held = held
    signal.signal(signal.SIGINT, held)
    try:
        yield
    finally:
        if signal.getsignal(signal.SIGINT) is held:  # unless code inside installed a handler
            signal.signal(signal.SIGINT, handler)
        _current.held = before
        held.deliver()
