"""Loop-invariant code motion."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.base import UniqueNames
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.passes.base import LOOPS
from graphc.compiler.ir.passes.copying import Copier, subgraph
from graphc.compiler.ir.passes.loop_nodes import Loop, is_light
from graphc.compiler.ir.passes.loop_pass import LoopPass, Replacement

__all__ = ["Hoist", "Move", "results_read"]


@dataclass(frozen=True)
class Hoist(LoopPass):
    """Moves invariant computations out of loops.

    Before: a valid graph. After: the same graph, except that nodes of a loop's body that depend neither on its carried
      values nor on its index or rows, have no effects and are not light, stand before the loop. Light nodes follow if
      one of those needs them. Others stay: XLA fuses them with their users, and reading their results from memory takes
      up to twice as long (an addition or ``exp`` of 300 x 300 floats: 1.0 ms within the loop, 1.5 ms before it).
      Nothing leaves a ``while`` that may have no iteration: it might cost more than the loop, and an infinite
      derivative would make the gradient NaN.

    XLA itself moves most of this, but only after the gradients are taken. Hoisting a product of matrices earlier
    computes its gradient once, and not in each iteration (12 times as fast).
    """

    name: ClassVar[str] = "hoist"
    needs: ClassVar[frozenset[str]] = LOOPS

    def plan(self, loop: Loop) -> Move | None:
        """Returns the invariant nodes and the loop without them."""
        chosen = self._chosen(loop)
        return Move(loop, self.ops, loop.body, chosen) if chosen else None

    def _chosen(self, loop: Loop) -> list[Node]:
        """Returns the nodes that are worth moving."""
        if not loop.runs or loop.attrs.get("length") == 1:
            return []
        free = loop.free(loop.invariants(), self.ops)
        moving = (node for node in loop.body.nodes if node.outputs and free.issuperset(node.outputs))
        return [node for node in moving if not is_light(node, self.ops)]


@dataclass(frozen=True)
class Move(Replacement):
    """A loop that some nodes of its body, or of its test, leave."""

    region: Graph
    chosen: Sequence[Node]

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value]]:
        """Returns the nodes before the loop, and the loop."""
        loop, region = self.loop, self.region
        inside = loop.inside if region is loop.body else region.inputs
        before = Copier(dict(zip(inside, inputs, strict=True)), names, loop.node.device)
        leaving = set(self.chosen)
        before.copy_sources((output for node in self.chosen for output in node.outputs), region.nodes)
        staying = [node for node in region.nodes if node not in leaving]
        given = results_read(region, leaving)
        regions = [
            subgraph([*each.inputs, *given], staying if each is region else each.nodes, each.outputs, each.name)
            for each in loop.node.regions
        ]
        node = loop.rebuilt([*inputs, *(before.values[value] for value in given)], regions)
        return [*before.nodes, node], node.outputs


def results_read(region: Graph, nodes: Collection[Node]) -> list[Value]:
    """Returns the results of some nodes of a region that its other nodes read, or that it returns."""
    readers = (node.inputs for node in region.nodes if node not in nodes)
    used = dict.fromkeys(value for values in (*readers, region.outputs) for value in values)
    return [value for value in used if value.node in nodes]
