"""``not``, ``and``, ``or`` and ``... if ... else ...`` as they stand in code.

They are those of :mod:`graphc.autograph.constructs.branches.branch`, but what is a Python number whichever way it
goes stays one. In plain Python ``not t`` is a bool, so that ``(not a) + (not b)`` counts, where the sum of two tensors
of truth values would be their disjunction.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import graphc.autograph.constructs.branches.branch as branches
from graphc.autograph.values.course_number import CourseNumber
from graphc.autograph.values.number import SymbolicNumber, kind_of, numbered
from graphc.core import SymbolicTensor
from graphc.tracing import current_trace

__all__ = ["and_", "and_if_plain", "if_exp", "not_", "or_", "truth_value"]

Thunk = Callable[[], Any]


class _Kinds:
    """The kinds of the numbers that operands are.

    Attributes:
      found: so far; None among them for what is no number.
    """

    def __init__(self) -> None:
        self.found: set[type[Any] | None] = set()

    def noting(self, operand: Thunk) -> Thunk:
        """Returns the operand, of whose value the kind is noted."""

        def run() -> Any:
            value = operand()
            self.found.add(kind_of(value))
            return value

        return run

    def of(self, value: Any) -> Any:
        """Returns the value of one of the operands, as a number if all are of one kind."""
        return numbered(value, next(iter(self.found)) if len(self.found) == 1 else None)


def not_(value: Any) -> Any:
    """``not a``."""
    found = branches.not_(value)
    # The tensor alone has no course, by which Python knows it in each iteration.
    if isinstance(value, CourseNumber):
        return CourseNumber(value.course.loop.course(operator.not_, value.course), found)
    return numbered(found, bool)


def and_(*operands: Thunk) -> Any:
    """``a and b``: the first value that is false, or the last."""
    kinds = _Kinds()
    return kinds.of(branches.and_(*map(kinds.noting, operands)))


def and_if_plain(first: Any, second: Thunk) -> Any:
    """``first and second()`` where both are tensors of truth values, of which both may be evaluated; else None."""
    kinds = _Kinds()
    found = branches.and_if_plain(kinds.noting(lambda: first)(), kinds.noting(second))
    return None if found is None else kinds.of(found)


def or_(*operands: Thunk) -> Any:
    """``a or b``: the first value that is true, or the last."""
    kinds = _Kinds()
    return kinds.of(branches.or_(*map(kinds.noting, operands)))


def if_exp(condition: Any, true: Thunk, false: Thunk) -> Any:
    """Traces a conditional expression."""
    kinds = _Kinds()
    return kinds.of(branches.if_exp(condition, kinds.noting(true), kinds.noting(false)))


def truth_value(value: SymbolicTensor) -> SymbolicNumber:
    """``bool(value)``."""
    return SymbolicNumber(branches.predicate(current_trace(), value), bool)
