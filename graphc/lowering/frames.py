"""Frames that lie at lines of the user's, for those who look at the stack: JAX's metadata, tracebacks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, NoReturn

from graphc.base import Location

__all__ = ["call_at", "raise_at"]


_CALL = "return target(*args)"


@lru_cache(maxsize=4096)
def _frame_at(location: Location) -> Callable[..., Any]:
    """Returns a function whose only frame lies at the user's line, so that JAX takes it for the source of an op."""
    return FunctionType(_code_at(location, "target, *args", _CALL), {})


@lru_cache(maxsize=4096)
def _code_at(location: Location, parameters: str, body: str) -> CodeType:
    code = compile(f"def f({parameters}): {body}", "<frame>", "exec", dont_inherit=True)
    inner = next(constant for constant in code.co_consts if hasattr(constant, "co_code"))
    file, name = _writable(location.file), _writable(location.function)
    return inner.replace(
        co_filename=file, co_firstlineno=location.line, co_name=name, co_qualname=name, co_linetable=_no_columns(inner)
    )


def _no_columns(code: CodeType) -> bytes:
    """Gives a table that puts all instructions on the first line, without columns: tracebacks show no carets below it.

    Each entry is of kind 13, for up to eight instructions, and moves on by no line (``locations.md`` of CPython).
    """
    units = len(code.co_code) // 2
    return b"".join(bytes((0x80 | 13 << 3 | min(8, units - start) - 1, 0)) for start in range(0, units, 8))


def _writable(text: str) -> str:
    """Returns a text that XLA can take: Python's paths may hold bytes that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def call_at(location: Location | None, target: Callable[..., Any], *args: Any) -> Any:
    """``target(*args)``, called from a frame that lies at a line of the user's."""
    if location is None:
        return target(*args)
    tracer = sys.gettrace()
    if tracer is None:
        return _frame_at(location)(target, *args)

    # A debugger would stop in the frame at a breakpoint that it has reached before, when the line itself ran.
    def seen(*args: Any) -> Any:
        sys.settrace(tracer)
        try:
            return target(*args)
        finally:
            sys.settrace(None)

    sys.settrace(None)
    try:
        return _frame_at(location)(seen, *args)
    finally:
        sys.settrace(tracer)


def raise_at(locations: Sequence[Location], error: BaseException) -> NoReturn:
    """Raises an exception whose traceback ends with lines of the user's.

    Args:
      locations: where the functions were called, the outermost first, and last where the exception is raised.
      error: the exception.
    """
    if not locations:
        raise error
    *calls, last = locations
    # Without parameters, which pytest would show as the arguments of the user's function.
    frame = FunctionType(_code_at(last, "", "raise error"), {"error": error})
    for location in reversed(calls):
        frame = FunctionType(_code_at(location, "", "return call()"), {"call": frame})
    raise frame()
