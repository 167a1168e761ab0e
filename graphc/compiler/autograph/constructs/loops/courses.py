"""Puts the numbers that Python computes for all iterations into a loop's program (see ``values.course``)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from graphc.compiler.autograph.values.course import Course, Courses
from graphc.compiler.autograph.values.index import LoopIndex, held_as_int
from graphc.compiler.autograph.values.join import leaf_type
from graphc.compiler.autograph.values.number import SymbolicNumber
from graphc.compiler.autograph.values.spans import Span
from graphc.compiler.core import SymbolicTensor, Tensor, apply, trace_scope
from graphc.compiler.ir import OPS, Attrs, TensorType
from graphc.compiler.ops import AS_NUMBER
from graphc.compiler.tracing import Region, Trace

__all__ = ["LookedUp", "TakenRows", "number_after"]


class TakenRows(Courses):
    """A scan takes one row of an array in each iteration, which holds the numbers.

    Args:
      counter: its input that is one of ``order`` in each iteration.
    """

    def __init__(self, region: Region, counter: SymbolicTensor, order: range) -> None:
        super().__init__(region, order)
        self._counter = counter
        self._rows: dict[Course, SymbolicTensor] = {}

    def take(self, course: Course) -> SymbolicTensor:
        """Returns a row, or what the counter gives by arithmetic, which needs none."""
        found = _progression(self._counter, course, self.region)
        if found is not None:
            return found
        argument = self._rows.get(course)
        if argument is None:
            argument = self._rows[course] = self.region.argument(_type(course), "row")
        return _as_number(argument, course)

    def arguments(self) -> list[SymbolicTensor]:
        """Returns the inputs of the body that are such numbers."""
        return list(self._rows.values())

    def arrays(self, trace: Trace) -> list[Tensor]:
        """Returns what the loop takes them of."""
        return [trace.constant(_array(course)) for course in self._rows]


class LookedUp(Courses):
    """A while looks the numbers up in tables; see :class:`TakenRows`."""

    def __init__(self, region: Region, position: SymbolicTensor, order: range) -> None:
        super().__init__(region, order)
        self._position = position

    def take(self, course: Course) -> SymbolicTensor:
        """Returns an item of a table; where that is not known yet, anything: the body is traced once more."""
        region, values = self.region, course.values
        if values is None:
            self.asked = True
            return _as_number(region.argument(_type(course), "number"), course)
        place = LoopIndex(self._position.snapshot(), 0, len(values) - 1, region, None)
        with trace_scope(region):
            return _as_number(region.constant(_array(course))[place], course)


def _type(course: Course) -> TensorType:
    return TensorType((), leaf_type(course.first).dtype)


def _array(course: Course) -> np.ndarray[Any, Any]:
    values = course.row()
    assert values is not None
    with np.errstate(over="ignore"):  # Python's floats have 64 bits, of which 1e300 is inf in 32
        return values.astype(_type(course).dtype)


def _as_number(tensor: Any, course: Course) -> SymbolicTensor:
    """Returns an element of a row with the weak type of Python's numbers."""
    if course.kind is bool:  # no number to promote: bools have no weak type
        return tensor
    return tensor.trace.apply(AS_NUMBER, (tensor,), Attrs(kind=course.kind.__name__))[0]


def _progression(counter: SymbolicTensor, course: Course, region: Region) -> SymbolicTensor | None:
    """Returns a number that grows evenly as what the loop's counter makes of it; None if it does not."""
    values, order = course.values, course.loop.order
    if values is None or course.kind is not int or len(values) < 2:
        return None
    by, rest = divmod(values[1] - values[0], order.step)
    if rest or not by or any(value != values[0] + place * by * order.step for place, value in enumerate(values)):
        return None
    course.row()  # which 32 bits must hold
    offset = values[0] - by * order.start
    with trace_scope(region):
        found: Any = held_as_int(counter.snapshot())
        if by != 1:
            found = apply(OPS["multiply"], (found, by))
        return apply(OPS["add"], (found, offset)) if offset else found


def number_after(trace: Trace, values: Sequence[Any], done: SymbolicTensor) -> SymbolicNumber:
    """Returns a number after a loop of which it is not known when it stops.

    Args:
      values: what it is before each iteration, and after the last one.
    """
    kind = cast("type[Any]", type(values[0]))
    table = trace.constant(np.array(values, leaf_type(values[0]).dtype))
    # The span proves the index right, so that it is not checked at run time.
    found: Any = table[SymbolicNumber(done, int, span=Span(0, len(values) - 1))]
    if kind is not bool:
        found = trace.apply(AS_NUMBER, (found,), Attrs(kind=kind.__name__))[0]
    return SymbolicNumber(found, kind, joined=True, span=Span(min(values), max(values)) if kind is int else None)
