"""The one list of special methods that builtins written in C call of what they are given.

Nobody converts such a call. What the methods of the user's read is followed all the same, and where code does not run
once for each time that it is meant to, their call is a side effect.
"""

from __future__ import annotations

import functools
import math
import operator
import types
from typing import Any, cast

__all__ = [
    "BY_NUMBER",
    "FORMATTED",
    "HASHED",
    "INDEXED",
    "ITERATED",
    "MAPPING",
    "SIZED",
    "asking",
    "called_by",
    "called_of",
]

Methods = tuple[str, ...]

FORMATTED: Methods = ("__format__", "__str__", "__repr__")
HASHED: Methods = ("__hash__", "__eq__")
"""The special methods that Python calls of a dictionary's key or a set's element."""
INDEXED: Methods = ("__index__",)
"""The special method that Python calls of a count or an index."""
ITERATED: Methods = ("__iter__", "__length_hint__")
MAPPING: Methods = ("keys", "__getitem__", "__iter__", "__len__")
SIZED: Methods = ("__len__",)
BY_NUMBER: Methods = (*SIZED, "__getitem__")
_ORDERED: Methods = ("__lt__", "__gt__", "__eq__")
_ITEMS: Methods = (*ITERATED, *BY_NUMBER, "__next__")
_TRUTH: Methods = ("__bool__", "__len__")
_FLOAT: Methods = ("__float__", "__index__")
_INT: Methods = ("__int__", *INDEXED, "__trunc__")

_BY_FUNCTION: dict[Any, Methods] = {
    abs: ("__abs__",),
    ascii: ("__repr__",),
    bin: INDEXED,
    bool: _TRUTH,
    bytearray: ("__bytes__", *INDEXED, *_ITEMS),
    bytes: ("__bytes__", *INDEXED, *_ITEMS),
    chr: INDEXED,
    complex: ("__complex__", *_FLOAT),
    dict: MAPPING,
    dir: ("__dir__",),
    divmod: ("__divmod__", "__rdivmod__"),
    float: _FLOAT,
    format: FORMATTED,
    frozenset: HASHED,
    functools.reduce: _ITEMS,
    hash: ("__hash__",),
    hex: INDEXED,
    int: _INT,
    iter: ("__call__", "__eq__", *_ITEMS),
    len: SIZED,
    math.ceil: ("__ceil__", *_FLOAT),
    math.dist: (*ITERATED, *_FLOAT),
    math.floor: ("__floor__", *_FLOAT),
    math.fsum: (*_ITEMS, *_FLOAT),
    math.prod: (*_ITEMS, "__mul__", "__rmul__"),
    math.trunc: ("__trunc__",),
    oct: INDEXED,
    operator.index: INDEXED,
    operator.length_hint: (*SIZED, "__length_hint__"),
    pow: ("__pow__", "__rpow__"),
    repr: ("__repr__",),
    reversed: ("__reversed__", *BY_NUMBER),
    round: ("__round__", *INDEXED),
    set: HASHED,
    str: FORMATTED,
    sum: ("__add__", "__radd__"),
    **dict.fromkeys((all, any, filter), _TRUTH),
    **dict.fromkeys((range, slice), INDEXED),
}
_MATH = (*_FLOAT, *_ITEMS, "__mul__", "__rmul__", "__add__", "__radd__")
"""Of the other functions of ``math``: some take integers, some lists."""
_FOLLOWED_ONLY = frozenset((all, any, filter, range, slice, sum))
"""Functions that call what stands for them, in which these methods are converted."""

_STRING: Methods = (*FORMATTED, *INDEXED, *_ITEMS)
_SET: Methods = (*HASHED, *ITERATED)
_NOTHING: Methods = ()
_SEQUENCE: dict[str, Methods] = {
    **dict.fromkeys(("append", "clear", "copy", "reverse"), _NOTHING),
    **dict.fromkeys(("insert", "pop", "__getitem__", "__mul__"), INDEXED),
    "extend": _ITEMS,
    "sort": _ORDERED,
}
_CONTAINERS = frozenset((dict, frozenset, list, set, tuple))
_OF_CONTAINERS = frozenset((*MAPPING, *_ITEMS, *_TRUTH, *INDEXED, "__reversed__"))
"""The methods that a list answers itself, without a look at its items."""
_OF_ITEMS = frozenset((all, any, filter, math.dist, math.fsum, math.prod, sum))
# By the kind whose method is called: of each method, or of all of them under "".
_BY_METHOD: dict[type[Any], dict[str, Methods]] = {
    dict: {"": _SET, "update": (*HASHED, *MAPPING), **dict.fromkeys(("clear", "copy", "items", "keys"), _NOTHING)},
    frozenset: {"": _SET},
    set: {"": _SET},
    list: {"": ("__eq__", *INDEXED), **_SEQUENCE},
    tuple: {"": ("__eq__", *INDEXED)},
    str: {"": _STRING},
    bytes: {"": _STRING},
    bytearray: {"": _STRING},
    int: {"": INDEXED},
}


def called_by(function: Any) -> Methods:
    """Returns the special methods of its arguments that a builtin, or a method of a builtin type, may call."""
    if not isinstance(function, type | types.BuiltinFunctionType):
        return _NOTHING
    if (found := _BY_FUNCTION.get(function)) is not None:
        return found
    if isinstance(function, type):
        return _NOTHING
    owner: Any = function.__self__
    if isinstance(owner, types.ModuleType | None):
        return _MATH if function.__module__ == "math" else _NOTHING
    kind = next((base for base in cast("type[Any]", type(owner)).__mro__ if base in _BY_METHOD), object)
    methods = _BY_METHOD.get(kind, {})
    return methods.get(function.__name__, methods.get("", _NOTHING))


def called_of(function: Any, value: Any) -> Methods:
    """Returns the special methods of the user's that a builtin may call of an argument, and of what is in it."""
    names = called_by(function)
    if type(value) not in _CONTAINERS or function in _OF_ITEMS:
        return names
    return tuple([name for name in names if name not in _OF_CONTAINERS])


def asking(function: Any) -> bool:
    """Returns True if a call of such methods by a function is reported, besides that what they read is followed."""
    return function not in _FOLLOWED_ONLY
