"""Numbers of programs' calls, by which their host calls find the caller's context, or that the call is abandoned."""

from __future__ import annotations

import contextvars
import itertools
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from graphc.compiler.base import Subject, note_progress
from graphc.compiler.ir import TensorType

__all__ = ["call_number", "numbered", "numbered_calls", "waited_for", "with_calls"]

_GIVEN_UP = np.int32(np.iinfo(np.int32).min)
"""The status of an abandoned call."""


class _Numbering(threading.local):
    """JAX's number for the call of the program that it is tracing; None for a program without numbers."""

    number: Any = None


_numbering = _Numbering()
_numbers = itertools.count(1)
_calls: dict[int, tuple[contextvars.Context, Callable[[], bool]]] = {}
_running: dict[int, list[str]] = {}
"""The titles of the functions that each numbered call is running."""


def call_number() -> Any:
    """Returns JAX's number for the call of the program that it is tracing; None for a program without numbers."""
    return _numbering.number


@contextmanager
def numbered_calls(number: Any) -> Generator[None]:
    """Makes JAX trace a program, inside the scope, that takes the number of its call as an input.

    Its host calls run in the caller's context, with the deadline in force there, and no longer run once the call is
    abandoned.
    """
    before, _numbering.number = _numbering.number, number
    try:
        yield
    finally:
        _numbering.number = before


@contextmanager
def waited_for(is_given_up: Callable[[], bool] = lambda: False) -> Generator[int]:
    """Registers a wait for a numbered call while the scope is open.

    Args:
      is_given_up: returns True if the call is abandoned although the scope is still open.

    Yields:
      The call's number.
    """
    number = next(_numbers)
    _calls[number] = contextvars.copy_context(), is_given_up
    _running[number] = []
    try:
        yield number
    finally:
        del _calls[number], _running[number]


def with_calls(subject: Subject, number: int) -> str:
    """Returns the subject of a wait, with the Python functions that the numbered call is running."""
    text, titles = subject if isinstance(subject, str) else subject(), list(_running.get(number, ()))
    return f"{text}, which calls {', '.join(titles)}" if titles else text


def numbered(title: str, function: Callable[..., Any], types: Sequence[TensorType]) -> Callable[..., Any]:
    """Returns a host function that takes the call number first."""

    def call(number: Any, *values: Any) -> Any:
        context, is_given_up = _calls.get(int(number), (None, None))
        if context is None or is_given_up is None or is_given_up():
            return (_GIVEN_UP, *[np.zeros(type.shape, type.dtype) for type in types[1:]])

        running = _running.get(int(number), [])

        def run() -> Any:
            note_progress()
            running.append(title)
            results = function(*values)
            running.remove(title)
            note_progress()
            return results

        try:
            return context.copy().run(run)  # a context cannot be entered by several threads at once
        finally:
            del context  # an error keeps this frame alive, which must not keep the deadline in force

    return call
