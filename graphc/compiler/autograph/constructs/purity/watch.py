"""Watches changes that bypass the operators: names of other scopes, iterators, objects with special methods.

Stores and calls go through operators, which watch them. Here is what they ask about a function before it is called
and about an object before Python consumes it.
"""

from __future__ import annotations

import dis
import functools
import inspect
import io
import math
import operator
import sys
import types
from collections.abc import Iterator
from typing import Any, cast

from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.storage.cells import ClosureCell, GlobalCell, note_name
from graphc.compiler.autograph.constructs.storage.native_state import note_consumed
from graphc.compiler.autograph.frontend.convert import is_part
from graphc.compiler.autograph.values.kinds import found_on, is_users, users_method
from graphc.compiler.base import Location, is_graphc_file, remember, with_article
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.tracing import Region, context

_OUTER_STORES = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
_CELL_STORES = frozenset({"STORE_DEREF", "DELETE_DEREF"})
_PURE_FUNCTIONS = frozenset(
    {"abs", "enumerate", "float", "int", "iter", "len", "list", "max", "min"}
    | {"range", "reversed", "sorted", "sum", "tuple", "zip"}
)
_PURE_METHODS = frozenset(("items", "keys", "values"))
_OBJECT_STORES = frozenset({"STORE_ATTR", "STORE_SUBSCR", "DELETE_ATTR", "DELETE_SUBSCR"})


_Stores = tuple[dict[str, int], dict[str, int]]
_known_stores: dict[int, _Stores] = {}
_NAME_STORES = frozenset(dis.opmap[name] for name in _OUTER_STORES | _CELL_STORES)


def _stores(code: types.CodeType) -> _Stores:
    """The globals and the free variables that a code object assigns, with a line."""
    # The functions inside it count too, since its own branches and loops become such functions when it is converted.
    cached = _known_stores.get(id(code))
    if cached is not None:
        return cached
    outer: dict[str, int] = {}
    free: dict[str, int] = {}
    # Few functions assign such names, and dis describes each instruction in words.
    instructions = () if _NAME_STORES.isdisjoint(code.co_code[::2]) else dis.get_instructions(code)
    for instruction in instructions:
        line = (instruction.positions.lineno if instruction.positions else None) or code.co_firstlineno
        if instruction.opname in _OUTER_STORES:
            outer.setdefault(instruction.argval, line)
        elif instruction.opname in _CELL_STORES and instruction.argval in code.co_freevars:
            free.setdefault(instruction.argval, line)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner_outer, inner_free = _stores(constant)
            outer = {**inner_outer, **outer}
            free = {**{name: line for name, line in inner_free.items() if name in code.co_freevars}, **free}
    return remember(_known_stores, code, (outer, free))


def _may_change_objects(code: types.CodeType) -> bool:
    """Returns True if a code object, or one inside it, stores into objects or calls what may do more than compute."""
    if any(one.opname in _OBJECT_STORES or _calls_unknown(one) for one in dis.get_instructions(code)):
        return True
    return any(isinstance(inner, types.CodeType) and _may_change_objects(inner) for inner in code.co_consts)


def _calls_unknown(instruction: dis.Instruction) -> bool:
    """Returns True if an instruction loads what is about to be called, and that is no builtin that only computes."""
    # CPython pushes a NULL along with what it is about to call.
    if instruction.opname == "LOAD_METHOD" or (instruction.opname == "LOAD_ATTR" and "NULL" in instruction.argrepr):
        return instruction.argval not in _PURE_METHODS
    if instruction.opname == "LOAD_GLOBAL" and "NULL" in instruction.argrepr:
        return instruction.argval not in _PURE_FUNCTIONS
    return instruction.opname == "CALL_FUNCTION_EX"  # f(*args), which is loaded as any value is


def check_stores(function: types.FunctionType) -> None:
    """Looks at which names of other scopes a function assigns that is about to be called."""
    # In a branch or a loop's body it is a side effect to assign one that the region does not carry; elsewhere the trace
    # notes what they stand for.
    trace = context.trace
    if trace is None:
        return
    code = function.__code__
    outer, free = _stores(code)
    if (not outer and not free) or is_graphc_file(code.co_filename):  # which assigns what it looks up once
        return
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    if isinstance(trace, Region):
        if outer:
            trace.side_effect(f"the call of {function.__name__}, which assigns the global {min(outer)!r},")
        for name in sorted(free):
            cell = ClosureCell(cells[name], name)
            if trace.journal.owns(cell.owner):
                trace.journal.note_own(cell)
            else:
                trace.writing(cell)
        return
    for name, line in outer.items():
        cell = GlobalCell(function.__globals__, name)
        note_name(trace, cell, Location(code.co_filename, line, code.co_name))
    for name, line in free.items():
        note_name(trace, ClosureCell(cells[name], name), Location(code.co_filename, line, code.co_name))


def watch_names(function: Any) -> None:
    """As :func:`check_stores`, of anything that is about to be called without being converted."""
    function = getattr(function, "__func__", function)
    if isinstance(function, types.FunctionType):
        check_stores(function)


def _is_iterator(value: Any) -> bool:
    return isinstance(value, Iterator)


def made_here(value: Any) -> Any:
    """Returns the value; if it is an iterator, the open region may consume it, because it was made there."""
    return made(value) if _is_iterator(value) else value


def made(value: Any) -> Any:
    """Returns the value, an object that was made where the call stands."""
    if isinstance(context.trace, Region):
        context.trace.journal.own(value)
    return value


def check_iterator(value: Any, depth: int = 2) -> None:
    """Reports that an iterator from outside the open region, or from outside the function, is consumed."""
    # depth: how many frames up the code is that consumes it. A generator expression written there was made there.
    region = context.trace
    if not _is_iterator(value):
        return
    if not isinstance(region, Region):
        note_consumed(value, _use_of(value))
        return
    if region.journal.owns(value):
        return
    code = getattr(value, "gi_code", None)
    # The code of a generator expression is a constant of the code in which it stands.
    around = sys._getframe(depth).f_code  # pyright: ignore[reportPrivateUsage]
    if code is not None and any(code is constant for constant in around.co_consts):
        return
    region.side_effect(_use_of(value))


def _use_of(iterator: Any) -> str:
    kind = type(iterator).__name__
    named = with_article(kind) if isinstance(iterator, io.IOBase) else f"an iterator ({kind})"
    return f"the use of {named} from outside"


def operator_method(owner: Any, *names: str) -> types.FunctionType | None:
    """Returns the method of the user's with which an object answers Python, as :func:`users_method`."""
    # A generator is left to Python unless it stores into something, because its body cannot be converted.
    method = users_method(owner, *names)
    return None if method is None else _unless_generator(method)


def class_item_method(kind: Any) -> Any:
    """The method of the user's that answers ``kind[...]`` for a class; None if there is none, or it is no class."""
    if not isinstance(kind, type):
        return None
    method = found_on(kind, "__class_getitem__")
    inside = getattr(method, "__func__", None)
    users = isinstance(inside, types.FunctionType) and is_users(kind, inside)
    # A metaclass's __getitem__ comes before __class_getitem__.
    return getattr(kind, "__class_getitem__") if users and found_on(type(kind), "__getitem__") is None else None  # noqa: B009


def _unless_generator(method: types.FunctionType) -> types.FunctionType | None:
    if not inspect.isgeneratorfunction(method):
        return method
    if not isinstance(context.trace, Region):
        check_stores(method)
    elif any(_stores(method.__code__)) or _may_change_objects(method.__code__):
        context.trace.side_effect(f"the call of {method.__qualname__}")
    return None


# Lists and dicts from outside that are only asked for items: of these the items count that were asked for.


def counts_by_item(owner: Any) -> bool:
    """Returns True if a value is a list or dict from outside that was only asked for items so far."""
    return context.trace is not None and context.trace.root.reads.counts_by_item(owner)


def counts_as_a_whole(owner: Any) -> None:
    """Tells that from now on all counts that a value holds, if it is a list or dict that counted by item."""
    if context.trace is not None:
        context.trace.root.reads.complete(owner)


def asks_for_item(owner: Any, key: Any) -> bool:
    """Returns True if an item is asked for of a list or dict that counts by item."""
    # By a key that is no plain text or number the list or dict counts as a whole from now on.
    if not counts_by_item(owner):
        return False
    # Exact types: a subclass may hash and compare by code of its own, and True is 1 as a key.
    if type(key) is int or (type(key) is str and isinstance(owner, dict)):
        return True
    counts_as_a_whole(owner)  # a change of any item costs a new trace then; a stale value would be worse
    return False


def asks_for_key(owner: Any, key: Any) -> bool:
    """Tells if a dict that counts by item is asked if it has a key; a list that counts by item does so no more."""
    if isinstance(owner, dict):
        return asks_for_item(cast("Any", owner), key)
    counts_as_a_whole(owner)
    return False


def known_item(owner: Any, key: str | int, *, by_item: bool = False) -> Any:
    """Returns the item that is asked for; ``by_item`` says that it is itself about to be asked for items only."""
    assert context.trace is not None
    reads = context.trace.root.reads
    try:
        value = in_python(operator.getitem, owner, key)
    except (KeyError, IndexError):
        # `try: config["rate"]` takes its `except KeyError` now, and not once the key is there.
        reads.has(owner, key, present=False)
        raise
    reads.item(owner, key, value, by_item=by_item)
    return value


def holds_item(owner: dict[Any, Any], key: str | int) -> bool:
    """Returns True if a dict that counts by item has a key."""
    assert context.trace is not None
    context.trace.root.reads.has(owner, key, present=key in owner)
    return key in owner


# Recursion that only a tensor could end: both branches are traced, so that it would never end.

_MOST = 100
"""The deepest recursion that is traced through branches and loops."""


def check_recursion(function: types.FunctionType) -> None:
    """Refuses a call too deep in calls of itself inside branches on tensors, then all calls in branches and loops."""
    trace = context.trace
    if not isinstance(trace, Region):
        return
    root = trace.root
    # The walk over all frames comes last, since it is slow where frames are many.
    if root.final_refusal is None and _depth(trace) >= _MOST and _active_calls(function.__code__) >= _MOST:
        root.final_refusal = UnimplementedError(
            f"{function.__name__} calls itself in a branch or loop that depends on tensors, {_MOST} calls deep: "
            "whatever the tensors hold, both branches are traced, so that this never ends. Write a loop, or let a "
            "Python value decide when to stop"
        ).here()
    if root.final_refusal is not None:
        root.refusals.append(root.final_refusal)
        raise root.final_refusal


def _depth(region: Region) -> int:
    """Returns how many regions are around the code that runs, the innermost included."""
    depth = 1
    while isinstance(parent := region.parent, Region):
        region, depth = parent, depth + 1
    return depth


def _active_calls(code: types.CodeType) -> int:
    """Returns how many calls of a function run, converted."""
    count = 0
    frame: types.FrameType | None = sys._getframe(2)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        other = frame.f_code
        # By place and name: what runs is the converted code, another object.
        same = other.co_firstlineno == code.co_firstlineno and other.co_filename == code.co_filename
        count += same and other.co_qualname == code.co_qualname and not is_part(other)
        frame = frame.f_back
    return count


# The one list of special methods that builtins written in C call of what they are given.

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
    if (special := _BY_FUNCTION.get(function)) is not None:
        return special
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
