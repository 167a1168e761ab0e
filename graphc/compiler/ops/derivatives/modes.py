"""The differentiation mode of the current JAX trace."""

from __future__ import annotations

import threading
from collections.abc import Generator
from contextlib import AbstractContextManager, contextmanager

__all__ = ["current_mode", "forward_mode", "is_forward", "is_repeated", "is_reverse", "repeated", "reverse_mode"]


class _Mode(threading.local):
    """The innermost mode; empty if nothing is differentiated."""

    name: str = ""
    repeated: bool = False


_mode = _Mode()


def current_mode() -> str:
    """Returns ``"forward"``, ``"reverse"``, or an empty string; traces of one mode are invalid in another."""
    return _mode.name


def is_forward() -> bool:
    """Returns True if JAX pushes tangents through the current trace, without pulling back cotangents."""
    return _mode.name == "forward"


def is_reverse() -> bool:
    """Returns True if cotangents will be pulled back through the current trace."""
    return _mode.name == "reverse"


@contextmanager
def _scope(name: str) -> Generator[None]:
    before, _mode.name = _mode.name, name
    try:
        yield
    finally:
        _mode.name = before


def forward_mode() -> AbstractContextManager[None]:
    """Returns the scope for a call of ``jax.jvp``."""
    return _scope("forward")


def reverse_mode() -> AbstractContextManager[None]:
    """Returns the scope for a call of ``jax.vjp``."""
    return _scope("reverse")


def is_repeated() -> bool:
    """Returns True inside :func:`repeated`."""
    return _mode.repeated


@contextmanager
def repeated() -> Generator[None]:
    """Marks the trace of a body that JAX runs many times at once, or whose residuals it stores for each iteration."""
    before, _mode.repeated = _mode.repeated, True
    try:
        yield
    finally:
        _mode.repeated = before
