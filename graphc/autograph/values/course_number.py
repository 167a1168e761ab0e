"""CourseNumber: a Python number of a loop whose body is traced once that Python computes for all iterations."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, cast

from graphc.autograph.values.course import Course, Courses, plain_kind
from graphc.autograph.values.index import window
from graphc.autograph.values.number import SymbolicNumber
from graphc.autograph.values.protocol import course_in
from graphc.autograph.values.spans import TRUTH, Span
from graphc.base.errors import InternalError
from graphc.core import SymbolicTensor
from graphc.ir import Value
from graphc.tracing import Region, context

__all__ = ["CourseNumber", "by_trip", "chosen", "course_in"]


class CourseNumber(SymbolicNumber):
    """A number that has a course.

    Python does arithmetic with plain numbers and with others of the same loop. Joined with a tensor it is a tensor.

    Args:
      course: what it is in each iteration.
      tensor: what it is in the program, if that is there already.
    """

    __slots__ = ("_place", "_tensor", "course")

    def __init__(self, course: Course, tensor: SymbolicTensor | None = None) -> None:
        self.trace = course.loop.region if tensor is None else tensor.trace
        self.kind = course.kind
        self.kinds = frozenset((course.kind,))
        self.joined = False
        self.course = course
        self._tensor = tensor
        self._place: int | None = None

    # Late: only what the graph asks for becomes a row.
    @property
    def raw(self) -> Value:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The value in the graph."""
        found, region = self._tensor, self.course.loop.region
        if found is None or (self._place is not None and not _stands_at(region, found, self._place)):
            found = self.course.loop.tensor(self.course)
            # What a body inside this one has asked for goes if that is not rolled after all; so does what this one has
            # asked for while it began to trace that.
            if context.trace is region:
                self._tensor, self._place = found, len(region.builder.nodes) - 1
        return found.raw

    @property
    def span(self) -> Span | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Between which ints it lies."""
        if self.kind is not int:
            return TRUTH if self.kind is bool else None
        values = self.course.values
        if values is None:
            self.course.loop.asked = True
            return Span(self.course.first, self.course.first)  # for this trial only: what asked is traced again
        span = Span(min(values), max(values))
        if not span.fits:
            self.give_up("an int that passes 32 bits")
        return span

    def course_in_loop(self) -> Course:
        """Returns what it is in each iteration."""
        return self.course

    def give_up(self, use: str) -> None:
        """Ends the attempt to roll the loop, because ``use`` needs the number as Python has it."""
        self.course.loop.give_up(use)

    def window(self, bounds: slice[Any, Any, Any], size: int) -> tuple[Any, int]:
        """Returns where a slice with this bound begins, and its width, as that of a loop's index."""
        return window(self, bounds, size)

    def __hash__(self) -> int:
        self.give_up("a key of a dict or set")
        raise InternalError("a number that has a course, outside an attempt to roll a loop")


def _stands_at(region: Region, tensor: SymbolicTensor, place: int) -> bool:
    """Returns True if a tensor is the result of the node at some place of a body, or given to it."""
    node, nodes = tensor.raw.node, region.builder.nodes
    return node is None or (place < len(nodes) and nodes[place] is node)


def by_trip(native: Callable[..., Any], values: tuple[Any, ...]) -> Any:
    """Returns what a function of Python numbers gives in each iteration; NotImplemented if it is not given such.

    Raises:
      RegionAborted: the numbers are of several loops.
    """
    operands: list[Any] = []
    loops: dict[Courses, None] = {}
    for value in values:
        course = course_in(value)
        if course is None and plain_kind(value) is None:
            return NotImplemented
        operands.append(value if course is None else course)
        if course is not None:
            loops[course.loop] = None
    if not loops:
        return NotImplemented
    inner = next((loop for loop in loops if all(loop.region.is_inside(other.region) for other in loops)), None)
    if inner is None:
        return NotImplemented
    if len(loops) > 1:
        inner.give_up("arithmetic with numbers of two loops")
    return inner.number(native, *operands)


def chosen(condition: Any, first: Any, second: Any) -> Any:
    """Returns which of two numbers it is in each iteration, by a condition; NotImplemented if no course tells that."""
    if not isinstance(condition, CourseNumber) or any(
        course_in(value) is None and plain_kind(value) is None for value in (first, second)
    ):
        return NotImplemented
    loops = {course.loop for course in map(course_in, (first, second)) if course is not None}
    if loops - {condition.course.loop}:
        return NotImplemented
    return by_trip(_choose, (condition, first, second))


def _choose(truth: Any, first: Any, second: Any) -> Any:
    return first if truth else second


def _both(native: Callable[..., Any], name: str, *, reflected: bool, compares: bool) -> Callable[[Any, Any], Any]:
    def run(self: CourseNumber, other: Any) -> Any:
        pair = (other, self) if reflected else (self, other)
        found = by_trip(native, pair)
        if found is not NotImplemented:
            return found
        if compares and self.kind is float and isinstance(other, SymbolicNumber):
            self.give_up("the comparison to a number that depends on tensors")  # which is held in fewer bits
        return getattr(SymbolicNumber, name)(self, other)

    return run


def _alone(native: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda self: by_trip(native, (self,))


_BINARY = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "lshift", "rshift")
_COMPARISONS = ("lt", "le", "gt", "ge", "eq", "ne")
_UNARY: dict[str, Callable[..., Any]] = {
    "neg": operator.neg, "pos": operator.pos, "abs": abs, "invert": operator.invert, "trunc": math.trunc,
    "floor": math.floor, "ceil": math.ceil,
}  # fmt: skip


def _define() -> None:
    for name in _BINARY:
        native = cast("Callable[..., Any]", getattr(operator, f"__{name}__"))
        for reflected in (False, True):
            method = f"__{'r' if reflected else ''}{name}__"
            setattr(CourseNumber, method, _both(native, method, reflected=reflected, compares=False))
    for name in _COMPARISONS:
        method = f"__{name}__"
        native = getattr(operator, name)
        setattr(CourseNumber, method, _both(native, method, reflected=False, compares=True))
    for name, native in _UNARY.items():
        setattr(CourseNumber, f"__{name}__", _alone(native))


_define()
