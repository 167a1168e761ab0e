"""Loops that Python runs while a function is traced: each iteration becomes nodes of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from graphc.compiler.autograph.constructs.branches.branch import if_stmt, is_symbolic_condition
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.loops.copies import Copies
from graphc.compiler.autograph.constructs.loops.rolling import ForLoop
from graphc.compiler.autograph.values.growing_list import check_source
from graphc.compiler.base import config
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ir import Node
from graphc.compiler.tracing import Trace

__all__ = ["BY_HAND", "NodeLimit", "run_in_python"]

BY_HAND = "unroll=True"
"""The reason where the user asks for it."""

_TRIAL = 0.01
"""The part of the nodes allowed that a loop adds before a guess is made at how many it would add in all."""


class NodeLimit:
    """Looks that an unrolled loop does not add more nodes to the graph than are allowed.

    Args:
      trace: where the loop runs.
      kind: ``"for"`` or ``"while"``.
      reason: why it is unrolled.
      remedy: what to write instead.
      total: how many iterations there are, if that is known.
      counts: whether the loop counts, and is not over items that Python takes one by one.

    Attributes:
      done: how many iterations were run.
      added: how many nodes they have added.
      copies: what they cost.
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
      loop: the loop.
      items: what to run over.
      limit: is asked after each iteration.
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
