"""Whether decorated functions run as plain Python."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from graphc.base import set_detour

__all__ = ["Mode", "functions_run_eagerly", "run_functions_eagerly"]


class Mode:
    """Whether functions run eagerly, for debugging."""

    eager = False


def run_functions_eagerly(run_eagerly: bool) -> None:
    """Makes decorated functions run as plain Python, for debugging (TensorFlow's ``run_functions_eagerly``).

    Args:
      run_eagerly: whether to.
    """
    _set(run_eagerly)


@contextmanager
def functions_run_eagerly() -> Generator[None]:
    """Decorated functions run as plain Python inside the scope."""
    saved = Mode.eager
    _set(True)
    try:
        yield
    finally:
        _set(saved)


def _set(eager: bool) -> None:
    Mode.eager = eager
    set_detour("eager", "functions run eagerly", active=eager)
