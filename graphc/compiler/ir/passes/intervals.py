"""Interval arithmetic: the ranges of the results of ops on ints and bools."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np

from graphc.compiler.ir.graph import Node, Value
from graphc.compiler.ir.types import TensorType

Interval = tuple[int, int]
"""The least and the greatest possible element of a tensor; 0 and 1 for a bool."""

COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "equal": operator.eq,
    "not_equal": operator.ne,
    "less": operator.lt,
    "less_equal": operator.le,
    "greater": operator.gt,
    "greater_equal": operator.ge,
}
NEGATED = {
    "equal": "not_equal", "not_equal": "equal", "less": "greater_equal", "greater_equal": "less",
    "greater": "less_equal", "less_equal": "greater",
}  # fmt: skip
"""The negation of each comparison."""

MIRRORED = {
    "equal": "equal", "not_equal": "not_equal", "less": "greater", "greater": "less", "less_equal": "greater_equal",
    "greater_equal": "less_equal",
}  # fmt: skip
"""Each comparison with the operands exchanged."""

Known = Sequence[Interval | None]


def whole(type: TensorType) -> Interval | None:
    """Returns the range of a dtype; None if it is not one of ints or bools."""
    return _whole(type.dtype)


@cache
def _whole(dtype: np.dtype[Any]) -> Interval | None:
    if dtype.kind == "b":
        return (0, 1)
    if dtype.kind not in "iu":
        return None
    info = np.iinfo(dtype)
    return int(info.min), int(info.max)


def hull(first: Interval | None, second: Interval | None) -> Interval | None:
    """Returns the smallest interval that contains two; None if one is unknown."""
    if first is None or second is None:
        return None
    return min(first[0], second[0]), max(first[1], second[1])


def meet(first: Interval, second: Interval) -> Interval:
    """Returns the intersection of two intervals; the first one if it is empty, in code that never runs."""
    low, high = max(first[0], second[0]), min(first[1], second[1])
    return (low, high) if low <= high else first


def same_numbers(node: Node, intervals: Known) -> bool:
    """Returns True if a node compares its operands by value, whatever their dtypes."""
    if len({value.type.dtype for value in node.inputs}) == 1:
        return True
    return all(interval is not None and interval[0] >= 0 for interval in intervals)


def interval_of(node: Node, facts: Mapping[Value, Interval]) -> Interval | None:
    """Returns the range of a node's single result from those before it; None if it is neither an int nor a bool."""
    limits = whole(node.outputs[0].type)
    if limits is None:
        return None
    known = [facts.get(value) for value in node.inputs]
    found = _found(node, known)
    if node.op.name == "as_number" and "low" in node.attrs:
        return meet((node.attrs["low"], node.attrs["high"]), found or limits)
    if found is None or not limits[0] <= found[0] <= found[1] <= limits[1]:
        return limits  # it may wrap around
    return found


def _found(node: Node, operands: Known) -> Interval | None:
    name = node.op.name
    if name == "constant":
        array = node.attrs["value"].array
        if array.size == 1:
            return int(array.item()), int(array.item())
        return (int(array.min()), int(array.max())) if array.size else None
    if name in COMPARISONS:
        return _comparison(node, operands)
    if name in _LOGICAL:
        return _LOGICAL[name](operands)
    rule = _RULES.get(name)
    if rule is None or not operands or any(interval is None for interval in operands[: _TAKES.get(name)]):
        return _FIXED.get(name)
    return rule(*operands)


def _comparison(node: Node, operands: Known) -> Interval | None:
    a, b = operands
    if node.inputs[0] is node.inputs[1] and a is not None:
        holds = COMPARISONS[node.op.name](0, 0)
        return int(holds), int(holds)
    if a is None or b is None or not same_numbers(node, operands):
        return None
    compare = COMPARISONS[node.op.name]
    if node.op.name in ("equal", "not_equal"):
        decided = a[1] < b[0] or b[1] < a[0] or a[0] == a[1] == b[0] == b[1]
    else:
        decided = compare(a[0], b[1]) == compare(a[1], b[0])
    holds = compare(a[0], b[0])
    return (int(holds), int(holds)) if decided else (0, 1)


def _all(operands: Known) -> Interval:
    return min((i[0] if i else 0) for i in operands), min((i[1] if i else 1) for i in operands)


def _any(operands: Known) -> Interval:
    return max((i[0] if i else 0) for i in operands), max((i[1] if i else 1) for i in operands)


def _not(operands: Known) -> Interval:
    low, high = operands[0] or (0, 1)
    return 1 - high, 1 - low


_LOGICAL: dict[str, Callable[[Known], Interval]] = {"logical_and": _all, "logical_or": _any, "logical_not": _not}


def _of(values: Iterable[int]) -> Interval:
    numbers = list(values)
    return min(numbers), max(numbers)


def _corners(native: Callable[[int, int], int]) -> Callable[[Interval, Interval], Interval]:
    return lambda a, b: _of(native(x, y) for x, y in product(a, b))


def _floor_divide(a: Interval, b: Interval) -> Interval | None:
    return None if b[0] <= 0 <= b[1] else _of(x // y for x, y in product(a, b))


def _remainder(a: Interval, b: Interval) -> Interval | None:
    if b[0] <= 0:
        return None
    if a[0] >= 0 and a[1] < b[0]:
        return a
    return 0, min(a[1], b[1] - 1) if a[0] >= 0 else b[1] - 1


def _negative(a: Interval) -> Interval:
    return -a[1], -a[0]


def _abs(a: Interval) -> Interval:
    return (0 if a[0] <= 0 <= a[1] else min(map(abs, a))), max(map(abs, a))


def _bitwise_and(a: Interval, b: Interval) -> Interval | None:
    limits = [interval[1] for interval in (a, b) if interval[0] >= 0]
    return (0, min(limits)) if limits else None


def _bitwise_or(a: Interval, b: Interval) -> Interval | None:
    return (0, (1 << max(a[1], b[1]).bit_length()) - 1) if a[0] >= 0 and b[0] >= 0 else None


def _where(test: Interval | None, a: Interval | None, b: Interval | None) -> Interval | None:
    low, high = test or (0, 1)
    return a if low == 1 else b if high == 0 else hull(a, b)


def _first(a: Interval, *others: Any) -> Interval:
    del others
    return a


_FIXED: dict[str, Interval] = {"zeros": (0, 0), "zeros_like": (0, 0), "ones": (1, 1), "ones_like": (1, 1)}

_RULES: dict[str, Callable[..., Interval | None]] = {
    "add": _corners(operator.add),
    "subtract": _corners(operator.sub),
    "multiply": _corners(operator.mul),
    "floor_divide": _floor_divide,
    "remainder": _remainder,
    "negative": _negative,
    "abs": _abs,
    "minimum": _corners(min),
    "maximum": _corners(max),
    "bitwise_and": _bitwise_and,
    "bitwise_or": _bitwise_or,
    "bitwise_xor": _bitwise_or,
    "where": _where,
    **dict.fromkeys(
        (
            "identity", "stop_gradient", "as_number", "astype", "get_item", "reshape", "ravel", "squeeze",
            "expand_dims", "broadcast_to", "permute_dims",
        ),
        _first,
    ),
}  # fmt: skip

_TAKES = {"where": 0, "get_item": 1}
"""Number of inputs whose intervals must be known, for ops that do not need all."""
