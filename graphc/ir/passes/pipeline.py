"""Runs passes one after the other, with checks between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Protocol

from graphc.base import config, errors
from graphc.ir.graph import Graph
from graphc.ir.passes.cse import CSE
from graphc.ir.passes.dce import DCE
from graphc.ir.passes.flatten import Flatten
from graphc.ir.passes.fold import Fold
from graphc.ir.passes.if_convert import IfConvert
from graphc.ir.passes.loops import Loops
from graphc.ir.passes.order import Order
from graphc.ir.verifier import verify

__all__ = ["DEFAULT", "LATE", "Pass", "run_passes"]


class Pass(Protocol):
    """A function from a graph to a graph, with a name; valid graphs give valid graphs."""

    name: ClassVar[str]
    """The name in messages and on the command line."""

    def __call__(self, graph: Graph) -> Graph:
        """Returns the new graph; the same object when there is nothing to do."""
        ...


# Flattening goes first, because the others take the longer the deeper branches are nested. Folding goes before merging
# because it makes equal constants, and removal goes last but one because all of them leave nodes without users. Order
# is last: it must see exactly the effects that are left. Loops come after merging, so that equal ones are one.
DEFAULT: tuple[Pass, ...] = (Flatten(), DCE(), Fold(), CSE(), Loops(), DCE(), Order())

# What follows is done to what XLA compiles alone: gradients are taken of the graph before it. Where a branch was, the
# test and the branch may look at the same items.
LATE: tuple[Pass, ...] = (IfConvert(),)


def run_passes(graph: Graph, passes: Sequence[Pass] = DEFAULT) -> Graph:
    """Runs passes in order.

    With ``config.verify`` (``GRAPHC_VERIFY=1``) the graph is checked before the first pass and after each that did
    something.

    Raises:
      VerificationError: the graph given is not valid, or a pass broke it; the message names the pass.
    """
    if config.verify:
        verify(graph)
    for step in passes:
        before, graph = graph, step(graph)
        if config.verify and graph is not before:
            try:
                verify(graph)
            except errors.VerificationError as error:
                raise errors.VerificationError(f"the pass {step.name!r} broke the graph: {error}") from error
    return graph
