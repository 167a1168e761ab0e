"""Stack frames at the user's lines, for readers of the stack: JAX's metadata and tracebacks."""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from types import CodeType, FunctionType
from typing import Any, NoReturn

from graphc.compiler.base import Location

__all__ = ["call_at", "raise_at"]


_CALL = "return target(*args)"

# C code that imports a module, as NumPy does when it first needs one, looks for the importer in the calling frame.
_GLOBALS = {"__builtins__": builtins}


@lru_cache(maxsize=4096)
def _frame_at(location: Location) -> Callable[..., Any]:
    """Returns a function whose only frame is at the user's line, which JAX takes for the source of an op."""
    return FunctionType(_code_at(location, "target, *args", _CALL), dict(_GLOBALS))


@lru_cache(maxsize=4096)
def _code_at(location: Location, parameters: str, body: str) -> CodeType:
    code = compile(f"def f({parameters}): {body}", "<frame>", "exec", dont_inherit=True)
    inner = next(constant for constant in code.co_consts if hasattr(constant, "co_code"))
    file, name = _writable(location.file), _writable(location.function)
    return inner.replace(
        co_filename=file, co_firstlineno=location.line, co_name=name, co_qualname=name, co_linetable=_no_columns(inner)
    )


def _no_columns(code: CodeType) -> bytes:
    """Returns a table that maps all instructions to the first line, without columns: tracebacks show no carets.

    Each entry has kind 13, covers up to eight instructions, and advances by no line (CPython's ``locations.md``).
    """
    units = len(code.co_code) // 2
    return b"".join(bytes((0x80 | 13 << 3 | min(8, units - start) - 1, 0)) for start in range(0, units, 8))


def _writable(text: str) -> str:
    """Returns a text that XLA accepts: Python's paths may contain bytes that are not UTF-8."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")


def call_at(location: Location | None, target: Callable[..., Any], *args: Any) -> Any:
    """Calls ``target(*args)`` from a frame at a line of the user's code."""
    if location is None:
        return target(*args)
    tracer = sys.gettrace()
    if tracer is None:
        return _frame_at(location)(target, *args)

    # A debugger would stop in this frame at a breakpoint that it already reached when the line itself ran.
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
    """Raises an exception whose traceback ends with lines of the user's code.

    Args:
      locations: the lines of the calls, the outermost first, and last the line of the raise.
      error: the exception.
    """
    if not locations:
        raise error
    *calls, last = locations
    # No parameters: pytest would show them as arguments of the user's function.
    frame = FunctionType(_code_at(last, "", "raise error"), {**_GLOBALS, "error": error})
    for location in reversed(calls):
        frame = FunctionType(_code_at(location, "", "return call()"), {**_GLOBALS, "call": frame})
    raise frame()
