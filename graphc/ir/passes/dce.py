"""Dead-code elimination."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from graphc.ir.effects import EffectKind
from graphc.ir.graph import Graph
from graphc.ir.node import Node
from graphc.ir.rewrite import Rewriter, map_regions

__all__ = ["DCE"]


@dataclass(frozen=True)
class DCE:
    """Removes nodes that nobody needs.

    Before: a valid graph. After: the same outputs and the same writes in the same order; every node that is left
    writes something, or is needed, directly or not, by a node that does or by an output of the graph. Reads go when
    their results are unused.

    A control edge needs its source only if an effect is at or before the source; otherwise there is nothing to wait
    for, and the edge goes.
    """

    name: ClassVar[str] = "dce"

    def __call__(self, graph: Graph) -> Graph:
        """Removes nodes that nobody needs."""
        graph = _clean_regions(graph, self)
        ordered = _ordered(graph)
        live: set[Node] = {value.node for value in graph.outputs if value.node is not None}
        for node in reversed(graph.nodes):
            if node not in live and any(effect.kind is EffectKind.WRITE for effect in node.effects):
                live.add(node)
            if node in live:
                live.update([value.node for value in node.inputs if value.node is not None])
                live.update([control for control in node.control_inputs if control in ordered])
        rewriter = Rewriter(graph)
        for node in graph.nodes:
            if node in live:
                controls = [rewriter.current(control) for control in node.control_inputs if control in ordered]
                rewriter.keep(node, control_inputs=controls)
        return rewriter.finish()


def _clean_regions(graph: Graph, clean: Callable[[Graph], Graph]) -> Graph:
    """The graph with clean regions, which may have fewer effects, so that a node around them may go."""
    if not any(node.regions for node in graph.nodes):
        return graph
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        rewriter.keep(node, regions=map_regions(node, clean))
    return rewriter.finish()


def _ordered(graph: Graph) -> set[Node]:
    """The nodes that have effects or come, by any edges, after one that has."""
    ordered: set[Node] = set()
    for node in graph.nodes:
        if (
            any(value.node in ordered for value in node.inputs)
            or any(control in ordered for control in node.control_inputs)
            or node.effects
        ):
            ordered.add(node)
    return ordered
