"""The switch that makes decorated functions run as plain Python."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from graphc.compiler.base import set_slow_path_reason

__all__ = ["Mode", "functions_run_eagerly", "run_functions_eagerly"]


class Mode:
    """The global mode: True makes functions run eagerly, for debugging."""

    eager = False


class _Restoring:
    """The result of :func:`run_functions_eagerly`, which restores the mode at the end of a ``with`` block."""

    def __init__(self, before: bool) -> None:
        self._before = before

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _set(self._before)


def run_functions_eagerly(run_eagerly: bool) -> _Restoring:
    """Makes decorated functions run as plain Python, for debugging (TensorFlow's ``run_functions_eagerly``).

    The mode lasts until the next call, or until the end of a ``with`` block.

    Args:
      run_eagerly: True to run eagerly, False to run compiled programs.

    Example:
      >>> import graphc as gx
      >>> with gx.run_functions_eagerly(True):
      ...     result = gx.function(lambda x: x + 1)(gx.asarray(1))
    """
    before = Mode.eager
    _set(run_eagerly)
    return _Restoring(before)


@contextmanager
def functions_run_eagerly() -> Generator[None]:
    """Runs decorated functions as plain Python inside the scope."""
    saved = Mode.eager
    _set(True)
    try:
        yield
    finally:
        _set(saved)


def _set(eager: bool) -> None:
    Mode.eager = eager
    set_slow_path_reason("eager", "functions run eagerly", active=eager)
