"""The functions of the module ``operator``: the operators themselves, as converted code calls them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from graphc.compiler.autograph.constructs.branches.logic import not_
from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.expressions.assignments import delete_item, inplace, store_item
from graphc.compiler.autograph.constructs.expressions.comparisons import compare, contains
from graphc.compiler.autograph.constructs.expressions.identity import is_, is_not
from graphc.compiler.autograph.constructs.expressions.operators import BINARY, binary, load_item, unary
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.autograph.values.exact import whole_number
from graphc.compiler.autograph.values.number import is_whole
from graphc.compiler.core import SymbolicTensor

__all__ = ["OVERRIDES"]

Native = Callable[..., Any]


def _meaning(symbol: str, run: Callable[..., Any]) -> Callable[..., Any]:
    """Returns what stands for a function that does what an operator does."""

    def replaced(native: Native, *operands: Any) -> Any:
        del native
        return run(symbol, *operands)

    return replaced


def _plain(run: Callable[..., Any]) -> Callable[..., Any]:
    """Returns what stands for a function that takes the same arguments as an operator of converted code."""

    def replaced(native: Native, *operands: Any) -> Any:
        del native
        return run(*operands)

    return replaced


def _calling(function: Any) -> Callable[..., Any]:
    """Returns what stands for a function that calls a builtin one."""
    return _plain(lambda *operands: call(function)(*operands))


def _contains(native: Native, container: Any, item: Any, /) -> Any:
    del native
    return contains(item, container)


def _index(native: Native, value: Any, /) -> Any:
    """``operator.index``: of an integer tensor, or a number that depends on tensors, an int of the same value."""
    whole = isinstance(value, SymbolicTensor) and value.size == 1 and value.dtype.kind in "iub"
    if not whole or is_whole(value) is False:
        return native(value)
    return whole_number(value)


_ORDERS = {"<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne"}

_UNARY = (("-", operator.neg), ("+", operator.pos), ("~", operator.invert))


def _in_place(native: Any) -> Any:
    """Returns the function of ``a += b`` that belongs to that of ``a + b``."""
    return getattr(operator, f"i{native.__name__.rstrip('_')}")


OVERRIDES: Functions = {
    **{native: _meaning(symbol, binary) for symbol, (native, _, _) in BINARY.items()},
    **{_in_place(native): _meaning(symbol, inplace) for symbol, (native, _, _) in BINARY.items()},
    **{getattr(operator, name): _meaning(symbol, compare) for symbol, name in _ORDERS.items()},
    **{native: _meaning(symbol, unary) for symbol, native in _UNARY},
    operator.abs: _calling(abs),
    operator.concat: _meaning("+", binary),
    operator.contains: _contains,
    operator.delitem: _plain(delete_item),
    operator.getitem: _plain(load_item),
    operator.iconcat: _meaning("+", inplace),
    operator.index: _index,
    operator.inv: _meaning("~", unary),
    operator.is_: _plain(is_),
    operator.is_not: _plain(is_not),
    operator.not_: _plain(not_),
    operator.setitem: _plain(store_item),
    operator.truth: _calling(bool),
}
