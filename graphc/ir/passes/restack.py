"""Rows that are stacked again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar

from graphc.base import Registry, UniqueNames
from graphc.ir.graph import Graph
from graphc.ir.node import Node, Value
from graphc.ir.opdef import OPS, OpDef
from graphc.ir.rewrite import Rewriter, map_regions
from graphc.ir.types import Attrs, TensorType

__all__ = ["Restack"]


@dataclass(frozen=True)
class Restack:
    """Takes a slice where neighbouring rows of one array are taken apart and stacked again.

    A list that a loop fills is one array, of which each item is a row; to stack the list is to have the array, and
    XLA takes seconds for a stack of thousands.

    Before: a valid graph. After: the same, but that a stack along the first axis of ``x[k], x[k + 1], ..., x[n - 1]``
    is ``x[k:n]``, and the sum of the gradients by ``x`` of these rows, from the gradient of their stack, is that of
    ``x[k:n]``: for a list of 400 items 400 arrays were added, each as large as all of them. A stack along another axis
    is a stack along the first one with the axes permuted, and to concatenate is to stack and to join two axes.

    Attributes:
      ops: where the ops ``stack``, ``permute_dims`` and ``reshape`` are.
    """

    ops: Registry[OpDef] = field(default_factory=lambda: OPS, repr=False, compare=False)
    name: ClassVar[str] = "restack"

    def __call__(self, graph: Graph) -> Graph:
        """Replaces the stacks."""
        graph = _along_first(graph, self.ops)
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


@dataclass(frozen=True)
class _Joined:
    """How neighbouring rows of an array are joined that are not stacked along the first axis.

    Attributes:
      count: how many rows.
      row: the type of each.
      axis: along which they are stacked, or concatenated.
      concat: whether that axis and the one behind it are one.
    """

    count: int
    row: TensorType
    axis: int
    concat: bool

    @staticmethod
    def of(op: str, attrs: Mapping[str, object], rows: Sequence[Value]) -> _Joined | None:
        """Returns how an op joins some values, if it can be said better."""
        axis = attrs.get("axis", 0)
        if op not in ("stack", "concat") or not isinstance(axis, int) or len(rows) < 2 or _neighbours(rows) is None:
            return None
        row = rows[0].type
        axis %= len(row.shape) + (op == "stack")
        return None if op == "stack" and not axis else _Joined(len(rows), row, axis, op == "concat")

    @property
    def stack(self) -> TensorType:
        """The rows stacked along the first axis."""
        return replace(self.row, shape=(self.count, *self.row.shape))

    @property
    def permuted(self) -> TensorType:
        """The same with that axis where the op has it."""
        shape = self.row.shape
        return replace(self.row, shape=(*shape[: self.axis], self.count, *shape[self.axis :]))

    @property
    def axes(self) -> tuple[int, ...]:
        """Where each axis of what the op has is found in the stack."""
        return (*range(1, self.axis + 1), 0, *range(self.axis + 1, len(self.row.shape) + 1))

    @property
    def inverse(self) -> tuple[int, ...]:
        """Where each axis of the stack is found in what the op has."""
        return (self.axis, *range(self.axis), *range(self.axis + 1, len(self.row.shape) + 1))


def _along_first(graph: Graph, ops: Registry[OpDef]) -> Graph:
    """Returns a graph in which neighbouring rows are stacked along the first axis alone."""
    found: dict[Node, _Joined] = {}
    for node in graph.nodes:
        op, attrs, rows = node.op.name, node.attrs, node.inputs
        if op == "vjp" and node.attrs["op"] in ("stack", "concat") and _differentiates(node, node.attrs["op"]):
            op, attrs, rows = node.attrs["op"], dict(node.attrs["attrs"]), node.inputs[:-1]
        same = op in ("stack", "concat") and len({value.type for value in rows}) == 1 and not node.control_inputs
        if same and rows[0].type.shape and (joined := _Joined.of(op, attrs, rows)) is not None:
            weak = (node.outputs if op == node.op.name else node.inputs[-1:])[0].type.weak
            if weak == rows[0].type.weak:
                found[node] = joined
    if not found:
        return graph
    rewriter, names = Rewriter(graph), UniqueNames()
    for node in graph.nodes:
        names(node.name)
    for node in graph.nodes:
        joined = found.get(node)
        if joined is None:
            rewriter.keep(node)
            continue

        def add(op: str, inputs: Sequence[Value], attrs: Attrs, type: TensorType, like: Node = node) -> Value:
            new = Node(
                ops[op], inputs, attrs, [type], device=like.device, name=names(op), location=like.location
            )  # fmt: skip
            rewriter.add(new)
            return new.outputs[0]

        inputs = rewriter.inputs(node)
        if node.op.name != "vjp":
            value = add("stack", inputs, Attrs(axis=0), joined.stack)
            if joined.axis and joined.concat:
                value = add("permute_dims", [value], Attrs(axes=joined.axes), joined.permuted)
            if joined.concat:
                rewriter.replace(node, ops["reshape"], [value], Attrs(shape=node.outputs[0].type.shape))
            else:
                rewriter.replace(node, ops["permute_dims"], [value], Attrs(axes=joined.axes))
            continue
        value = inputs[-1]
        if joined.concat:
            value = add("reshape", [value], Attrs(shape=joined.permuted.shape), joined.permuted)
        if joined.axis:
            value = add("permute_dims", [value], Attrs(axes=joined.inverse), joined.stack)
        attrs = Attrs(node.attrs, op="stack", attrs=(("axis", 0),))
        rewriter.replace(node, node.op, [*inputs[:-1], value], attrs)
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
