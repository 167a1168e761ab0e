"""Comparisons, chained comparisons and ``in``."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import partial
from types import FunctionType
from typing import Any, cast

from graphc.autograph.operators.arithmetic import answers
from graphc.autograph.operators.branches import and_, not_, or_
from graphc.autograph.operators.calls import call
from graphc.autograph.operators.natives import HASHED, check_items, check_methods
from graphc.autograph.operators.watch import PLAIN, check_iterator, found_on, operator_method
from graphc.base import nest
from graphc.core import SymbolicTensor, apply, context, operand
from graphc.ir import OPS

__all__ = ["compare", "compare_chain", "contains"]

Thunk = Callable[[], Any]

_METHODS: dict[str, tuple[Callable[[Any, Any], Any], str, str]] = {
    "<": (operator.lt, "__lt__", "__gt__"),
    "<=": (operator.le, "__le__", "__ge__"),
    ">": (operator.gt, "__gt__", "__lt__"),
    ">=": (operator.ge, "__ge__", "__le__"),
    "==": (operator.eq, "__eq__", "__eq__"),
    "!=": (operator.ne, "__ne__", "__ne__"),
}
_OTHERS: dict[str, Callable[[Any, Any], Any]] = {
    "is": lambda a, b: a is b,
    "is not": lambda a, b: a is not b,
    "in": lambda a, b: contains(a, b),
    "not in": lambda a, b: not_(contains(a, b)),
}


def compare(symbol: str, left: Any, right: Any) -> Any:
    """``left symbol right``, for the six orders of Python."""
    native, forward, reflected = _METHODS[symbol]
    if context.trace is None or (type(left) in PLAIN and type(right) in PLAIN):
        return native(left, right)
    mine, theirs = _method(left, forward), _method(right, reflected)
    if mine is None and theirs is None:
        return native(left, right)
    kinds = cast("tuple[type[Any], type[Any]]", (type(left), type(right)))
    theirs_first = kinds[0] is not kinds[1] and issubclass(kinds[1], kinds[0])
    result = answers((left, right), (mine, theirs), theirs_first, forward)
    return native(left, right) if result is NotImplemented else result


def _method(owner: Any, name: str) -> FunctionType | None:
    """The user's method for a comparison; ``!=`` is the opposite of ``==`` where it is not defined."""
    if name != "__ne__" or found_on(cast("type[Any]", type(owner)), name) is not object.__ne__:
        return operator_method(owner, name)
    equal = operator_method(owner, "__eq__")
    if equal is None:
        return None

    def unequal(owner: Any, other: Any) -> Any:
        result = call(equal)(owner, other)
        return result if result is NotImplemented else not_(result)

    return unequal


def compare_chain(left: Any, operators: Sequence[str], operands: Sequence[Thunk]) -> Any:
    """``a < b <= c``: each operand is evaluated once, and only while the comparisons before it hold."""
    right = operands[0]()
    symbol = operators[0]
    first = compare(symbol, left, right) if symbol in _METHODS else _OTHERS[symbol](left, right)
    if len(operators) == 1:
        return first
    return and_(lambda: first, lambda: compare_chain(right, operators[1:], operands[1:]))


def _same(value: Any) -> Any:
    return value


def contains(item: Any, container: Any) -> Any:
    """``item in container``."""
    if isinstance(container, SymbolicTensor):
        return apply(OPS["any"], (apply(OPS["equal"], (container, operand(item))),))
    if isinstance(container, list | tuple):
        found: Any = False
        for element in nest.as_tuple(container):
            equal: Any = item is element or compare("==", item, element)
            found = or_(partial(_same, found), partial(_same, equal))
            if found is True:
                return True
        return found
    method = operator_method(container, "__contains__")
    if method is not None:
        return bool(call(method)(container, item))
    check_methods(item, HASHED)
    if found_on(cast("type[Any]", type(container)), "__contains__") is None:
        check_iterator(container)
        check_items(container)
    return item in container
