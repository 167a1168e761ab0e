"""Stores into objects, and in-place operators: what Python does to things that outlive a loop's iteration."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any, cast

from graphc.autograph.operators.arithmetic import binary
from graphc.autograph.operators.keeping import holds_symbols, note_store
from graphc.autograph.operators.watch import found_on
from graphc.core import ArrayMethods, Region, SymbolicTensor, context

__all__ = ["delete_attr", "delete_item", "inplace", "store_attr", "store_item"]


def _side_effect(what: str) -> None:
    if context.trace is not None:
        context.trace.side_effect(what)


def store_attr(owner: Any, name: str, value: Any) -> None:
    """``owner.name = value``; an object that was made in the same branch or iteration may change."""
    what = f"the assignment to attribute {name!r} of a {type(owner).__name__}"
    if not _is_own(owner, name):
        _side_effect(what)
    if holds_symbols(value):
        note_store(owner, what)
    setattr(owner, name, value)


def _is_own(owner: Any, name: str) -> bool:
    """Whether an object was made in the open region, and nothing but the object knows of a store into it."""
    region, kind = context.trace, cast("type[Any]", type(owner))
    if not isinstance(region, Region) or not region.owns(owner):
        return False
    descriptor = cast("type[Any]", type(found_on(kind, name)))
    plain = descriptor is types.MemberDescriptorType or found_on(descriptor, "__set__") is None
    return plain and found_on(kind, "__setattr__") is object.__setattr__


def store_item(owner: Any, index: Any, value: Any) -> None:
    """``owner[index] = value``."""
    if not isinstance(owner, ArrayMethods):  # a tensor refuses by itself
        what = f"the assignment to an item of a {type(owner).__name__}"
        _side_effect(what)
        if holds_symbols(value):
            note_store(owner, what)
        if isinstance(index, SymbolicTensor):
            index = operator.index(index)
    owner[index] = value


def delete_attr(owner: Any, name: str) -> None:
    """``del owner.name``."""
    _side_effect(f"the deletion of attribute {name!r} of a {type(owner).__name__}")
    delattr(owner, name)


def delete_item(owner: Any, index: Any) -> None:
    """``del owner[index]``."""
    _side_effect(f"the deletion of an item of a {type(owner).__name__}")
    del owner[index]


_INPLACE: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.iadd,
    "-": operator.isub,
    "*": operator.imul,
    "/": operator.itruediv,
    "//": operator.ifloordiv,
    "%": operator.imod,
    "@": operator.imatmul,
    "**": operator.ipow,
    "<<": operator.ilshift,
    ">>": operator.irshift,
    "&": operator.iand,
    "|": operator.ior,
    "^": operator.ixor,
}
_METHODS = {"+": "__iadd__", "-": "__isub__", "*": "__imul__", "&": "__iand__", "|": "__ior__", "^": "__ixor__"}


def inplace(symbol: str, target: Any, value: Any) -> Any:
    """The result of ``target symbol= value``; an object that changes in place (a list, an array) changes."""
    kind = cast("type[Any]", type(target))
    if not hasattr(kind, _METHODS.get(symbol, f"__{_INPLACE[symbol].__name__}__")):
        return binary(symbol, target, value)
    _side_effect(f"the in-place operator {symbol}= on a {kind.__name__}")
    return _INPLACE[symbol](target, value)
