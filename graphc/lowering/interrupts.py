"""Ctrl-C while a program runs that takes Variables as its own."""

from __future__ import annotations

import signal
import threading
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

from graphc.core import Variable

__all__ = ["interrupts_held"]


@contextmanager
def interrupts_held(variables: Sequence[Variable]) -> Generator[None]:
    """Ctrl-C waits for the end of the scope as long as a variable has no value.

    That is while its old one was donated and the new one has not been put in place, as when JAX calls a program for the
    first time: then Python code of its own comes between the two, where an exception would lose the new value.

    Args:
      variables: those that the program writes.
    """
    handler: Any = signal.getsignal(signal.SIGINT)
    if not variables or not callable(handler) or threading.current_thread() is not threading.main_thread():
        yield
        return
    held: list[tuple[int, Any]] = []

    def hold(number: int, frame: Any) -> None:
        if any(variable.raw.is_deleted() for variable in variables):
            held.append((number, frame))
        else:
            handler(number, frame)

    signal.signal(signal.SIGINT, hold)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if held:
            handler(*held[0])
