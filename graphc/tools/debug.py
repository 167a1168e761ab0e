"""``gx.debug``: the first op that makes a NaN, found for a part of the program."""

from __future__ import annotations

from contextlib import ContextDecorator
from threading import Lock
from types import TracebackType
from typing import Any

from graphc.compiler.base import config, hint_missing

__all__ = ["nan"]


class nan(ContextDecorator):  # noqa: N801  it is used as a function is
    """Raises an error at the first op that makes a NaN or an infinity of inputs without any, inside a ``with`` block.

    The error names the op, its line, and in a compiled loop the iteration; for a gradient it names the line of the step
    forward. It works in eager code and in compiled functions, which are compiled anew with the checks; those that were
    compiled without are used again after the block. ``gx.config.check_numerics = True`` switches the same checks on
    for good. As a decorator it holds for each call of a function. All threads are checked while a block of any is open.

    Raises:
      NumericsError: an op has made one.

    Example:
      >>> import graphc as gx
      >>> @gx.function
      ... def logs(x):
      ...     for _ in range(9):
      ...         x = gx.log(x - 1.0)
      ...     return x
      >>> with gx.debug.nan():
      ...     try:
      ...         logs(gx.asarray(9.0))
      ...     except gx.errors.NumericsError as error:
      ...         print(str(error)[:39], "iteration 3" in str(error))
      log (node 'log') made 1 NaN of the 1 el True
    """

    _lock = Lock()
    _open = 0
    _before = False

    def __enter__(self) -> None:
        with nan._lock:
            if not nan._open:
                nan._before = config.check_numerics
            nan._open += 1
            config.check_numerics = True

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        del kind, error, traceback
        with nan._lock:
            nan._open -= 1
            if not nan._open:
                config.check_numerics = nan._before

    def _recreate_cm(self) -> Any:
        return type(self)()


hint_missing(globals(), "gx.debug")
