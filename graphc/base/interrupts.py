"""Ctrl-C at the right moment: it waits while code runs that must not be left, or that cannot tell it on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

__all__ = ["HeldInterrupts", "held_interrupts", "interrupts_held"]


class HeldInterrupts:
    """What Ctrl-C waits for in a scope of :func:`interrupts_held`.

    Attributes:
      open: whether it does not wait now, since Python code of the user's runs that the scope has called.
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
        """Has the handler of before do what has waited."""
        if self._held:
            held = self._held.pop()
            self._held.clear()
            self._handler(*held)


class _Current(threading.local):
    """What holds Ctrl-C in this thread."""

    held = HeldInterrupts()


_current = _Current()


def held_interrupts() -> HeldInterrupts:
    """Returns what holds Ctrl-C here, or stands for it where nothing does.

    Python code that is called from where Ctrl-C cannot get out sets its :attr:`HeldInterrupts.open` around what may be
    interrupted, by assignments: no signal is handled between one and the ``try`` or ``except`` that it stands at.
    """
    return _current.held


@contextmanager
def interrupts_held(must_wait: Callable[[], bool] | None = None) -> Generator[None]:
    """Ctrl-C waits for the end of the scope, or until Python code of the user's is called in it.

    Args:
      must_wait: says, when Ctrl-C comes, whether it must; None for always.
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
        if signal.getsignal(signal.SIGINT) is held:  # and none that code which ran here has set
            signal.signal(signal.SIGINT, handler)
        _current.held = before
        held.deliver()
