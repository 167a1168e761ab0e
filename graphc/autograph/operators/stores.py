"""Stores into objects, and in-place operators: what Python does to things that outlive a loop's iteration."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, cast

from graphc.core import ArrayMethods, SymbolicTensor, context

__all__ = ["delete_attr", "delete_item", "inplace", "store_attr", "store_item"]


def _side_effect(what: str) -> None:
    if context.trace is not None:
        context.trace.side_effect(what)


def store_attr(owner: Any, name: str, value: Any) -> None:
    """``owner.name = value``."""
    _side_effect(f"the assignment to attribute {name!r} of a {type(owner).__name__}")
    setattr(owner, name, value)


def store_item(owner: Any, index: Any, value: Any) -> None:
    """``owner[index] = value``."""
    if not isinstance(owner, ArrayMethods):  # a tensor refuses by itself
        _side_effect(f"the assignment to an item of a {type(owner).__name__}")
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
    if hasattr(cast("type[Any]", type(target)), _METHODS.get(symbol, f"__{_INPLACE[symbol].__name__}__")):
        _side_effect(f"the in-place operator {symbol}= on a {type(target).__name__}")
    return _INPLACE[symbol](target, value)
