"""The loop optimizations, run to a fixed point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.ir.graph import Graph, Node
from graphc.compiler.ir.passes.accumulate import Accumulate
from graphc.compiler.ir.passes.base import REGIONS, OpsPass, starts
from graphc.compiler.ir.passes.bounds import Bounds
from graphc.compiler.ir.passes.collect import Collect
from graphc.compiler.ir.passes.cse import CSE
from graphc.compiler.ir.passes.dce import DCE
from graphc.compiler.ir.passes.fold import Fold
from graphc.compiler.ir.passes.hoist import Hoist
from graphc.compiler.ir.passes.predictive import PredictiveCommoning
from graphc.compiler.ir.passes.promote import Promote
from graphc.compiler.ir.passes.sink import Sink
from graphc.compiler.ir.passes.take_rows import TakeRows
from graphc.compiler.ir.passes.turn import Turn

__all__ = ["Loops"]


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
