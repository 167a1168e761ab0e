"""Ints that depend on tensors as positions in a tensor: out of range they raise what Python's ints raise."""

from __future__ import annotations

from typing import Any, cast

from graphc.compiler.autograph.constructs.branches.logic import require
from graphc.compiler.autograph.constructs.expressions.text import formatted, joined
from graphc.compiler.autograph.values.number import Between, SymbolicNumber, kind_of, known_of, note_condition, span_of
from graphc.compiler.autograph.values.spans import HIGHEST, LOWEST, ValueRange
from graphc.compiler.base import user_location
from graphc.compiler.base.errors import OutOfRangeError
from graphc.compiler.core import ArrayMethods, SymbolicTensor, apply
from graphc.compiler.ir import OPS, Attrs
from graphc.compiler.ops import AS_NUMBER


def checked_positions(owner: Any, index: Any) -> Any:
    """Checks the numbers in ``owner[index]`` that may be out of range, and returns the index."""
    # Behind a check the program need not look outside the tensor; other owners look at their indices themselves.
    parts = _parts(index)
    if not isinstance(owner, ArrayMethods) or not any(_is_position(part) for part in parts):
        return index
    shape, axis = owner.shape, 0
    named = sum(map(_num_axes, parts))
    checked: list[Any] = []
    for part in parts:
        if part is Ellipsis:
            axis += len(shape) - named
        inside = _is_position(part) and axis < len(shape)  # too many indices: the tensor says so itself
        checked.append(_checked(part, axis, shape[axis]) if inside else part)
        axis += _num_axes(part)
    return tuple(checked) if type(index) is tuple else checked[0]


def _parts(index: Any) -> tuple[Any, ...]:
    return cast("tuple[Any, ...]", index) if type(index) is tuple else (index,)


def _is_position(part: Any) -> bool:
    return isinstance(part, SymbolicTensor) and kind_of(part) is int


def _num_axes(part: Any) -> int:
    """Returns how many axes a part of an index names."""
    if part is None or part is Ellipsis:
        return 0
    kind = getattr(getattr(part, "dtype", None), "kind", "")
    return len(part.shape) if kind == "b" else 1


def _checked(number: SymbolicTensor, axis: int, size: int) -> Any:
    """Returns a number that is checked to lie within an axis, as one of which the graph says so."""
    span = span_of(number)
    if span is None:
        return number
    span.rely()
    if not ValueRange(-size, size - 1).holds(span):
        _check(number, axis, size, span)
    if type(number) is not SymbolicNumber or not isinstance(known_of(number), Between):
        return number
    span = span_of(number)
    if span is None or not ValueRange(0, size - 1).holds(span):
        return number  # it may count from the end; or a handler catches the error, and the program goes on
    return apply(AS_NUMBER, (number,), Attrs(kind="int", low=span.low, high=span.high))


def _check(number: SymbolicTensor, axis: int, size: int, span: ValueRange) -> None:
    location = user_location()
    tests = [apply(OPS["greater_equal"], (number, -size))] if span.low < -size else []
    tests += [apply(OPS["less"], (number, size))] if span.high >= size else []
    within = cast("SymbolicTensor", tests[0] if len(tests) == 1 else apply(OPS["logical_and"], tuple(tests)))
    note_condition(within, number, Between(-size, size - 1), Between(LOWEST, HIGHEST))
    suffix = "" if location is None else f"\n  at {location}"

    def error() -> OutOfRangeError:
        text = joined("index ", formatted(number, "", ""), f" is out of range for axis {axis} of size {size}{suffix}")
        return OutOfRangeError(text)

    require(within, error)
