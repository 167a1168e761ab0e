"""The pipeline: runs passes in order, with checks between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.base import config, errors, user_location, warn_at
from graphc.compiler.ir.graph import Graph, Node
from graphc.compiler.ir.passes.accumulate import Accumulate
from graphc.compiler.ir.passes.base import REGIONS, OpsPass, Pass, starts
from graphc.compiler.ir.passes.bounds import Bounds
from graphc.compiler.ir.passes.collect import Collect
from graphc.compiler.ir.passes.flatten import Flatten
from graphc.compiler.ir.passes.hoist import Hoist, Pretest, Speculate
from graphc.compiler.ir.passes.if_convert import IfConvert
from graphc.compiler.ir.passes.order import Order
from graphc.compiler.ir.passes.predictive import PredictiveCommoning
from graphc.compiler.ir.passes.promote import Promote
from graphc.compiler.ir.passes.shift import Shift
from graphc.compiler.ir.passes.simplify import CSE, DCE, Fold
from graphc.compiler.ir.passes.sink import Sink
from graphc.compiler.ir.passes.take_rows import TakeRows, Turn
from graphc.compiler.ir.passes.unroll import Unroll
from graphc.compiler.ir.verifier import verify

# The loop optimizations, run to a fixed point.

_WITH_GRADIENTS = (Accumulate, Bounds, Hoist, Promote, PredictiveCommoning, Collect, TakeRows, Sink, Turn)
_WITHOUT_GRADIENTS = (Accumulate, Bounds, Hoist, Collect, Sink, Turn)
"""Carrying parts of an array, or taking its rows before the loop, spares the gradient an array in each iteration. A
loop without gradients reads and writes the array in place, which is up to four times as fast."""


def _is_derivative(node: Node) -> bool:
    return node.op.name == "vjp" and bool(node.regions)


@dataclass(frozen=True)
class Loops(OpsPass):
    """Optimizes loops, and cleans up afterwards.

    Before: a valid graph. After: the same, in which :class:`Accumulate`, :class:`Bounds`, :class:`Hoist`,
    :class:`Promote`, :class:`PredictiveCommoning`, :class:`Collect`, :class:`TakeRows`, :class:`Sink` and
    :class:`Turn` find nothing to do. What they find in a loop they find at once; a nest of loops may need once more
    for each level. Those that carry parts of arrays run where the graph has the derivative of a loop or branch.
    """

    name: ClassVar[str] = "loops"
    needs: ClassVar[frozenset[str]] = frozenset((REGIONS, "update_item"))

    def __call__(self, graph: Graph) -> Graph:
        """Runs the passes until they find nothing."""
        steps = [
            step(self.ops)
            for step in (_WITH_GRADIENTS if any(map(_is_derivative, graph.walk())) else _WITHOUT_GRADIENTS)
        ]
        quiet = 0  # so many steps in a row have found nothing: each need not look at the same graph twice
        while True:
            before = graph
            for step in steps:
                graph, old = step(graph) if starts(step, graph) else graph, graph
                quiet = quiet + 1 if graph is old else 0
                if quiet == len(steps):
                    return graph
            if graph is not before:
                for step in (Fold(), CSE(), DCE()):
                    graph, old = step(graph), graph
                    quiet = quiet if graph is old else 0


# Flattening goes first, because the other passes take longer on deeply nested branches. Folding precedes merging
# because it makes equal constants, and removal comes last but one because the others leave unused nodes. Order is last:
# it must see exactly the remaining effects. Loops come after merging, so that equal loops are merged.
DEFAULT: tuple[Pass, ...] = (Flatten(), DCE(), Fold(), CSE(), Loops(), DCE(), Order())

# These apply only to code that XLA compiles as a unit: gradients are taken of the graph before them. After a branch is
# converted, its test and its body may read the same items, and a body may be light enough to unroll its loop. Branches
# that stay and tests give up what is invariant. Shifts come last: the other passes know divisions.
LATE: tuple[Pass, ...] = (IfConvert(), Unroll(), Speculate(), Pretest(), Shift())


_failed: set[str] = set()
"""The passes whose failure was reported."""


def run_passes(graph: Graph, passes: Sequence[Pass] = DEFAULT) -> Graph:
    """Runs passes in order.

    With ``config.verify`` (``GRAPHC_VERIFY=1``) the graph is verified before the first pass and after each one that
    changed it. A pass with an internal error is skipped for this graph, which is reported once.

    Raises:
      VerificationError: the given graph is invalid, or a pass made it so; the message names the pass.
    """
    if config.verify:
        verify(graph)
    for step in passes:
        if not starts(step, graph):
            continue
        before = graph
        try:
            graph = step(graph)
        except errors.GraphcError:
            raise
        except Exception as error:
            if config.verify:
                raise
            _report(step, graph, error)
        if config.verify and graph is not before:
            try:
                verify(graph)
            except errors.VerificationError as error:
                raise errors.VerificationError(f"the pass {step.name!r} broke the graph: {error}") from error
    return graph


def _report(step: Pass, graph: Graph, error: Exception) -> None:
    """Warns that a pass was skipped, once for each pass."""
    if step.name in _failed:
        return
    _failed.add(step.name)
    warning = errors.GraphcWarning(
        f"the compiler pass {step.name!r} failed on {graph.name!r} ({type(error).__name__}: {error}) and was skipped: "
        "results are right, but the program may be slower. Please report it, with the output of GRAPHC_VERIFY=1"
    )
    warn_at(warning, user_location())
