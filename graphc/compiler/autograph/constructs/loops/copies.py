"""The cost of the copies of a body that an unrolled loop leaves in the graph, for reports and a warning."""

from __future__ import annotations

import time
from dataclasses import replace
from weakref import WeakKeyDictionary

from graphc.compiler.base import Location, user_location, warn_at
from graphc.compiler.base.errors import GraphcWarning
from graphc.compiler.tracing import LoopReport, Trace

__all__ = ["MANY_COPIES", "Copies"]

MANY_COPIES = 200
"""So many copies of a body are made without a warning. XLA's time grows with them, at worst with their square."""

_MANY_NODES, _LONG = 2000, 5.0
"""Copies with more nodes, or that take more seconds to trace, are warned of where another body could be rolled."""

_warned: WeakKeyDictionary[Trace, set[Location | None]] = WeakKeyDictionary()
"""For each trace of a function the loops that were warned of."""


class Copies:
    """The copies of a body.

    Args:
      trace: the trace around the loop.
      what: the loop and why it is unrolled: "this for loop is unrolled, because ...".
      remedy: what to write instead; None if the user asked for the copies.
      total: how many there will be, if that is known.
      counts: whether the loop counts, so that another body could be rolled; items of a list are taken one by one.
    """

    def __init__(self, trace: Trace, what: str, remedy: str | None, total: int | None, *, counts: bool = False) -> None:
        self._trace = trace
        self._what = what
        self._remedy = remedy
        self._total = total
        self._location = user_location()
        self._counts = counts
        self._start = time.perf_counter()
        self._copies = self._nodes = 0

    def count(self, copies: int, nodes: int) -> None:
        """Takes note of the copies that are there, and how many nodes they have; warns of too many."""
        self._copies, self._nodes = copies, nodes
        # A body that computes on Python numbers adds no nodes, and costs nothing.
        many = copies == MANY_COPIES + 1 and nodes >= copies
        if self._remedy is not None and (many or (self._counts and self._is_slow())):
            warned = _warned.setdefault(self._trace.root, set())
            if self._location not in warned:
                warned.add(self._location)
                warn_at(GraphcWarning(self._warning()), self._location)

    def _is_slow(self) -> bool:
        return self._copies > 1 and (self._nodes > _MANY_NODES or time.perf_counter() - self._start > _LONG)

    def _warning(self) -> str:
        each = max(1, round(self._nodes / self._copies))
        total = f"more than {self._copies - 1:,}" if self._total is None else f"{self._total:,}"
        return (
            f"{self._what}; it becomes {total} copies of its body of about {each:,} nodes each, which take long to "
            f"compile, where a rolled loop has one. {self._remedy}"
        )

    def put_into(self, report: LoopReport) -> None:
        """Adds what the copies cost to the report on the loop, if that still stands."""
        reports = self._trace.root.loops
        for place, other in enumerate(reports):
            if other is report:  # equal ones may be those of other loops
                reports[place] = replace(report, copies=self._copies, nodes=self._nodes)
