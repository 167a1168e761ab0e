"""Ints that depend on tensors as positions in a tensor: out of range they raise what Python's ints raise."""

from __future__ import annotations

from typing import Any, cast

from graphc.autograph.constructs.branches.checks import require
from graphc.autograph.constructs.expressions.text import formatted, joined
from graphc.autograph.values.facts import Between, note_condition
from graphc.autograph.values.number import kind_of, span_of
from graphc.autograph.values.spans import HIGHEST, LOWEST, Span
from graphc.base import user_location
from graphc.base.errors import OutOfRangeError
from graphc.core import ArrayMethods, SymbolicTensor, apply
from graphc.ir import OPS

__all__ = ["check_positions"]


def check_positions(owner: Any, index: Any) -> None:
    """Checks the numbers in ``owner[index]`` that may be out of range.

    Args:
      owner: a tensor; what else there is looks at its indices itself.
      index: what stands between the brackets.
    """
    parts = cast("tuple[Any, ...]", index) if type(index) is tuple else (index,)
    if not isinstance(owner, ArrayMethods) or not any(_is_position(part) for part in parts):
        return
    shape, axis = owner.shape, 0
    named = sum(map(_num_axes, parts))
    for part in parts:
        if part is Ellipsis:
            axis += len(shape) - named
        if _is_position(part) and axis < len(shape):  # too many indices: the tensor says so itself
            _check(part, axis, shape[axis])
        axis += _num_axes(part)


def _is_position(part: Any) -> bool:
    return isinstance(part, SymbolicTensor) and kind_of(part) is int


def _num_axes(part: Any) -> int:
    """Returns how many axes a part of an index names."""
    if part is None or part is Ellipsis:
        return 0
    kind = getattr(getattr(part, "dtype", None), "kind", "")
    return len(part.shape) if kind == "b" else 1


def _check(number: SymbolicTensor, axis: int, size: int) -> None:
    span = span_of(number)
    if span is None:
        return
    span.rely()
    if Span(-size, size - 1).holds(span):
        return
    location = user_location()
    tests = [apply(OPS["greater_equal"], (number, -size))] if span.low < -size else []
    tests += [apply(OPS["less"], (number, size))] if span.high >= size else []
    within = cast("SymbolicTensor", tests[0] if len(tests) == 1 else apply(OPS["logical_and"], tuple(tests)))
    note_condition(within, number, Between(-size, size - 1), Between(LOWEST, HIGHEST))
    place = "" if location is None else f"\n  at {location}"

    def error() -> OutOfRangeError:
        text = joined("index ", formatted(number, "", ""), f" is out of range for axis {axis} of size {size}{place}")
        return OutOfRangeError(text)

    require(within, error)
