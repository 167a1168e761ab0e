"""CourseNumber: a Python number of a loop whose body is traced once that Python computes for all iterations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from graphc.compiler.autograph.values.arithmetic import BINARY, COMPARISONS, UNARY
from graphc.compiler.autograph.values.course import Course, Courses, plain_kind
from graphc.compiler.autograph.values.number import SymbolicNumber
from graphc.compiler.autograph.values.protocol import course_in
from graphc.compiler.autograph.values.spans import TRUTH, Span
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.ir import Value
from graphc.compiler.tracing import Region, context

__all__ = ["CourseNumber", "by_trip", "chosen", "course_of", "in_one_loop", "window"]


class CourseNumber(SymbolicNumber):
    """A number that has a course.

    Python does arithmetic with plain numbers and with others of the same loop. Joined with a tensor it is a tensor.

    Args:
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

    def give_up(self, use: str) -> NoReturn:
        """Ends the attempt to roll the loop, because ``use`` needs the number as Python has it."""
        self.course.loop.give_up(use)

    def window(self, bounds: slice[Any, Any, Any], size: int) -> tuple[Any, int]:
        """Returns where a slice with this bound begins, and its width."""
        return window(self, bounds, size)

    def __hash__(self) -> int:
        self.give_up("a key of a dict or set")


def _stands_at(region: Region, tensor: SymbolicTensor, place: int) -> bool:
    """Returns True if a tensor is the result of the node at some place of a body, or given to it."""
    node, nodes = tensor.raw.node, region.builder.nodes
    return node is None or (place < len(nodes) and nodes[place] is node)


def _operator(native: Callable[..., Any], name: str, *, reflected: bool = False) -> Callable[[CourseNumber, Any], Any]:
    def run(self: CourseNumber, other: Any) -> Any:
        found = by_trip(native, (other, self) if reflected else (self, other))
        if found is not NotImplemented:
            return found
        if name[2:-2] in COMPARISONS and self.kind is float and isinstance(other, SymbolicNumber):
            self.give_up("the comparison to a number that depends on tensors")  # which is held in fewer bits
        return getattr(SymbolicNumber, name)(self, other)

    return run


def _loops_of(values: Sequence[Any]) -> list[Courses] | None:
    """Returns the loops whose numbers are among some; None if not all are numbers that Python has in each iteration."""
    if not all(plain_kind(value) or course_in(value) for value in values):
        return None
    return list(dict.fromkeys([course.loop for value in values if (course := course_in(value)) is not None]))


def course_of(native: Callable[..., Any], values: Sequence[Any]) -> Course | None:
    """Returns the course of what a function of Python numbers gives; None if it is not given numbers of one loop."""
    loops = _loops_of(values)
    if not loops or len(loops) > 1:
        return None
    return loops[0].course(native, *[course_in(value) or value for value in values])


def in_one_loop(native: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Returns what :func:`by_trip` does; NotImplemented of numbers of several loops."""
    found = course_of(native, values)
    return NotImplemented if found is None else CourseNumber(found)


def by_trip(native: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Returns what a function of Python numbers gives in each iteration; NotImplemented if it is not given such.

    Raises:
      RegionAborted: the numbers are of several loops.
    """
    loops = _loops_of(values) or ()
    if len(loops) > 1:
        for loop in loops:
            if all(loop.region.is_inside(other.region) for other in loops):
                loop.give_up("arithmetic with numbers of two loops")
    return in_one_loop(native, values)


def chosen(condition: Any, first: Any, second: Any) -> Any:
    """Returns which of two numbers it is in each iteration, by a condition; NotImplemented if no course tells that."""
    if not isinstance(condition, CourseNumber):
        return NotImplemented
    return in_one_loop(_choose, (condition, first, second))


def _choose(truth: Any, first: Any, second: Any) -> Any:
    return first if truth else second


def window(index: Any, bounds: slice[Any, Any, Any], size: int) -> tuple[Any, int]:
    """Returns where a slice begins, and its width, which is the same in all iterations.

    Args:
      index: one of the bounds: the index of a loop, or another number that it knows for all iterations.

    Raises:
      RegionAborted: the width changes from one iteration to the next.
    """
    start, stop = bounds.start, bounds.stop
    if bounds.step is None or (type(bounds.step) is int and bounds.step == 1):
        loops = _loops_of([bound for bound in (start, stop) if bound is not None])
        if loops is not None and len(loops) == 1:
            found = loops[0].window(course_in(start) or start, course_in(stop) or stop, size)
            if found is not None:
                return CourseNumber(found[0]), found[1]
    return index.give_up("a slice whose width changes, or is not known,")


def _alone(native: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda self: by_trip(native, (self,))


def _define() -> None:
    for name, of in BINARY.items():
        for method, reflected in ((f"__{name}__", False), (f"__r{name}__", True)):
            setattr(CourseNumber, method, _operator(of.native, method, reflected=reflected))
    for name, of in COMPARISONS.items():
        setattr(CourseNumber, f"__{name}__", _operator(of.native, f"__{name}__"))
    for name, of in UNARY.items():
        setattr(CourseNumber, f"__{name}__", _alone(of.native))
    for native in (math.trunc, math.floor, math.ceil):
        setattr(CourseNumber, f"__{native.__name__}__", _alone(native))


_define()
