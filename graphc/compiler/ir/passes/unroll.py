"""Loops whose rows leave the program one by one become their iterations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.interpreter import Rewriter
from graphc.compiler.ir.opdef import CONSTANT, constant_attrs
from graphc.compiler.ir.passes.loop_pass import Copier, LateLoopPass, Loop, controlled, is_fixed
from graphc.compiler.ir.passes.simplify import CSE, DCE, Fold
from graphc.compiler.ir.types import Attrs

_MAX_NODES = 256
"""The maximum number of nodes in all iterations of a loop: XLA takes five milliseconds for each."""


@dataclass(frozen=True)
class Unroll(LateLoopPass):
    """Replaces a ``scan`` by its iterations if all that it collects is taken apart again.

    ``return [x + i for i in range(50)]`` is traced into a loop that collects the rows of an array, and 50 reads of one
    row each. On small tensors the iterations and the reads take three times as long as 50 additions.

    Before: a valid graph. After: the same graph, except that a ``scan`` with a light body and without effects, each of
    whose collected arrays is only read row by row, every row of it, becomes the nodes of its iterations.
    """

    name: ClassVar[str] = "unroll"
    needs: ClassVar[frozenset[str]] = frozenset(("get_item",))

    def replaced(self, graph: Graph, loops: Mapping[Node, Loop], whole: set[Node]) -> Graph:
        """Returns the graph with such loops unrolled."""
        short = {node: loop for node, loop in loops.items() if node not in whole and self._is_short(loop)}
        if not short:
            return graph
        reads = _reads(graph, short)
        rows: dict[Value, Sequence[Value]] = {}
        rewriter = Rewriter(graph)
        for node in graph.nodes:
            if node in short and all(value in reads for value in node.outputs[short[node].num_carry :]):
                rows.update(self._unrolled(short[node], rewriter))
            elif node.inputs and node.inputs[0] in rows:
                rewriter.substitute(node.outputs, [rows[node.inputs[0]][_row(node)]])
            else:
                rewriter.keep(node)
        return DCE()(CSE()(Fold()(rewriter.finish()))) if rows else graph

    def _is_short(self, loop: Loop) -> bool:
        body, length = loop.body, loop.attrs.get("length", 0)
        if loop.index is None or not loop.attrs["num_ys"] or loop.attrs.get("assigned") or controlled(body):
            return False
        heavy = any(node.regions or is_fixed(node, self.ops) for node in body.nodes)
        return not heavy and length * len(body.nodes) <= _MAX_NODES

    def _unrolled(self, loop: Loop, rewriter: Rewriter) -> Mapping[Value, Sequence[Value]]:
        """Inserts the iterations of a loop; returns the rows that it collects."""
        inputs, count, attrs = rewriter.inputs(loop.node), loop.num_carry, loop.attrs
        carried, arrays = list(inputs[:count]), inputs[count : count + loop.num_rows]
        collected: dict[int, Sequence[Value]] = {}
        steps = range(attrs["length"])
        for iteration in reversed(steps) if attrs.get("reverse") else steps:
            copier = Copier({}, rewriter.names, loop.node.device)
            index = loop.body.inputs[0].type
            number = constant_attrs(attrs.get("start", 0) + attrs.get("step", 1) * iteration, index)
            taken = [
                copier.add(self.ops["get_item"], [array], row.type, Attrs(index=(iteration,)), like=loop.node)
                for array, row in zip(arrays, loop.inside[count:], strict=False)
            ]
            entries = [copier.add(CONSTANT, (), index, number, like=loop.node), *carried, *taken]
            copier.values.update(zip(loop.body.inputs, [*entries, *inputs[count + loop.num_rows :]], strict=True))
            copier.copy(loop.body.nodes)
            for new in copier.nodes:
                rewriter.add(new)
            outputs = [copier.values[value] for value in loop.body.outputs]
            carried, collected[iteration] = outputs[:count], outputs[count:]
        rewriter.substitute(loop.node.outputs[:count], carried)
        columns = zip(*(collected[iteration] for iteration in steps), strict=True)
        return dict(zip(loop.node.outputs[count:], columns, strict=True))


def _row(node: Node) -> int:
    """Returns the place of the row that a node reads; -1 if it reads something else."""
    index: Any = node.attrs.get("index")
    is_read = node.op.name == "get_item" and len(node.inputs) == len(index) == 1
    return index[0] if is_read and type(index[0]) is int else -1


def _reads(graph: Graph, loops: Mapping[Node, Loop]) -> set[Value]:
    """Returns the arrays that loops collect and of which the graph reads every row, and nothing else."""
    left = dict[Value, set[int]]()
    rows = dict[Value, Value]()
    for node, loop in loops.items():
        for value, row in zip(node.outputs[loop.num_carry :], loop.body.outputs[loop.num_carry :], strict=True):
            left[value], rows[value] = set(range(loop.attrs["length"])), row
    waiting, others = controlled(graph), set(graph.outputs)
    for node in graph.nodes:
        index = -1 if node in waiting or node.device else _row(node)
        for value in left.keys() & set(node.inputs):
            left[value].discard(index)
            if index < 0 or node.outputs[0].type != rows[value].type:
                others.add(value)
    return {value for value, missing in left.items() if not missing and value not in others}
