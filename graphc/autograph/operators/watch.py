"""What code may change behind the operators' backs: names of other scopes, iterators, objects with special methods.

Stores and calls go through operators, which watch them. Here is what they ask about a function before it is called
and about an object before Python consumes it.
"""

from __future__ import annotations

import dis
import inspect
import sys
import types
from collections.abc import Iterator
from functools import cache
from typing import Any, cast

from graphc.core import Region, context

__all__ = ["check_iterator", "check_stores", "made_here", "special_method"]

_OUTER_STORES = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
_CELL_STORES = frozenset({"STORE_DEREF", "DELETE_DEREF"})
_OBJECT_STORES = frozenset({"STORE_ATTR", "STORE_SUBSCR", "DELETE_ATTR", "DELETE_SUBSCR"})


@cache
def _stores(code: types.CodeType) -> tuple[tuple[str, ...], tuple[str, ...], bool]:
    """The globals and the free variables that a code object assigns, and whether it stores into objects.

    The functions inside it count too, since its own branches and loops become such functions when it is converted.
    """
    outer: set[str] = set()
    free: set[str] = set()
    objects = False
    for instruction in dis.get_instructions(code):
        if instruction.opname in _OUTER_STORES:
            outer.add(instruction.argval)
        elif instruction.opname in _CELL_STORES and instruction.argval in code.co_freevars:
            free.add(instruction.argval)
        objects |= instruction.opname in _OBJECT_STORES
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            inner_outer, inner_free, inner_objects = _stores(constant)
            outer.update(inner_outer)
            free.update(name for name in inner_free if name in code.co_freevars)
            objects |= inner_objects
    return tuple(sorted(outer)), tuple(sorted(free)), objects


def check_stores(function: types.FunctionType) -> None:
    """Reports a call of ``function`` as a side effect if it assigns names that the open region does not carry."""
    region = context.trace
    if not isinstance(region, Region):
        return
    outer, free, _ = _stores(function.__code__)
    if outer:
        region.side_effect(f"the call of {function.__name__}, which assigns the global {outer[0]!r},")
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    for name in free:
        if not region.owns(cells[name]):
            region.side_effect(f"the call of {function.__name__}, which assigns {name!r} of another function,")


def _is_iterator(value: Any) -> bool:
    return isinstance(value, Iterator)


def made_here(value: Any) -> Any:
    """The value; if it is an iterator, the open region may consume it, because it was made there."""
    if isinstance(context.trace, Region) and _is_iterator(value):
        context.trace.own(value)
    return value


def check_iterator(value: Any, depth: int = 2) -> None:
    """Reports that an iterator from outside the open region is consumed.

    Args:
      value: what is consumed; anything but an iterator is fine.
      depth: how many frames up the code is that consumes it. A generator expression written there was made there.
    """
    region = context.trace
    if not isinstance(region, Region) or not _is_iterator(value) or region.owns(value):
        return
    code = getattr(value, "gi_code", None)
    if code is not None and code in sys._getframe(depth).f_code.co_consts:  # pyright: ignore[reportPrivateUsage]
        return
    region.side_effect(f"the use of an iterator ({type(value).__name__}) from outside")


def special_method(owner: Any, name: str) -> types.FunctionType | None:
    """The method with which a class of the user's answers Python's protocols, in a region; None if it is not Python's.

    A generator is left to Python unless it stores into something, because its body cannot be converted.
    """
    region = context.trace
    kind = cast("type[Any]", type(owner))
    method = getattr(kind, name, None)
    if not isinstance(region, Region) or not isinstance(method, types.FunctionType):
        return None
    if kind.__module__.split(".")[0] == "graphc":
        return None
    if inspect.isgeneratorfunction(method):
        outer, free, objects = _stores(method.__code__)
        if outer or free or objects:
            region.side_effect(f"the call of {method.__qualname__}")
        return None
    return method
