"""Common-subexpression elimination."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.ir.graph import Graph, Node
from graphc.compiler.ir.interpreter import Rewriter, map_regions
from graphc.compiler.ir.opdef import EffectKind

__all__ = ["CSE"]


@dataclass(frozen=True)
class CSE:
    """Merges nodes that compute the same value.

    Before: a valid graph. After: no two nodes without writes have the same op, inputs, attributes, regions, device and
      control inputs, unless they read something that a node between them writes. All nodes with writes remain. The
      first of equal nodes stays, under its own name.
    """

    name: ClassVar[str] = "cse"
    needs: ClassVar[frozenset[str]] = frozenset()

    def __call__(self, graph: Graph) -> Graph:
        """Merges equal nodes."""
        rewriter = Rewriter(graph)
        first: dict[Hashable, Node] = {}
        writes: Counter[str] = Counter()
        for node in graph.nodes:
            regions = map_regions(node, self)
            effects = node.effects
            written = [effect.resource for effect in effects if effect.kind is EffectKind.WRITE]
            if written:
                writes.update(written)
                rewriter.keep(node, regions=regions)
                continue
            # The number of writes to a resource so far identifies the version that a read sees.
            versions = tuple([(effect.resource, writes[effect.resource]) for effect in effects])
            controls = frozenset(rewriter.controls(node)) if node.control_inputs else None
            key = (node.op, rewriter.inputs(node), node.attrs, regions, node.device, controls, versions)
            same = first.get(key)
            if same is None:
                first[key] = rewriter.keep(node, regions=regions)
            else:
                rewriter.merge(node, same)
        return rewriter.finish()
