"""Dead-code elimination."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.ir.graph import Graph, Node
from graphc.compiler.ir.interpreter import Rewriter, map_inside
from graphc.compiler.ir.opdef import EffectKind

__all__ = ["DCE"]


@dataclass(frozen=True)
class DCE:
    """Removes unused nodes.

    Before: a valid graph. After: the same outputs and the same writes in the same order; every remaining node writes
      something, or is needed, directly or indirectly, by a node that does or by an output of the graph. A read is
      removed if its result is unused and no node waits for it.

    A control input of a remaining node remains too, as in TensorFlow: the user asked to wait for it.
    """

    name: ClassVar[str] = "dce"
    needs: ClassVar[frozenset[str]] = frozenset()

    def __call__(self, graph: Graph) -> Graph:
        """Removes unused nodes."""
        graph = map_inside(graph, self)  # it may remove effects, so that the node around them is unused
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
