"""The value of a Python number in each iteration of a loop that is traced once, where no tensor decides it.

``rate *= 0.97`` gives another number in each iteration, and Python can tell all of them before the program runs. A
:class:`Course` says how such a number is computed; Python computes it for all iterations, exactly as if the loop were
unrolled, and the loop takes what the graph needs of it as a row of values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, cast

import numpy as np

from graphc.compiler.base import with_article
from graphc.compiler.base.errors import InternalError
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.ir import Value
from graphc.compiler.tracing import Region

__all__ = ["MAX_TRIPS", "Course", "Courses", "plain_kind"]

MAX_TRIPS = 50_000
"""Of a loop with more iterations no courses are followed: Python would compute for longer than it takes to trace."""

_KINDS = (bool, int, float)
_INT32 = np.iinfo(np.int32)


def plain_kind(value: Any) -> type[Any] | None:
    """Returns the Python type of a number that may have a course; None for anything else."""
    kind = cast("type[Any]", type(value))
    return kind if kind in _KINDS else None


class Course:
    """The values of a number in all iterations.

    Args:
      native: what computes it; None for what is given.
      operands: of what: courses of this loop, and plain numbers.
      first: what it is in the first iteration.
      values: what it is in each iteration; None where that is not known yet.
    """

    __slots__ = ("_values", "first", "loop", "native", "operands")

    def __init__(
        self,
        loop: Courses,
        native: Callable[..., Any] | None,
        operands: tuple[Any, ...],
        first: Any,
        values: Sequence[Any] | None = None,
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
        """Returns what it is in each iteration; None as long as that is not known.

        Raises:
          RegionAborted: Python raises an exception in one of them, or computes a number of another type.
        """
        if self._values is None and self.native is not None:
            columns = [operand.values if isinstance(operand, Course) else None for operand in self.operands]
            parts = zip(self.operands, columns, strict=True)
            if any(isinstance(operand, Course) and column is None for operand, column in parts):
                return None
            self._values = [self.at(trip, columns) for trip in range(len(self.loop.order))]
            self._check()
        return self._values

    def at(self, trip: int, columns: Sequence[Sequence[Any] | None]) -> Any:
        """Computes it for one iteration; ``columns`` holds the values of the operands that are courses."""
        assert self.native is not None
        operands = zip(self.operands, columns, strict=True)
        given = [operand if column is None else column[trip] for operand, column in operands]
        try:
            return self.native(*given)
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


class Courses(ABC):
    """The numbers of a loop that have a course, while its body is traced.

    Attributes:
      asked: whether it was asked between which ints a number lies of which only the first one was known.
    """

    def __init__(self, region: Region, order: range) -> None:
        self.region = region
        self.order = order
        self.asked = False
        self._taken: list[tuple[Course, SymbolicTensor]] = []
        self.index = Course(self, None, (), order[0], order)

    @property
    def courses(self) -> Courses | None:
        """Itself; None where there are too many iterations for Python to compute the numbers."""
        return self if len(self.order) <= MAX_TRIPS else None

    @abstractmethod
    def take(self, course: Course) -> SymbolicTensor:
        """Puts the value that a course has in the iteration that is traced into the program."""

    def give_up(self, use: str) -> NoReturn:
        """Ends the attempt to roll the loop, because ``use`` needs Python."""
        self.region.abort(f"{use} needs the number of each iteration as a Python number")
        raise InternalError("the course of a number outside an attempt to roll a loop")

    def tensor(self, course: Course) -> SymbolicTensor:
        """Returns the tensor that is a course's value in the iteration that is traced."""
        found = self.take(course)
        self._taken.append((course, found))
        return found

    def check(self) -> None:
        """Computes what the program takes; ends the attempt if Python cannot."""
        for course, _ in self._taken:
            course.row()

    def known(self) -> dict[Value, Any]:
        """Returns the ints and truth values that the program takes, each for all iterations."""
        taken = [(course, tensor) for course, tensor in self._taken if course.kind is not float]
        return {tensor.raw: row for course, tensor in taken if (row := course.row()) is not None}

    def course(self, native: Callable[..., Any], *operands: Any) -> Course:
        """Returns the course of what is computed of others."""
        firsts = [operand.first if isinstance(operand, Course) else operand for operand in operands]
        found = Course(self, native, operands, None)
        found.first = found.at(0, [[first] for first in firsts])
        if plain_kind(found.first) is None:
            self.give_up(f"{with_article(type(found.first).__name__)} made of the numbers of a loop")
        return found

    def window(self, start: Any, stop: Any, size: int) -> tuple[Course, int] | None:
        """Returns where a slice begins, and its width, which must be the same in all iterations; None if it is not.

        Args:
          start: a course, an int, or None.
        """
        given = [part for part in (start, stop) if isinstance(part, Course)]

        def bounds(*numbers: int) -> range:
            rest = iter(numbers)
            ends = [next(rest) if isinstance(part, Course) else part for part in (start, stop)]
            return range(*slice(*ends).indices(size))

        begin = self.course(lambda *numbers: bounds(*numbers).start, *given)
        width = self.course(lambda *numbers: len(bounds(*numbers)), *given)
        if width.values is None:
            self.asked = True
        elif len(set(width.values)) > 1:
            return None
        return (begin, width.first) if width.first else None

    def start(self, first: Any, values: Sequence[Any] | None) -> Course:
        """Returns the course of what a name holds at the start of an iteration.

        Args:
          values: what it is in each iteration, if that is known.
        """
        found = Course(self, None, (), first, values)
        if values is not None:
            found.become(values)
        return found

    def follow(self, after: Mapping[Course, Any]) -> list[Any]:
        """Runs all iterations for the names whose courses are not known yet.

        Args:
          after: by what they hold at the start of an iteration, what the iteration leaves in them: courses or numbers.

        Returns:
          What each of them holds after the loop.
        """
        made = _in_order([value for value in after.values() if isinstance(value, Course)])
        computed = [course for course in made if course.native is not None and course.values is None]
        columns: dict[Course, list[Any]] = {course: [] for course in (*after, *computed)}
        known = {course: course.values for course in made if course not in columns}
        inputs = [
            [columns.get(part, known.get(part)) if isinstance(part, Course) else None for part in course.operands]
            for course in computed
        ]
        current = {start: start.first for start in after}
        # All names go through an iteration together: `a, b = b, a + b` needs both.
        for trip in range(len(self.order)):
            for start, value in current.items():
                columns[start].append(value)
            for course, given in zip(computed, inputs, strict=True):
                columns[course].append(course.at(trip, given))
            for start, value in after.items():
                column = columns.get(value, known.get(value)) if isinstance(value, Course) else None
                current[start] = value if column is None else column[trip]
        for course, column in columns.items():
            course.become(column)
        for start, value in current.items():
            if type(value) is not start.kind:
                self.region.abort("a number is of another type after the loop", unsettled=True)
        return list(current.values())


def _in_order(courses: Sequence[Course]) -> list[Course]:
    """Returns courses and those they are computed of, these first."""
    found: dict[Course, None] = {}
    # Without recursion: a long body makes a chain deeper than Python's stack.
    waiting = [(course, False) for course in reversed(courses)]
    while waiting:
        course, ready = waiting.pop()
        if ready:
            found[course] = None
        elif course not in found:
            waiting.append((course, True))
            waiting += [(part, False) for part in course.operands if isinstance(part, Course)]
    return list(found)
