"""Rows that are stacked again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from graphc.ir.graph import Graph
from graphc.ir.node import Node, Value
from graphc.ir.rewrite import Rewriter, map_regions
from graphc.ir.types import Attrs

__all__ = ["Restack"]


@dataclass(frozen=True)
class Restack:
    """Takes a slice where neighbouring rows of one array are taken apart and stacked again.

    A list that a loop fills is one array, of which each item is a row; to stack the list is to have the array, and
    XLA takes seconds for a stack of thousands.

    Before: a valid graph. After: the same, but that a stack along the first axis of ``x[k], x[k + 1], ..., x[n - 1]``
    is ``x[k:n]``.
    """

    name: ClassVar[str] = "restack"

    def __call__(self, graph: Graph) -> Graph:
        """Replaces the stacks."""
        rewriter = Rewriter(graph)
        for node in graph.nodes:
            found = _rows(node)
            if found is None:
                rewriter.keep(node, regions=map_regions(node, self))
                continue
            row, start = found
            # A slice is written as its start, stop and step.
            index = ((start, start + len(node.inputs), None),)
            rewriter.replace(node, row.op, rewriter.inputs(row), Attrs(row.attrs, index=index))
        return rewriter.finish()


def _rows(node: Node) -> tuple[Node, int] | None:
    """The first node and the first place, if a node stacks two or more neighbouring rows of an array."""
    plain = not node.control_inputs and node.attrs.get("axis", 0) == 0 and len(node.inputs) > 1
    if node.op.name != "stack" or not plain:
        return None
    inputs: list[Value] = list(node.inputs)
    found = [_row(value) for value in inputs]
    first, place = inputs[0].node, found[0]
    if first is None or place is None:
        return None
    source, start = place
    neighbours = found == [(source, start + position) for position in range(len(found))]
    same = (source.type.dtype, source.type.weak) == (node.outputs[0].type.dtype, node.outputs[0].type.weak)
    return (first, start) if neighbours and same else None


def _row(value: Value) -> tuple[Value, int] | None:
    """The array and the place, if a value is a row of an array at a place that is known."""
    node = value.node
    if node is None or node.op.name != "get_item" or len(node.inputs) != 1 or node.control_inputs:
        return None
    index = node.attrs["index"]
    known = len(index) == 1 and type(index[0]) is int and 0 <= index[0] < node.inputs[0].type.shape[0]
    return (node.inputs[0], index[0]) if known else None
