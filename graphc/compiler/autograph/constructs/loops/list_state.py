"""A list that a loop's body makes longer or shorter: how much room it needs, and what it is after the loop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphc.compiler.autograph.constructs.loops.known_numbers import known_numbers
from graphc.compiler.autograph.values.course import Courses
from graphc.compiler.autograph.values.course_number import CourseNumber
from graphc.compiler.autograph.values.growing_list import Growing, growing, grown, rows, samples
from graphc.compiler.autograph.values.join import is_number
from graphc.compiler.autograph.values.protocol import course_in
from graphc.compiler.base import has_mark, nest
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import Recorder, SymbolicTensor, tape_scope, trace_scope
from graphc.compiler.tracing import Trace, context

__all__ = ["ListState", "changes_length", "settled"]

_MAX_ROWS = 10_000
"""A list of more items than this stays one buffer after a loop: each item would be a node."""


def settled(value: Any) -> Any:
    """Returns a list's contents at the end of an iteration, with nothing added."""
    found = growing(value)
    return value if found is None else [found.settled()]


def changes_length(before: list[Any], after: list[Any]) -> bool:
    """Tells if an iteration leaves a list longer or shorter than it was, or of a length known at run time only."""
    return len(before) != len(after) or growing(after) is not None


def _is_number(leaf: Any) -> bool:
    return is_number(leaf) or course_in(leaf) is not None or has_mark(leaf, "__graphc_index__")


def _is_told(number: Any) -> bool:
    """Returns True if Python can tell what a number is in each iteration of a loop."""
    return is_number(number) or course_in(number) is not None


def _in_iteration(number: Any, trip: int) -> Any:
    course = course_in(number)
    values = None if course is None else course.values
    return number if values is None else values[trip]


class ListState:
    """One list, while a loop is traced.

    Args:
      trace: the trace around the loop.
      title: the list, for messages.
      items: what it holds before the loop.
      max_trips: how often the loop runs at most; None if that is not known.
      tapes: those that are open around the loop, which see how the buffer is made of the items.

    Attributes:
      value: what it holds before the loop, with room for what the loop puts in.

    Where each iteration puts in as many items as the others, their number is known in each of them (see
    :mod:`graphc.compiler.autograph.values.course`), so that no index of the list needs a check. What of the items is a
    Python number with a course stays one after the loop.
    """

    def __init__(
        self, trace: Trace, title: str, items: list[Any], max_trips: int | None, tapes: tuple[Recorder, ...]
    ) -> None:
        self.value = items
        self._trace = trace
        self._title = title
        self._max_trips = max_trips
        self._before = growing(items)
        self._items = None if self._before is not None else items
        self._entered = self._before
        if self._before is not None and course_in(self._before.count) is not None:
            # The number of items is known in each iteration of the loop around this one, not of this one.
            count = SymbolicTensor(self._before.count.raw, trace)
            self._before = replace(self._before, count=count)
        if self._before is not None:
            # What the iteration of the loop around this one has added so far is the same in all iterations of this one.
            with trace_scope(trace), tape_scope(tapes):
                self._before = self._before.settled()
            self.value = [self._before]
        self._put: int | None = None
        self._known: Growing | None = None
        self._whole = False
        self._log: list[list[Any]] = []
        self._numbers: set[int] = set()
        self._per_trip = 0
        self._growth: int | None = None
        self._bound: Growing | None = None
        self._appended = self._appended_before = 0
        self._tapes = tapes

    def bind(self, value: list[Any]) -> None:
        """Takes note of what the list holds at the start of an iteration that is about to be traced."""
        self._bound = growing(value)
        if self._bound is not None:
            body = nest.flatten(self._bound.buffer)[0][0].trace
            if body is not self._trace:
                self._bound.appends.bodies.add(body)
            self._appended = self._bound.appends.count
            if self._items is not None:
                self._bound.appends.log = []
            if self._items is None and not self._appended_before:
                self._appended_before = self._appended

    def counted(self, value: list[Any], courses: Courses | None, *, whole: bool) -> list[Any]:
        """Returns what the list holds at the start of an iteration, with a length that is known if that is likely.

        Args:
          value: what it holds there, of a length that the loop carries.
          courses: the numbers that Python computes for all iterations of the loop.
          whole: whether the loop runs all iterations, so that its length needs not be carried.
        """
        self._known, self._whole = None, whole
        if self._bound is not None and self._put and self._items is not None and courses is not None:
            lengths = [len(self._items) + self._put * trip for trip in range(len(courses.order))]
            self._known = replace(self._bound, count=CourseNumber(courses.start(lengths[0], lengths)))
            return [self._known]
        return value

    def at_end(self, after: list[Any]) -> list[Any]:
        """Returns what an iteration leaves in the list, with the length that the loop carries."""
        found = growing(after)
        if found is not None and self._known is not None and found.count is self._known.count:
            assert self._bound is not None
            return [replace(found, count=self._bound.count, added=0 if self._whole else found.added)]
        return after

    def settle(self, after: list[Any]) -> bool:
        """Looks at the list after a trial iteration; False if it needs more room, and the body another trial."""
        found = growing(after)
        if self._bound is None:
            assert self._items is not None
            self._put = len(after) - len(self._items) if found is None else found.added
            # A tensor where a branch decides how many items an iteration puts in.
            self._put = self._put if type(self._put) is int and self._put > 0 else None
            self._check_kinds(after[len(self._items) :] if found is None else samples(after))
            longer = (len(after) if found is None else found.capacity) - len(self._items)
            self._make_room(max(longer, 1), samples(after))
            return False
        if found is None:
            self._bound.fail()
        same = type(found.added) is int and found.added == self._put  # not where a tensor decides what is taken out
        if self._known is not None and not (same and found.count is self._known.count):
            self._put = None  # as branches put items in, or take some out
            return False
        appended = found.appends.count - self._appended
        if appended > self._per_trip:
            if self._items is not None:
                self._make_room(appended, samples(after))
                return False
            self._per_trip = appended
            trips = self._check_bound()
            if self._before is not None and not found.appends.are_awaited(self._trace):
                with trace_scope(self._trace), tape_scope(self._tapes):
                    self.value = [self._before.with_room(trips * appended)]
                return False
        same = self._known is not None or found.count.raw is self._bound.count.raw
        self._growth = found.added if same and isinstance(found.added, int) else None
        if self._numbers:
            self._take_log(found)
        return True

    def _check_kinds(self, items: list[Any]) -> None:
        """Gives up an attempt to roll the loop where Python numbers are put into the list that no course tells."""
        columns = [nest.flatten(item)[0] for item in items]
        numbers = {place for leaves in columns for place, leaf in enumerate(leaves) if _is_number(leaf)}
        trace = context.trace
        if not numbers or trace is None:
            return
        told = all(_is_told(leaf) for leaves in columns for leaf in leaves if _is_number(leaf))
        # A longer list stays one buffer after the loop, which holds no Python numbers.
        few = self._put is not None and (self._max_trips or 0) * self._put + len(self._items or ()) <= _MAX_ROWS
        # Where nothing but numbers is computed, Python is done sooner.
        computes = any(not output.type.weak for node in trace.builder.nodes for output in node.outputs)
        if not (told and few and computes):
            trace.abort(f"{self._title} with a Python number")
        self._numbers = numbers

    def _take_log(self, found: Growing) -> None:
        """Keeps the items that a trial has put in, whose numbers are needed after the loop."""
        trace, log = context.trace, found.appends.log
        assert trace is not None
        told = all(_is_told(leaf) for _, leaves in log or () for leaf in leaves if _is_number(leaf))
        if (
            log is None
            or not told
            or self._known is None
            or not self._whole
            or any(place is not trace for place, _ in log)
        ):
            trace.abort(f"{self._title} with a Python number")
        self._log = [leaves for _, leaves in log or ()]

    def _with_numbers(self, items: list[Any]) -> list[Any]:
        """Returns the items after the loop with the numbers among their leaves."""
        before = [nest.flatten(item)[0] for item in self._items or ()]
        new: list[Any] = []
        for place, item in enumerate(items):
            leaves, structure = nest.flatten(item)
            leaves = list(leaves)
            trip, each = divmod(place - len(before), len(self._log))  # trip < 0: it was there before the loop
            for column in self._numbers:
                leaf = before[place][column] if trip < 0 else self._log[each][column]
                if _is_number(leaf):
                    leaves[column] = _in_iteration(leaf, trip)
            new.append(nest.unflatten(structure, leaves))
        return new

    def _make_room(self, per_trip: int, kinds: list[Any]) -> None:
        self._per_trip = per_trip
        trips = self._check_bound()
        assert self._items is not None
        with trace_scope(self._trace), tape_scope(self._tapes):
            # XLA's shapes are fixed: a buffer cannot grow while the loop runs.
            capacity = len(self._items) + trips * per_trip
            made = grown(self._trace, self._title, self._items, kinds, capacity)
        made.appends.numbers = bool(self._numbers)
        self.value = [made]

    def _check_bound(self) -> int:
        if self._max_trips is None:
            error = InvalidArgumentError(
                f"{self._title} in a loop of which it is not known how often it runs, so that there is no telling how "
                "much room the list needs; give the loop a bound: gx.loop_options(max_iterations=...) as the first "
                "statement of its body"
            )
            raise self._trace.refuse(error)
        return self._max_trips

    def leave(self, value: list[Any], trips: int | None) -> list[Any]:
        """Returns what the list holds after the loop.

        Args:
          value: what the loop node gives.
          trips: how often it runs, if that is known.
        """
        found = growing(value)
        assert found is not None
        if self._items is None:
            found.appends.count = self._appended_before + self._per_trip * (self._max_trips or 0)
        grown_by = None if trips is None or self._growth is None else self._growth * trips
        if self._items is None:
            before = self._entered
            assert before is not None
            return value if grown_by is None else [replace(found, count=before.count, added=before.added + grown_by)]
        if self._known is not None and self._whole and grown_by is not None:
            found = replace(found, count=self._trace.constant(len(self._items) + grown_by), added=0)
            value = [found]
        if found.capacity > _MAX_ROWS:
            return value
        total = known_numbers(found.length) if grown_by is None else len(self._items) + grown_by
        found.appends.numbers = False
        items = None if total is None else rows(found, 0, total)
        return value if items is None else self._with_numbers(items) if self._numbers else items
