"""The value of a Python number in each iteration of a loop that is traced once, where no tensor decides it.

``rate *= 0.97`` gives another number in each iteration, and Python can tell all of them before the program runs. A
:class:`HostSequence` says how such a number is computed; Python computes it for all iterations, exactly as if the loop
were unrolled, and the loop takes what the graph needs of it as a row of values.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, cast

import numpy as np

from graphc.compiler.autograph.values.number import SymbolicNumber
from graphc.compiler.autograph.values.protocol import host_sequence_of
from graphc.compiler.autograph.values.spans import BINARY, COMPARISONS, TRUTH, UNARY, ValueRange
from graphc.compiler.base import with_article
from graphc.compiler.base.errors import InternalError
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.ir import Value
from graphc.compiler.tracing import Region, context

MAX_TRIPS = 50_000
"""Of a loop with more iterations no courses are followed: Python would compute for longer than it takes to trace."""

_KINDS = (bool, int, float)
_INT32 = np.iinfo(np.int32)


def plain_kind(value: Any) -> type[Any] | None:
    """Returns the Python type of a number that may have a course; None for anything else."""
    kind = cast("type[Any]", type(value))
    return kind if kind in _KINDS else None


class HostSequence:
    """The values of a number in all iterations."""

    __slots__ = ("_values", "first", "loop", "native", "operands")

    def __init__(
        self,
        loop: HostSequences,
        native: Callable[..., Any] | None,  # computes it; None for a value that no operator made
        operands: tuple[Any, ...],  # of native: courses of this loop, and plain numbers
        first: Any,  # in the first iteration
        values: Sequence[Any] | None = None,  # in each iteration; None where that is not known yet
    ) -> None:
        self.loop = loop
        self.native = native
        self.operands = operands
        self.first = first
        self._values = values

    @property
    def kind(self) -> type[Any]:
        """Returns its Python type, which is the same in all iterations."""
        return cast("type[Any]", type(self.first))

    @property
    def values(self) -> Sequence[Any] | None:
        """Returns its values, None while unknown; aborts the region where Python raises or gives another type."""
        if self._values is None and self.native is not None:
            columns = [operand.values if isinstance(operand, HostSequence) else None for operand in self.operands]
            parts = zip(self.operands, columns, strict=True)
            if any(isinstance(operand, HostSequence) and column is None for operand, column in parts):
                return None
            self._values = [self.at(trip, columns) for trip in range(len(self.loop.order))]
            self._check()
        return self._values

    def at(self, trip: int, columns: Sequence[Sequence[Any] | None]) -> Any:
        """Computes it for one iteration; ``columns`` holds the values of the operands that are courses."""
        assert self.native is not None
        operands = zip(self.operands, columns, strict=True)
        arguments = [operand if column is None else column[trip] for operand, column in operands]
        try:
            return self.native(*arguments)
        except (ArithmeticError, LookupError, ValueError, TypeError) as error:
            # Unrolled, the loop raises it where the user sees it: in that iteration.
            self.loop.give_up(f"in iteration {trip}, {type(error).__name__} ({error}) is raised, which")
            raise

    def become(self, values: Sequence[Any]) -> None:
        """Sets what it is in each iteration."""
        self._values = values
        self._check()

    def _check(self) -> None:
        odd = next((value for value in self._values or () if type(value) is not self.kind), self.first)
        if type(odd) is not self.kind:
            later = with_article(type(odd).__name__)
            reason = f"a number is {with_article(self.kind.__name__)} in the first iteration and {later} in a later one"
            # `total = 0` may be a float from the second iteration on, where another attempt may go well.
            self.loop.region.abort(reason, unsettled=True)

    def row(self) -> np.ndarray[Any, Any] | None:
        """Returns its values as an array, each rounded once; None as long as they are not known."""
        values = self.values
        if values is None:
            return None
        if self.kind is int and not (_INT32.min <= min(values) and max(values) <= _INT32.max):
            self.loop.give_up("an int that passes 32 bits, in a tensor,")
        with np.errstate(over="ignore"):
            return np.array(values, np.float64 if self.kind is float else self.kind)


class HostSequences(ABC):
    """The numbers of a loop that have a course, while its body is traced."""

    def __init__(self, region: Region, order: range) -> None:
        self.region = region
        self.order = order
        self.asked = False  # whether it was asked for the bounds of a number of which only the first value was known
        self._taken: list[tuple[HostSequence, SymbolicTensor]] = []
        self.index = HostSequence(self, None, (), order[0], order)

    @property
    def courses(self) -> HostSequences | None:
        """Itself; None where there are too many iterations for Python to compute the numbers."""
        return self if len(self.order) <= MAX_TRIPS else None

    @abstractmethod
    def take(self, course: HostSequence) -> SymbolicTensor:
        """Puts the value that a course has in the iteration that is traced into the program."""

    def give_up(self, use: str) -> NoReturn:
        """Ends the attempt to roll the loop, because ``use`` needs Python."""
        self.region.abort(f"{use} needs the number of each iteration as a Python number")
        raise InternalError("the course of a number outside an attempt to roll a loop")

    def tensor(self, course: HostSequence) -> SymbolicTensor:
        """Returns the tensor that is a course's value in the iteration that is traced."""
        taken = self.take(course)
        self._taken.append((course, taken))
        return taken

    def check(self) -> None:
        """Computes what the program takes; ends the attempt if Python cannot."""
        for course, _ in self._taken:
            course.row()

    def known(self) -> dict[Value, Any]:
        """Returns the ints and truth values that the program takes, each for all iterations."""
        taken = [(course, tensor) for course, tensor in self._taken if course.kind is not float]
        return {tensor.raw: row for course, tensor in taken if (row := course.row()) is not None}

    def course(self, native: Callable[..., Any], *operands: Any) -> HostSequence:
        """Returns the course of what is computed of others."""
        firsts = [operand.first if isinstance(operand, HostSequence) else operand for operand in operands]
        computed = HostSequence(self, native, operands, None)
        computed.first = computed.at(0, [[first] for first in firsts])
        if plain_kind(computed.first) is None:
            self.give_up(f"{with_article(type(computed.first).__name__)} made of the numbers of a loop")
        return computed

    def window(self, start: Any, stop: Any, size: int) -> tuple[HostSequence, int] | None:
        """Returns the start of a slice between courses, ints or None, and its width; None if the width differs."""
        limits = [part for part in (start, stop) if isinstance(part, HostSequence)]

        def bounds(*numbers: int) -> range:
            rest = iter(numbers)
            ends = [next(rest) if isinstance(part, HostSequence) else part for part in (start, stop)]
            return range(*slice(*ends).indices(size))

        begin = self.course(lambda *numbers: bounds(*numbers).start, *limits)
        width = self.course(lambda *numbers: len(bounds(*numbers)), *limits)
        if width.values is None:
            self.asked = True
        elif len(set(width.values)) > 1:
            return None
        return (begin, width.first) if width.first else None

    def start(self, first: Any, values: Sequence[Any] | None) -> HostSequence:
        """Returns the course of what a name holds when an iteration starts; ``values``: in each of them, if known."""
        course = HostSequence(self, None, (), first, values)
        if values is not None:
            course.become(values)
        return course

    def follow(self, after: Mapping[HostSequence, Any]) -> list[Any]:
        """Runs all iterations for the names whose courses are not known yet; returns what each holds after the loop.

        Args:
          after: by what they hold at the start of an iteration, what the iteration leaves in them: courses or numbers.
        """
        ordered = _in_order([value for value in after.values() if isinstance(value, HostSequence)])
        computed = [course for course in ordered if course.native is not None and course.values is None]
        columns: dict[HostSequence, list[Any]] = {course: [] for course in (*after, *computed)}
        series = {course: course.values for course in ordered if course not in columns}
        inputs = [
            [
                columns.get(part, series.get(part)) if isinstance(part, HostSequence) else None
                for part in course.operands
            ]
            for course in computed
        ]
        current = {start: start.first for start in after}
        # All names go through an iteration together: `a, b = b, a + b` needs both.
        for trip in range(len(self.order)):
            for start, value in current.items():
                columns[start].append(value)
            for course, arguments in zip(computed, inputs, strict=True):
                columns[course].append(course.at(trip, arguments))
            for start, value in after.items():
                column = columns.get(value, series.get(value)) if isinstance(value, HostSequence) else None
                current[start] = value if column is None else column[trip]
        for course, column in columns.items():
            course.become(column)
        for start, value in current.items():
            if type(value) is not start.kind:
                self.region.abort("a number is of another type after the loop", unsettled=True)
        return list(current.values())


def _in_order(courses: Sequence[HostSequence]) -> list[HostSequence]:
    """Returns courses and those they are computed of, these first."""
    ordered: dict[HostSequence, None] = {}
    # Without recursion: a long body makes a chain deeper than Python's stack.
    waiting = [(course, False) for course in reversed(courses)]
    while waiting:
        course, ready = waiting.pop()
        if ready:
            ordered[course] = None
        elif course not in ordered:
            waiting.append((course, True))
            waiting += [(part, False) for part in course.operands if isinstance(part, HostSequence)]
    return list(ordered)


# CourseNumber: a Python number of a loop whose body is traced once that Python computes for all iterations.


class PerIterationNumber(SymbolicNumber):
    """A number that has a course."""

    # Python does arithmetic with plain numbers and with others of the same loop. Joined with a tensor it is a tensor.

    __slots__ = ("_place", "_tensor", "course")

    def __init__(self, course: HostSequence, tensor: SymbolicTensor | None = None) -> None:
        self.trace = course.loop.region if tensor is None else tensor.trace
        self.kind = course.kind
        self.kinds = frozenset((course.kind,))
        self.joined = False
        self.course = course
        self._tensor = tensor  # what it is in the program, if that is there already
        self._place: int | None = None

    # Late: only what the graph asks for becomes a row.
    @property
    def raw(self) -> Value:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The value in the graph."""
        tensor, region = self._tensor, self.course.loop.region
        if tensor is None or (self._place is not None and not _stands_at(region, tensor, self._place)):
            tensor = self.course.loop.tensor(self.course)
            # What a body inside this one has asked for goes if that is not rolled after all; so does what this one has
            # asked for while it began to trace that.
            if context.trace is region:
                self._tensor, self._place = tensor, len(region.builder.nodes) - 1
        return tensor.raw

    @property
    def span(self) -> ValueRange | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Between which ints it lies."""
        if self.kind is not int:
            return TRUTH if self.kind is bool else None
        values = self.course.values
        if values is None:
            self.course.loop.asked = True
            return ValueRange(self.course.first, self.course.first)  # for this trial only: what asked is traced again
        span = ValueRange(min(values), max(values))
        if not span.fits:
            self.give_up("an int that passes 32 bits")
        return span

    def host_sequence(self) -> HostSequence:
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


def _stands_at(region: Region, tensor: SymbolicTensor, position: int) -> bool:
    """Returns True if a tensor is the result of the node at some place of a body, or given to it."""
    node, nodes = tensor.raw.node, region.builder.nodes
    return node is None or (position < len(nodes) and nodes[position] is node)


def _operator(
    native: Callable[..., Any], name: str, *, reflected: bool = False
) -> Callable[[PerIterationNumber, Any], Any]:
    def run(self: PerIterationNumber, other: Any) -> Any:
        result = by_trip(native, (other, self) if reflected else (self, other))
        if result is not NotImplemented:
            return result
        if name[2:-2] in COMPARISONS and self.kind is float and isinstance(other, SymbolicNumber):
            self.give_up("the comparison to a number that depends on tensors")  # which is held in fewer bits
        return getattr(SymbolicNumber, name)(self, other)

    return run


def _loops_of(values: Sequence[Any]) -> list[HostSequences] | None:
    """Returns the loops whose numbers are among some; None if not all are numbers that Python has in each iteration."""
    if not all(plain_kind(value) or host_sequence_of(value) for value in values):
        return None
    return list(dict.fromkeys([course.loop for value in values if (course := host_sequence_of(value)) is not None]))


def course_of(native: Callable[..., Any], values: Sequence[Any]) -> HostSequence | None:
    """Returns the course of what a function of Python numbers gives; None if it is not given numbers of one loop."""
    loops = _loops_of(values)
    if not loops or len(loops) > 1:
        return None
    return loops[0].course(native, *[host_sequence_of(value) or value for value in values])


def in_one_loop(native: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Returns what :func:`by_trip` does; NotImplemented of numbers of several loops."""
    course = course_of(native, values)
    return NotImplemented if course is None else PerIterationNumber(course)


def by_trip(native: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Returns what a function of numbers gives by iteration; NotImplemented for others; refuses those of two loops."""
    loops = _loops_of(values) or ()
    if len(loops) > 1:
        for loop in loops:
            if all(loop.region.is_inside(other.region) for other in loops):
                loop.give_up("arithmetic with numbers of two loops")
    return in_one_loop(native, values)


def chosen(condition: Any, first: Any, second: Any) -> Any:
    """Returns which of two numbers it is in each iteration, by a condition; NotImplemented if no course tells that."""
    if not isinstance(condition, PerIterationNumber):
        return NotImplemented
    return in_one_loop(_choose, (condition, first, second))


def _choose(truth: Any, first: Any, second: Any) -> Any:
    return first if truth else second


def window(index: Any, bounds: slice[Any, Any, Any], size: int) -> tuple[Any, int]:
    """Returns a slice's start, and its width; ``index``, one of its bounds, gives up if the width changes."""
    start, stop = bounds.start, bounds.stop
    if bounds.step is None or (type(bounds.step) is int and bounds.step == 1):
        loops = _loops_of([bound for bound in (start, stop) if bound is not None])
        if loops is not None and len(loops) == 1:
            sliced = loops[0].window(host_sequence_of(start) or start, host_sequence_of(stop) or stop, size)
            if sliced is not None:
                return PerIterationNumber(sliced[0]), sliced[1]
    return index.give_up("a slice whose width changes, or is not known,")


def _alone(native: Callable[..., Any]) -> Callable[[Any], Any]:
    return lambda self: by_trip(native, (self,))


def _define() -> None:
    for name, of in BINARY.items():
        for method, reflected in ((f"__{name}__", False), (f"__r{name}__", True)):
            setattr(PerIterationNumber, method, _operator(of.native, method, reflected=reflected))
    for name, of in COMPARISONS.items():
        setattr(PerIterationNumber, f"__{name}__", _operator(of.native, f"__{name}__"))
    for name, of in UNARY.items():
        setattr(PerIterationNumber, f"__{name}__", _alone(of.native))
    for native in (math.trunc, math.floor, math.ceil):
        setattr(PerIterationNumber, f"__{native.__name__}__", _alone(native))


_define()
