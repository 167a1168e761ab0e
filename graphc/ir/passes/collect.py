"""Arrays that a loop fills row by row are collected, not carried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

from graphc.base import Registry, UniqueNames
from graphc.ir.graph import Graph
from graphc.ir.node import Node, Value
from graphc.ir.opdef import CONSTANT, OPS, OpDef
from graphc.ir.passes.loop_nodes import Copier, Loop, controlled, find_loops, replace_loops
from graphc.ir.rewrite import map_inside
from graphc.ir.types import Attrs

__all__ = ["Collect"]


@dataclass(frozen=True)
class Collect:
    """Makes rows of arrays that a loop carries only to fill them.

    ``out[t] = h`` in a loop changes an array that the loop carries. Its gradient carries another one, and XLA copies
    that in each iteration, so that it takes the square of the length: 26 times as long for 400 rows.

    Before: a valid graph. After: the same, but that a ``scan`` collects the rows of an array to which each iteration
    assigns one row, at its index, at its index with a constant added, or at a counter, and which it does not look at.
    The array after the loop is those rows, or the array before the loop with those rows assigned.

    Attributes:
      ops: where the ops ``call`` and ``update_item`` are.
    """

    ops: Registry[OpDef] = field(default_factory=lambda: OPS, repr=False, compare=False)
    name: ClassVar[str] = "collect"

    def __call__(self, graph: Graph) -> Graph:
        """Replaces the loops."""
        if not any(node.regions for node in graph.nodes):
            return graph
        graph = map_inside(graph, self)
        loops, whole = find_loops(graph, self.ops)
        plans = {node: _Rows(loop, filled, self.ops).emit for node, loop in loops.items() if (filled := _filled(loop))}
        return replace_loops(graph, plans, whole, self.ops)


@dataclass(frozen=True)
class _Filled:
    """An array that a loop fills.

    Attributes:
      row: what each iteration assigns.
      first: the place of the first row.
      node: the assignment.
    """

    row: Value
    first: int
    node: Node


def _filled(loop: Loop) -> dict[int, _Filled]:
    """Returns the arrays that a loop carries only to fill them, by their places among what it carries."""
    if loop.index is None or not loop.attrs["length"]:
        return {}
    body, found = loop.body, dict[int, _Filled]()
    uses = [*(value for node in body.nodes for value in node.inputs), *body.outputs]
    waiting = controlled(body)
    for place in range(loop.num_carry - len(loop.attrs.get("assigned", ()))):
        node, array = body.outputs[place].node, loop.inside[place]
        if node is None or node.op.name != "update_item" or node in waiting or node.inputs[0] is not array:
            continue
        if (node.attrs["index"], node.attrs["how"]) != (("tensor",), "set"):
            continue
        if uses.count(array) != 1 or uses.count(node.outputs[0]) != 1:
            continue
        row, index, first = node.inputs[1], node.inputs[2], None
        same = (row.type.shape, row.type.dtype, row.type.weak) == (array.type.shape[1:], array.type.dtype, False)
        if same and not array.type.is_open and not index.type.shape:
            first = _first(loop, index)
        if first is not None and first >= 0 and first + loop.attrs["length"] <= array.type.shape[0]:
            found[place] = _Filled(row, first, node)
    return found


def _first(loop: Loop, index: Value) -> int | None:
    """Returns what a number of the body is for the first row, if it counts up by one from row to row."""
    offset = 0
    if index.node is not None and index.node.op.name == "add":
        constants = [value for value in index.node.inputs if _constant(value) is not None]
        others = [value for value in index.node.inputs if _constant(value) is None]
        if len(constants) != 1 or len(others) != 1:
            return None
        offset, index = _constant(constants[0]) or 0, others[0]
    start: int | None = None
    if index is loop.index:
        start = loop.attrs.get("start", 0) if loop.attrs.get("step", 1) == 1 else None
    elif index in loop.inside[: loop.num_carry] and not loop.attrs.get("reverse"):
        place = loop.inside.index(index)
        after = loop.body.outputs[place].node
        if after is not None and after.op.name == "add" and index in after.inputs:
            steps = [_constant(value) for value in after.inputs if value is not index]
            start = _constant(loop.operands[place]) if steps == [1] else None
    return None if start is None else start + offset


def _constant(value: Value) -> int | None:
    node = value.node
    if node is None or node.op is not CONSTANT or value.type.shape or value.type.dtype.kind not in "iu":
        return None
    return int(node.attrs["value"].array)


@dataclass(frozen=True)
class _Rows:
    """A loop that collects rows of arrays that it carried.

    Attributes:
      loop: the loop.
      filled: the arrays, by their places.
      ops: where other ops are.
    """

    loop: Loop
    filled: dict[int, _Filled]
    ops: Registry[OpDef]

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value]]:
        """Returns the loop and the assignments behind it, and what stands for each output."""
        loop, body = self.loop, self.loop.body
        carried = [place for place in range(loop.num_carry) if place not in self.filled]
        places = [*carried, *range(loop.num_carry, len(loop.operands))]
        old = [body.inputs[0], *(loop.inside[place] for place in places)]
        new = [Value(value.type, None, place, value.name) for place, value in enumerate(old)]
        copier, assignments = Copier(dict(zip(old, new, strict=True))), [one.node for one in self.filled.values()]
        copier.copy(node for node in body.nodes if node not in assignments)
        results = [
            *(body.outputs[place] for place in (*carried, *range(loop.num_carry, len(body.outputs)))),
            *(one.row for one in self.filled.values()),
        ]
        region = Graph(new, copier.nodes, [copier.values[value] for value in results], body.name)
        attrs = {"num_carry": len(carried), "num_ys": loop.attrs["num_ys"] + len(self.filled)}
        given, node = [inputs[place] for place in places], loop.node
        scan_attrs = Attrs(loop.attrs, **attrs)
        scan = Node(
            loop.op, given, scan_attrs, loop.op.infer([value.type for value in given], scan_attrs, (region,)),
            regions=(region,), device=node.device, name=node.name, location=node.location,
        )  # fmt: skip
        outputs = dict(zip(carried, scan.outputs, strict=False))
        ys = scan.outputs[len(carried) :]
        outputs.update(enumerate(ys[: loop.attrs["num_ys"]], loop.num_carry))
        nodes = [scan]
        for (place, one), rows in zip(self.filled.items(), ys[loop.attrs["num_ys"] :], strict=True):
            outputs[place] = rows
            if rows.type.shape != inputs[place].type.shape:
                stop = one.first + loop.attrs["length"]
                behind = Node(
                    one.node.op, [inputs[place], rows], Attrs(index=((one.first, stop, None),), how="set"),
                    [inputs[place].type], device=node.device, name=names(one.node.name), location=one.node.location,
                )  # fmt: skip
                nodes.append(behind)
                outputs[place] = behind.outputs[0]
        return nodes, [outputs[place] for place in range(len(loop.types))]
