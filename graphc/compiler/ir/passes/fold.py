"""Constant folding."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphc.compiler.ir.graph import Graph, Node
from graphc.compiler.ir.interpreter import Rewriter, map_regions
from graphc.compiler.ir.opdef import CONSTANT
from graphc.compiler.ir.types import Attrs, Literal, TensorType

__all__ = ["Fold"]

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
