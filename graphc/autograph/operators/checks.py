"""``assert`` and ``raise``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from graphc.base.errors import UnimplementedError
from graphc.core import Region, SymbolicTensor, context

__all__ = ["assert_stmt", "raise_stmt"]


def assert_stmt(condition: Any, message: Callable[[], Any] | None) -> None:
    """``assert condition, message``; refused on a tensor whose value is not known while tracing."""
    if isinstance(condition, SymbolicTensor):
        error = UnimplementedError(
            "assert on a tensor is not compiled yet; return the condition and check it outside, or test a Python value"
        )
        raise condition.trace.refuse(error)
    if not condition:
        raise AssertionError(*(() if message is None else (message(),)))


def raise_stmt(error: Callable[[], Any], cause: Callable[[], Any] | None) -> NoReturn:
    """``raise error from cause``; refused where it would depend on tensor values."""
    trace = context.trace
    if isinstance(trace, Region):
        trace.side_effect("a raise statement")
    if cause is None:
        raise error()
    raise error() from cause()
