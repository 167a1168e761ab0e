"""Loops that Python runs while a function is traced: each iteration becomes nodes of its own."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

from graphc.compiler.autograph.constructs.branches.branch import if_stmt, is_symbolic_condition
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.loops.rolling import ForLoop
from graphc.compiler.autograph.values.growing_list import check_source
from graphc.compiler.base import Location, config, user_location, warn_at
from graphc.compiler.base.errors import GraphcWarning, InvalidArgumentError
from graphc.compiler.ir import Node
from graphc.compiler.tracing import LoopReport, Trace

__all__ = ["BY_HAND", "MANY_COPIES", "Copies", "NodeLimit", "run_in_python"]

# The cost of the copies of a body that an unrolled loop leaves in the graph, for reports and a warning.

MANY_COPIES = 200
"""So many copies of a body are made without a warning. XLA's time grows with them, at worst with their square."""

_MANY_NODES, _LONG = 2000, 5.0
"""Copies with more nodes, or that take more seconds to trace, are warned of where another body could be rolled."""

_warned: WeakKeyDictionary[Trace, set[Location | None]] = WeakKeyDictionary()
"""For each trace of a function the loops that were warned of."""


class Copies:
    """The copies of a body.

    Args:
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


BY_HAND = "unroll=True"
"""The reason where the user asks for it."""

_TRIAL = 0.01
"""The part of the nodes allowed that a loop adds before a guess is made at how many it would add in all."""


class NodeLimit:
    """Looks that an unrolled loop does not add more nodes to the graph than are allowed.

    Args:
      kind: ``"for"`` or ``"while"``.
      total: how many iterations there are, if that is known.
      counts: whether the loop counts, and is not over items that Python takes one by one.
    """

    def __init__(
        self, trace: Trace, kind: str, reason: str, remedy: str, total: int | None, *, counts: bool = False
    ) -> None:
        self.done = self.added = 0
        self._trace = trace
        self._what = f"this {kind} loop is unrolled, because {reason}"
        self.copies = Copies(trace, self._what, None if reason == BY_HAND else remedy, total, counts=counts)
        self._remedy = remedy
        self._total = total
        self._counted = len(trace.builder.nodes)
        self._before = (0, 0)

    def check(self) -> None:
        """Is called after each iteration.

        Raises:
          InvalidArgumentError: there are too many nodes, or there will be if the iterations go on as the last ones did.
        """
        self.done += 1
        nodes = self._trace.builder.nodes
        self.added += sum(map(_size, nodes[self._counted :]))
        self._counted = len(nodes)
        self.copies.count(self.done, self.added)
        limit = config.max_unrolled_nodes
        if self.added > limit:
            raise self._refused(f"has added {self.added:,} nodes")
        # At powers of two, so that each guess rests on as many new iterations as all before it.
        if self._total is not None and not self.done & (self.done - 1):
            done, nodes_then = self._before
            rate = (self.added - nodes_then) / (self.done - done)
            guess = self.added + round(rate * (self._total - self.done))
            if self.done > 1 and guess > limit and self.added >= _TRIAL * limit:
                raise self._refused(f"would add about {guess:,} nodes in all")
            self._before = (self.done, self.added)

    def _refused(self, found: str) -> Exception:
        total = "" if self._total is None else f" of {self._total:,}"
        error = InvalidArgumentError(
            f"{self._what}; after {self.done:,}{total} iterations it {found}, more than the "
            f"{config.max_unrolled_nodes:,} of gx.config.max_unrolled_nodes. {self._remedy}, or allow more nodes"
        )
        return self._trace.refuse(error)


def _size(node: Node) -> int:
    """Returns how many nodes a node is, with those of its regions."""
    return 1 + sum(_size(inner) for region in node.regions for inner in region.nodes)


def run_in_python(
    loop: ForLoop,
    items: Iterable[Any],
    limit: NodeLimit,
    going_on: Any = True,
    enough: Callable[[], bool] = lambda: False,
) -> Any:
    """Runs a ``for`` loop as Python does.

    Args:
      going_on: whether the first iteration is to be run.
      enough: is asked after each iteration, and returns True to stop there.

    Returns:
      Whether a further iteration would be run.
    """
    variables = loop.variables
    iterator = in_python(iter, items)
    while True:
        # Before next(): after a `break`, Python takes no further item.
        if not is_symbolic_condition(going_on) and not going_on:
            break
        try:
            check_source(iterator)
            item = in_python(next, iterator)
        except StopIteration:
            break
        if is_symbolic_condition(going_on):
            # A break or return on a tensor: the iterations after it are there, but do nothing.
            if_stmt(going_on, partial(loop.body, item), _nothing, variables.get, variables.set, variables.names)
        else:
            loop.body(item)
        limit.check()
        going_on = True if loop.extra_test is None else loop.extra_test()
        if enough():
            break
    return going_on


def _nothing() -> None:
    pass
