"""Control edges for effects."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.ir.graph import Graph, Node
from graphc.compiler.ir.interpreter import Rewriter, map_regions
from graphc.compiler.ir.opdef import Effect, EffectKind

_MAX_STEPS = 32
"""Maximum number of nodes inspected, for one node, to find that an edge is implied. If this many do not show it, a
redundant edge is added: it costs little, and the pass stays linear."""


@dataclass(frozen=True)
class Order:
    """Adds the control edges that effects require.

    Before: a valid graph in program order. After: the same nodes in the same order; of two nodes that access one
      resource, one of them writing it, the later depends on the earlier by a path of edges, so that any schedule that
      respects the edges keeps their order. An edge is added only where no such path exists.
    """

    name: ClassVar[str] = "order"
    needs: ClassVar[frozenset[str]] = frozenset()

    def __call__(self, graph: Graph) -> Graph:
        """Adds the control edges."""
        rewriter = Rewriter(graph)
        history = _History()
        paths = _Paths(graph)
        for node in graph.nodes:
            added = paths.missing(node, history.before(node.effects)) if node.effects else []
            history.record(node)
            controls = [rewriter.current(control) for control in (*node.control_inputs, *added)]
            rewriter.keep(node, regions=map_regions(node, self), control_inputs=controls)
        return rewriter.finish()


class _History:
    """The last writer of each resource, and the readers since."""

    def __init__(self) -> None:
        self._writer: dict[str, Node] = {}
        self._readers: dict[str, list[Node]] = {}

    def before(self, effects: Iterable[Effect]) -> set[Node]:
        """Returns the nodes that must precede a node with these effects."""
        preceding: set[Node] = set()
        for effect in effects:
            readers = self._readers.get(effect.resource)
            writer = self._writer.get(effect.resource)
            if readers and effect.kind is EffectKind.WRITE:
                preceding.update(readers)  # each follows the writer, so no other edge is needed
            elif writer is not None:
                preceding.add(writer)
        return preceding

    def record(self, node: Node) -> None:
        """Records the effects of a node."""
        for effect in node.effects:
            if effect.kind is EffectKind.READ:
                self._readers.setdefault(effect.resource, []).append(node)
        for effect in node.effects:
            if effect.kind is EffectKind.WRITE:
                self._writer[effect.resource] = node
                self._readers.pop(effect.resource, None)


class _Paths:
    """The paths between nodes, including the edges added so far."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._position = {node: position for position, node in enumerate(graph.nodes)}
        self._added: dict[Node, list[Node]] = {}

    def missing(self, node: Node, candidates: set[Node]) -> list[Node]:
        """Returns the candidates that need an edge; they count as connected from now on."""
        # Every edge points back in the order, so the search takes the latest node first: a candidate later than all
        # nodes still to visit has no path.
        position = self._position
        waiting = sorted((position[candidate] for candidate in candidates), reverse=True)
        seen: set[int] = set()
        heap: list[int] = []
        added: list[Node] = []

        def visit(sources: Iterable[Node]) -> None:
            for source in sources:
                rank = position[source]
                if rank not in seen:
                    seen.add(rank)
                    heapq.heappush(heap, -rank)

        visit(self._sources(node))
        steps = 0
        for candidate in waiting:
            while heap and -heap[0] > candidate and candidate not in seen and steps < _MAX_STEPS:
                visit(self._sources(self._graph.nodes[-heapq.heappop(heap)]))
                steps += 1
            if candidate not in seen:
                added.append(self._graph.nodes[candidate])
                visit(added[-1:])
        if added:
            self._added[node] = added
        return added[::-1]

    def _sources(self, node: Node) -> Iterator[Node]:
        for value in node.inputs:
            if value.node is not None:
                yield value.node
        yield from node.control_inputs
        yield from self._added.get(node, ())
