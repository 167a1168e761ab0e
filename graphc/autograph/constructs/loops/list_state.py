"""A list that a loop's body makes longer or shorter: how much room it needs, and what it is after the loop."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from graphc.autograph.constructs.loops.known_numbers import known_numbers
from graphc.autograph.values.course_number import CourseNumber
from graphc.autograph.values.growing_list import Growing, growing, grown, rows, samples
from graphc.autograph.values.index import LoopIndex
from graphc.autograph.values.join import is_number
from graphc.base import nest
from graphc.base.errors import InvalidArgumentError
from graphc.core import Recorder, tape_scope, trace_scope
from graphc.tracing import Trace, context

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
            if self._items is None and not self._appended_before:
                self._appended_before = self._appended

    def settle(self, after: list[Any]) -> bool:
        """Looks at the list after a trial iteration; False if it needs more room, and the body another trial."""
        found = growing(after)
        if self._bound is None:
            assert self._items is not None
            self._check_kinds(after[len(self._items) :] if found is None else samples(after))
            longer = (len(after) if found is None else found.capacity) - len(self._items)
            self._make_room(max(longer, 1), samples(after))
            return False
        if found is None:
            self._bound.fail()
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
        same = found.count.raw is self._bound.count.raw
        self._growth = found.added if same and isinstance(found.added, int) else None
        return True

    def _check_kinds(self, items: list[Any]) -> None:
        """Gives up an attempt to roll the loop where Python numbers are put into the list: they would be tensors."""
        leaves = nest.flatten(items)[0]
        numbers = [leaf for leaf in leaves if is_number(leaf) or isinstance(leaf, LoopIndex | CourseNumber)]
        if numbers and context.trace is not None:
            context.trace.abort(f"{self._title} with a Python number")

    def _make_room(self, per_trip: int, kinds: list[Any]) -> None:
        self._per_trip = per_trip
        trips = self._check_bound()
        assert self._items is not None
        with trace_scope(self._trace), tape_scope(self._tapes):
            capacity = len(self._items) + trips * per_trip
            self.value = [grown(self._trace, self._title, self._items, kinds, capacity)]

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
            before = self._before
            assert before is not None
            return value if grown_by is None else [replace(found, count=before.count, added=before.added + grown_by)]
        if found.capacity > _MAX_ROWS:
            return value
        total = known_numbers(found.length) if grown_by is None else len(self._items) + grown_by
        return value if total is None else rows(found, 0, total)
