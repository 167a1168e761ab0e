"""Watches the system calls of code that is not converted while it runs, since nothing else reports them.

Python's profiler is told of each call. Those that code of the user's makes of functions that give something else at
another time, such as ``time.time``, are reported when the code has run. Where another profiler is at work, it is left
alone, and nothing is seen.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, cast

from graphc.compiler.autograph.constructs.purity.impure import is_reported, public_name
from graphc.compiler.autograph.values.python_object import found_on
from graphc.compiler.base import is_installed_file, is_library_file
from graphc.compiler.tracing import context

__all__ = ["is_written_by_user", "witnessed"]


def witnessed(function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Calls a function that is not converted, and says what it, and what it calls of the user's, asked of the world."""
    trace = context.trace
    # A thread has one profile function: ours would end the user's profiling.
    if trace is None or sys.getprofile() is not None:
        return function(*args, **kwargs)
    seen: dict[str, None] = {}
    sys.setprofile(functools.partial(_see, seen))
    try:
        return function(*args, **kwargs)
    finally:
        sys.setprofile(None)
        for what in seen:
            trace.read_once(what)


def is_written_by_user(values: Iterable[Any]) -> bool:
    """Returns True if one of these is a function of the user's."""
    inside = (getattr(value, "__func__", value) for value in values)
    return any(
        type(value) is types.FunctionType and not is_library_file(value.__code__.co_filename) for value in inside
    )


def _see(seen: dict[str, None], frame: types.FrameType, event: str, called: Any) -> None:
    if event == "c_call":
        caller, function = frame, called
    elif event == "call":
        caller, function = frame.f_back, None
    else:
        return
    if caller is None or is_library_file(caller.f_code.co_filename) or caller.f_code.co_filename.startswith("<"):
        return
    # Last, since a look-up takes longest, and most calls are a library's own.
    if event == "call":
        function = _function_of(frame)
    if function is not None and is_reported(function):
        seen[f"the call of {public_name(function)} in {caller.f_code.co_name}"] = None


def _function_of(frame: types.FrameType) -> Any:
    """Returns the function or bound method of a library that a frame runs; None for another, or one of nobody."""
    code = frame.f_code
    if not is_installed_file(code.co_filename) or code.co_name == "__get__":  # attributes are guarded
        return None
    # By name, since a frame knows its code, but not its function.
    found = frame.f_globals.get(code.co_name)
    if getattr(found, "__code__", None) is code or not code.co_argcount:
        return found if getattr(found, "__code__", None) is code else None
    owner = frame.f_locals.get(code.co_varnames[0])
    method = found_on(cast("type[Any]", type(owner)), code.co_name)
    return types.MethodType(method, owner) if getattr(method, "__code__", None) is code else None
