"""Watches changes that bypass the operators: names of other scopes, iterators, objects with special methods.

Stores and calls go through operators, which watch them. Here is what they ask about a function before it is called
and about an object before Python consumes it.
"""

from __future__ import annotations

import dis
import inspect
import io
import sys
import types
from collections.abc import Iterator
from typing import Any

from graphc.compiler.autograph.constructs.storage.native_state import note_consumed
from graphc.compiler.autograph.constructs.storage.outer_names import ClosureCell, GlobalCell, note_name
from graphc.compiler.autograph.values.python_object import found_on, is_users, users_method
from graphc.compiler.base import Location, is_graphc_file, remember, with_article
from graphc.compiler.tracing import Region, context

__all__ = [
    "check_iterator",
    "check_stores",
    "class_item_method",
    "made",
    "made_here",
    "operator_method",
    "watch_names",
]

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
    """The globals and the free variables that a code object assigns, with a line.

    The functions inside it count too, since its own branches and loops become such functions when it is converted.
    """
    known = _known_stores.get(id(code))
    if known is not None:
        return known
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
    """Looks at which names of other scopes a function assigns that is about to be called.

    In a branch or a loop's body it is a side effect to assign one that the region does not carry; elsewhere the trace
    notes what they stand for.
    """
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
            place = ClosureCell(cells[name], name)
            if trace.journal.owns(place.owner):
                trace.journal.note_own(place)
            else:
                trace.writing(place)
        return
    for name, line in outer.items():
        place = GlobalCell(function.__globals__, name)
        note_name(trace, place, Location(code.co_filename, line, code.co_name))
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
    """Reports that an iterator from outside the open region, or from outside the function, is consumed.

    Args:
      value: what is consumed; anything but an iterator is fine.
      depth: how many frames up the code is that consumes it. A generator expression written there was made there.
    """
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
    """Returns the method of the user's with which an object answers Python, as :func:`users_method`.

    A generator is left to Python unless it stores into something, because its body cannot be converted.
    """
    method = users_method(owner, *names)
    return None if method is None else _unless_generator(method)


def class_item_method(kind: Any) -> Any:
    """The method of the user's that answers ``kind[...]`` for a class; None if there is none, or it is no class."""
    if not isinstance(kind, type):
        return None
    found = found_on(kind, "__class_getitem__")
    inside = getattr(found, "__func__", None)
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
