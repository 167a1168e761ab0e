"""Dead-code elimination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphc.ir.effects import EffectKind
from graphc.ir.graph import Graph
from graphc.ir.node import Node
from graphc.ir.rewrite import Rewriter, map_inside

__all__ = ["DCE"]


@dataclass(frozen=True)
class DCE:
    """Removes nodes that nobody needs.

    Before: a valid graph. After: the same outputs and the same writes in the same order; every node that is left
    writes something, or is needed, directly or not, by a node that does or by an output of the graph. Reads go when
    their results are unused and nothing waits for them.

    A control input of a node that is left is left too, as in TensorFlow: somebody asked to wait for it.
    """

    name: ClassVar[str] = "dce"

    def __call__(self, graph: Graph) -> Graph:
        """Removes nodes that nobody needs."""
        graph = map_inside(graph, self)  # which may have fewer effects, so that a node around them may go
        live: set[Node] = {value.node for value in graph.outputs if value.node is not None}
        for node in reversed(graph.nodes):
            if node not in live and any(effect.kind is EffectKind.WRITE for effect in node.effects):
                live.add(node)
            if node in live:
                live.update([value.node for value in node.inputs if value.node is not None])
                live.update(node.control_inputs)
        rewriter = Rewriter(graph)
        for node in graph.nodes:
            if node in live:
                rewriter.keep(node)
        return rewriter.finish()
