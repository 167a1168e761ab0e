"""Rows that are stacked again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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
    is ``x[k:n]``, and the sum of the gradients by ``x`` of these rows, from the gradient of their stack, is that of
    ``x[k:n]``: for a list of 400 items 400 arrays were added, each as large as all of them.
    """

    name: ClassVar[str] = "restack"

    def __call__(self, graph: Graph) -> Graph:
        """Replaces the stacks."""
        rewriter, sums = Rewriter(graph), _Sums()
        for node in graph.nodes:
            found = _rows(node)
            whole = sums.add(node) if found is None else None
            if found is not None:
                row, start = found
                index = _slice(start, len(node.inputs))
                rewriter.replace(node, row.op, rewriter.inputs(row), Attrs(row.attrs, index=index))
            elif whole is not None:
                inputs = (rewriter.inputs(whole.row)[0], rewriter.inputs(whole.stack)[-1])
                attrs = (("index", _slice(whole.start, whole.count)),)
                rewriter.replace(node, whole.row.op, inputs, Attrs(whole.row.attrs, attrs=attrs))
            else:
                rewriter.keep(node, regions=map_regions(node, self))
        return rewriter.finish()


def _slice(start: int, count: int) -> tuple[tuple[int, int, None]]:
    return ((start, start + count, None),)


@dataclass(frozen=True)
class _Gradients:
    """Gradients by an array of rows of it, added up.

    Attributes:
      row: one of them, the ``vjp`` of a ``get_item``.
      stack: the ``vjp`` of a stack of neighbouring rows, of which they are given the results.
      start: the place of the first row of the stack.
      rows: which rows of the stack they are of: a bit for each.
    """

    row: Node
    stack: Node
    start: int
    rows: int

    @property
    def count(self) -> int:
        """Returns how many rows the stack has."""
        return len(self.stack.outputs)


class _Sums:
    """The sums of gradients of rows that were seen."""

    def __init__(self) -> None:
        self._known: dict[Value, _Gradients] = {}
        self._stacks: dict[Node, tuple[Value, int] | None] = {}

    def add(self, node: Node) -> _Gradients | None:
        """Looks at the next node; returns what it adds up, if that are the gradients of all rows of a stack."""
        if node.op.name != "add" or node.control_inputs:
            return None
        first, second = [self._known.get(value) or self._of_row(value) for value in node.inputs]
        if first is None or second is None or first.stack is not second.stack or first.rows & second.rows:
            return None
        found = self._known[node.outputs[0]] = replace(first, rows=first.rows | second.rows)
        return found if found.rows == (1 << found.count) - 1 else None

    def _of_row(self, value: Value) -> _Gradients | None:
        """Returns the gradient by an array of one row of it, from the gradient of a stack of such rows."""
        node = value.node
        if node is None or not _differentiates(node, "get_item") or len(node.inputs) != 2:
            return None
        stack, place = node.inputs[1].node, node.inputs[1].index
        if stack is None or not _differentiates(stack, "stack"):
            return None
        if stack not in self._stacks:
            axis = dict(stack.attrs["attrs"]).get("axis", 0)
            self._stacks[stack] = _neighbours(stack.inputs[:-1]) if axis == 0 else None
        found = self._stacks[stack]
        if found is None or node.inputs[0] is not found[0]:
            return None
        fits = dict(node.attrs["attrs"])["index"] == (found[1] + place,)
        return _Gradients(node, stack, found[1], 1 << place) if fits else None


def _differentiates(node: Node, op: str) -> bool:
    """Returns True for the ``vjp`` of an op by all its inputs, from the cotangent of its one result."""
    return node.op.name == "vjp" and node.attrs["op"] == op and node.attrs["wrt"] == tuple(range(len(node.outputs)))


def _rows(node: Node) -> tuple[Node, int] | None:
    """Returns the first node and the first place, if a node stacks two or more neighbouring rows of an array."""
    plain = not node.control_inputs and node.attrs.get("axis", 0) == 0 and len(node.inputs) > 1
    if node.op.name != "stack" or not plain:
        return None
    inputs: list[Value] = list(node.inputs)
    found, first = _neighbours(inputs), inputs[0].node
    if found is None or first is None:
        return None
    source, start = found
    same = (source.type.dtype, source.type.weak) == (node.outputs[0].type.dtype, node.outputs[0].type.weak)
    return (first, start) if same else None


def _neighbours(values: Sequence[Value]) -> tuple[Value, int] | None:
    """Returns the array and the first place, if values are neighbouring rows of one array."""
    found = [_row(value) for value in values]
    if found[0] is None:
        return None
    source, start = found[0]
    return found[0] if found == [(source, start + position) for position in range(len(found))] else None


def _row(value: Value) -> tuple[Value, int] | None:
    """Returns the array and the place, if a value is a row of an array at a place that is known."""
    node = value.node
    if node is None or node.op.name != "get_item" or len(node.inputs) != 1 or node.control_inputs:
        return None
    index = node.attrs["index"]
    known = len(index) == 1 and type(index[0]) is int and 0 <= index[0] < node.inputs[0].type.shape[0]
    return (node.inputs[0], index[0]) if known else None
