"""The passes that every pipeline runs: constant folding, common subexpressions, dead code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphc.compiler.ir.graph import Graph, Node
from graphc.compiler.ir.interpreter import Rewriter, map_inside, map_regions
from graphc.compiler.ir.opdef import CONSTANT, EffectKind
from graphc.compiler.ir.types import Attrs, Literal, TensorType

# Constant folding.

_MAX_ELEMENTS = 1024
"""Maximum number of elements; larger constants would bloat the graph's text and the tracing time, so XLA folds them."""


@dataclass(frozen=True)
class Fold:
    """Replaces nodes whose inputs are constants by constants.

    Before: a valid graph. After: the same graph, in which a node with one output of at most 1024 elements, whose inputs
      are constants of at most that size and whose op has a NumPy ``fold``, is a constant of the same type, name and
      control inputs. A node is left alone if NumPy returns another dtype or shape than inference, fails, or meets an
      overflow, a division by zero or the like, where NumPy and XLA may differ.
    """

    name: ClassVar[str] = "fold"
    needs: ClassVar[frozenset[str]] = frozenset()

    def __call__(self, graph: Graph) -> Graph:
        """Replaces nodes by their values."""
        with np.errstate(all="raise"):
            return self._folded(graph)

    def _folded(self, graph: Graph) -> Graph:
        rewriter = Rewriter(graph)
        for node in graph.nodes:
            regions = map_regions(node, self._folded)
            literal = _fold(node, [value.node for value in rewriter.inputs(node)], set(rewriter.controls(node)))
            if literal is None:
                rewriter.keep(node, regions=regions)
            else:
                attrs = Attrs(value=literal, weak=True) if node.outputs[0].type.weak else Attrs(value=literal)
                rewriter.replace(node, CONSTANT, (), attrs, control_inputs=rewriter.controls(node))
        return rewriter.finish()


def _fold(node: Node, sources: list[Node | None], controls: set[Node]) -> Literal | None:
    """Returns the node's value, or None if it cannot be folded."""
    function = node.op.fold
    if function is None or node.regions or len(node.outputs) != 1 or node.effects:
        return None
    type = node.outputs[0].type
    if (
        type.is_open or type.size > _MAX_ELEMENTS or (type.weak and type.shape)
    ):  # constants are weak only as 0-d Python numbers
        return None
    arrays: list[np.ndarray[Any, Any]] = []
    for source in sources:
        # A successor of a folded node must still run after the control inputs of its inputs.
        if source is None or source.op is not CONSTANT or not controls.issuperset(source.control_inputs):
            return None
        array = source.attrs["value"].array
        if array.size > _MAX_ELEMENTS:
            return None
        arrays.append(array)
    try:
        result = np.asarray(function(*arrays, **node.attrs))
    except Exception:
        return None
    return Literal(result) if TensorType(result.shape, result.dtype, type.weak) == type else None


# Common-subexpression elimination.


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


# Dead-code elimination.


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
