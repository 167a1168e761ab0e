"""What Python consumes by itself: what is unpacked, formatted, hashed or used as an index.

These constructs stay as they are, and so do the special methods that they call: nobody converts or watches those. One
of the user's is therefore reported as a side effect where the code does not run once for each time that it is meant to.
"""

from __future__ import annotations

import types
from collections.abc import Iterable
from typing import Any, cast

from graphc.autograph.operators.watch import check_iterator, found_on, is_library, operator_method
from graphc.core import Region, context

__all__ = [
    "FORMATTED",
    "HASHED",
    "INDEXED",
    "check_arguments",
    "check_index",
    "check_items",
    "check_methods",
    "formatted",
    "hashed",
]
__all__ += ["items", "rows"]

FORMATTED = ("__format__", "__str__", "__repr__")
"""What formatting a value may call."""
HASHED = ("__hash__", "__eq__")
"""What a key of a dictionary or an element of a set is asked."""
INDEXED = ("__index__",)
"""What a number of items, or the place of one, is asked."""

_ITERATED = ("__iter__", "__length_hint__")
_SIZED = ("__len__", "__getitem__")


_ITERATING: frozenset[Any] = frozenset(
    (all, any, dict, enumerate, filter, frozenset, list, map, max, min, set, sorted, sum, tuple, zip, reversed, str)
)
_CALLED: dict[Any, tuple[str, ...]] = {
    **dict.fromkeys((format, str), FORMATTED),
    **dict.fromkeys((dict, frozenset, set), HASHED),
    complex: ("__complex__", "__float__", "__index__"),
    divmod: ("__divmod__", "__rdivmod__"),
    list: ("__eq__", "__index__"),
    pow: ("__pow__", "__rpow__"),
    reversed: ("__reversed__", *_SIZED),
    round: ("__round__",),
    tuple: ("__eq__", "__index__"),
}


def check_methods(value: Any, names: Iterable[str]) -> None:
    """Reports that Python is about to call a method of the user's.

    Args:
      value: the object; a tuple stands for what is in it.
      names: the methods it may be asked for.
    """
    region = context.trace
    if not isinstance(region, Region):
        return
    if type(value) is tuple:
        for part in cast("tuple[Any, ...]", value):
            check_methods(part, names)
        return
    for name in names:
        method = operator_method(value, name)
        if method is not None:
            region.side_effect(f"the call of {method.__qualname__}")


def check_items(value: Any) -> None:
    """Reports that Python is about to iterate over an object of the user's by methods of the user's."""
    if not isinstance(context.trace, Region) or type(value) is tuple:
        return
    check_methods(value, _ITERATED)
    iterate = found_on(cast("type[Any]", type(value)), "__iter__")
    # Without __iter__, and in that of an abstract base class, the items are asked for one by one.
    if iterate is None or (isinstance(iterate, types.FunctionType) and is_library(iterate.__code__.co_filename)):
        check_methods(value, _SIZED)


def check_index(owner: Any, index: Any) -> None:
    """Reports that ``owner[index]``, of a builtin container or an array, is about to call a method of the index."""
    if not isinstance(context.trace, Region):
        return
    if isinstance(owner, dict):
        check_methods(index, HASHED)
        return
    for part in cast("tuple[Any, ...]", index) if type(index) is tuple else (index,):
        check_methods((part.start, part.stop, part.step) if type(part) is slice else part, INDEXED)


def check_arguments(function: Any, args: tuple[Any, ...]) -> None:
    """Reports that a builtin is about to call methods of its arguments."""
    if not isinstance(context.trace, Region) or not isinstance(function, type | types.BuiltinFunctionType):
        return
    owner = getattr(function, "__self__", None)
    iterates = function in _ITERATING if isinstance(owner, types.ModuleType | None) else type(owner) in _ITERATING
    names = _CALLED.get(function if isinstance(owner, types.ModuleType | None) else type(owner), ())
    for value in args:
        check_methods(value, names)
        if iterates:
            check_items(value)
            check_methods(value, _SIZED[:1])


def items(value: Any) -> Any:
    """The value, which is unpacked or iterated over where the call stands."""
    if isinstance(context.trace, Region):
        check_iterator(value)
        check_items(value)
    return value


def rows(value: Any) -> Any:
    """The value, which is iterated over where the call stands, and each of its items unpacked."""
    if not isinstance(context.trace, Region):
        return value
    check_iterator(value)
    check_items(value)
    return map(items, value)


def formatted(value: Any) -> Any:
    """The value, which is formatted where the call stands."""
    check_methods(value, FORMATTED)
    return value


def hashed(value: Any) -> Any:
    """The value, which becomes a key of a dictionary or an element of a set where the call stands."""
    check_methods(value, HASHED)
    return value
