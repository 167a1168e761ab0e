"""Calls of builtin functions and of methods of builtin types, with a note of what they change."""

from __future__ import annotations

import functools
import re
import types
from collections.abc import Callable
from typing import Any, cast

from graphc.compiler.autograph.constructs.calls.attributes import getattr_in_trace, hasattr_in_trace, listing
from graphc.compiler.autograph.constructs.calls.guarded import (
    PURE_BUILTINS,
    class_of,
    guarded,
    is_graphc_class,
    telling,
)
from graphc.compiler.autograph.constructs.overrides import OVERRIDES
from graphc.compiler.autograph.constructs.purity.class_tests import CLASS_TESTS, tested
from graphc.compiler.autograph.constructs.purity.opaque import (
    check_read,
    is_pure_module,
    public_name,
    report_call,
)
from graphc.compiler.autograph.constructs.purity.reading import is_library
from graphc.compiler.autograph.constructs.storage.cells import ContentsCell
from graphc.compiler.autograph.constructs.storage.unfollowed import note_change
from graphc.compiler.autograph.values.choice import changing
from graphc.compiler.autograph.values.course_number import CourseNumber, by_trip
from graphc.compiler.autograph.values.index import LoopIndex
from graphc.compiler.autograph.values.protocol import answer
from graphc.compiler.core import ArrayMethods
from graphc.compiler.tracing import context

__all__ = ["CONTENT_METHODS", "builtin_call"]

_PURE_METHODS: dict[type[Any], set[str]] = {
    list: {"copy", "count", "index"},
    dict: {"copy", "get", "items", "keys", "values"},
    set: {"copy", "difference", "intersection", "issubset", "issuperset", "isdisjoint", "union"},
}
CONTENT_METHODS = frozenset(
    ("append", "clear", "extend", "insert", "pop", "popitem", "remove", "reverse", "setdefault", "sort", "update")
)
_NUMERIC = (abs, bool, float, int, max, min, pow, round)
"""Functions of numbers that loops' indices have their own way with."""
_IMMUTABLE = (str, bytes, int, float, complex, tuple, frozenset, range, re.Match, re.Pattern, type(None))


def builtin_call(function: Any) -> Any:
    """Returns what to call in place of a builtin function, or of a method of a builtin type."""
    if function is len:
        return _len
    if (replaced := _replaced(function)) is not None:
        return tested(function, replaced) if function in CLASS_TESTS else replaced
    if function in (getattr, hasattr):
        return getattr_in_trace if function is getattr else hasattr_in_trace
    if function in (vars, dir):
        return functools.partial(listing, function)
    if function in PURE_BUILTINS:
        return tested(function, guarded(function)) if function in CLASS_TESTS else guarded(function)
    owner = getattr(function, "__self__", None)
    # The __self__ of a function in C is its module; a class method makes an object, as a function does.
    if owner is None or isinstance(owner, types.ModuleType) or (isinstance(owner, type) and is_library(owner)):
        function = report_call(function, f"the call of {function.__qualname__}")
        return telling(function, guarded(function))
    kind = class_of(owner)
    if isinstance(owner, BaseException) and function.__name__ == "__init__":
        return function  # called by the user's own, on a new exception
    native = _method(function, owner, kind, pure=_is_pure(function, owner, kind))
    return _list_method(native, cast("list[Any]", owner), function.__name__) if isinstance(owner, list) else native


def _is_pure(function: Any, owner: Any, kind: type[Any]) -> bool:
    """Returns True if a method of a builtin type changes nothing."""
    if isinstance(owner, (*_IMMUTABLE, ArrayMethods)) or is_graphc_class(kind):
        return True
    if any(isinstance(owner, base) and function.__name__ in names for base, names in _PURE_METHODS.items()):
        return True
    return kind.__module__ != "builtins" and is_pure_module(kind.__module__)


def _method(function: Any, owner: Any, kind: type[Any], *, pure: bool) -> Callable[..., Any]:
    """Returns a method of a builtin type, with a note of what it changes."""
    if kind is list and function.__name__ == "sort":
        return functools.partial(OVERRIDES.functions[list.sort], function, owner)
    if not pure and isinstance(owner, list | dict) and function.__name__ in CONTENT_METHODS:
        return _changing_contents(function, cast("list[Any]", owner))
    if not pure:
        what = f"the call of {public_name(function)}"
        function = report_call(function, what)
        note_change(owner, what)
        return changing(guarded(function), owner)
    return guarded(function)


def _replaced(function: Any) -> Callable[..., Any] | None:
    """Returns the function that stands for a builtin, or for a method of a string, which may be given late texts."""
    owner = getattr(function, "__self__", None)
    if type(owner) is not str:
        replaced = OVERRIDES.functions.get(function)
        return None if replaced is None else _of_numbers(function, functools.partial(replaced, guarded(function)))
    replaced = OVERRIDES.functions.get(getattr(str, function.__name__))
    return None if replaced is None else functools.partial(replaced, guarded(function), owner)


def _of_numbers(function: Any, replaced: Callable[..., Any]) -> Callable[..., Any]:
    """Returns what stands for a function; one of numbers that Python knows is left to Python."""
    if function not in _NUMERIC and getattr(function, "__module__", "") != "math":
        return replaced

    def call(*args: Any, **kwargs: Any) -> Any:
        known = CourseNumber if function in _NUMERIC else CourseNumber | LoopIndex
        found = NotImplemented
        if not kwargs and any(isinstance(value, known) for value in args):
            found = by_trip(function, args)
        return replaced(*args, **kwargs) if found is NotImplemented else found

    return call


def _list_method(native: Callable[..., Any], owner: list[Any], name: str) -> Callable[..., Any]:
    """Returns a method of a list, which has another one while its length is known at run time only.

    Which it is, is decided when it is called: its arguments may have changed the list by then.
    """

    def method(*args: Any, **kwargs: Any) -> Any:
        found = answer(name, owner, *args, **kwargs)
        return native(*args, **kwargs) if found is NotImplemented else found

    return method


def _len(value: Any) -> Any:
    """``len``; of a list whose length is known at run time only, a number that depends on tensors."""
    check_read(value)
    found = answer("__len__", value)
    return OVERRIDES.functions[len](guarded(len), value) if found is NotImplemented else found


def _changing_contents(function: Any, owner: list[Any] | dict[Any, Any]) -> Any:
    """Returns a method that changes what a list or dict holds, and nothing else."""
    watched = guarded(function)

    def noted(*args: Any, **kwargs: Any) -> Any:
        what = f"the call of {type(owner).__name__}.{function.__name__}"
        if context.trace is not None:
            context.trace.writing(ContentsCell(owner, what))
            index = args[0] if len(args) == 1 and isinstance(args[0], LoopIndex) else None
            if function.__name__ == "append" and index is not None and index.region is context.trace:
                return function(*args)  # which keeps the index of this loop without a look at it
        return watched(*args, **kwargs)

    return noted
