"""Ints that a loop counts, computed from its index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from graphc.base import Registry, UniqueNames
from graphc.ir.graph import Graph
from graphc.ir.node import Node, Value
from graphc.ir.opdef import CONSTANT, OPS, OpDef
from graphc.ir.passes.loop_nodes import Copier, Loop, controlled, find_loops, replace_loops
from graphc.ir.rewrite import map_inside
from graphc.ir.types import Attrs, Literal

__all__ = ["Induct"]


@dataclass(frozen=True)
class Induct:
    """Computes from a loop's index what each iteration moves by the same step.

    What a loop carries, each iteration waits for, and its gradient keeps. A count that is computed of the index lies
    between known bounds, and an array filled at it is collected.

    Before: a valid graph. After: the same, but that no ``scan`` carries a 32-bit int to which each iteration adds a
    constant that is a multiple of the index's step. It wraps around as it did. Loops that are differentiated, or that
    others wait for, stay as they are.

    Attributes:
      ops: where the ops ``add`` and ``multiply`` are.
    """

    ops: Registry[OpDef] = field(default_factory=lambda: OPS, repr=False, compare=False)
    name: ClassVar[str] = "induct"

    def __call__(self, graph: Graph) -> Graph:
        """Replaces the loops."""
        if not any(node.regions for node in graph.nodes):
            return graph
        graph = map_inside(graph, self)
        loops, whole = find_loops(graph, self.ops)
        found = {node: steps for node, loop in loops.items() if node not in whole and (steps := _steps(loop))}
        plans = {node: _Counts(loops[node], steps, self.ops).emit for node, steps in found.items()}
        return replace_loops(graph, plans, whole, self.ops)


def _steps(loop: Loop) -> dict[int, int]:
    """Returns by how much a loop moves what it carries in each iteration, by the places of those that it moves so."""
    if loop.index is None or not loop.attrs["length"] or loop.node.device:
        return {}
    found: dict[int, int] = {}
    waiting = controlled(loop.body)
    for place in range(loop.num_carry - len(loop.attrs.get("assigned", ()))):
        start, node = loop.inside[place], loop.body.outputs[place].node
        if node is None or node in waiting or node.device or start.type.shape or start.type.dtype != np.int32:
            continue
        if node.op.name != "add" or start not in node.inputs or loop.index.type.dtype != np.int32:
            continue
        if start.type.weak and not loop.index.type.weak:
            continue  # their sum is not weak
        (by,) = [value for value in node.inputs if value is not start] or [None]
        step = None if by is None or by.type.shape or by.type.dtype != np.int32 else _constant(by)
        if step is not None and step % loop.attrs.get("step", 1) == 0:
            found[place] = step
    return found


def _constant(value: Value) -> int | None:
    return None if value.node is None or value.node.op is not CONSTANT else int(value.node.attrs["value"].array)


@dataclass(frozen=True)
class _Counts:
    """A loop that does not carry some ints.

    Attributes:
      loop: the loop.
      steps: by the places of the ints what each iteration adds.
      ops: where other ops are.
    """

    loop: Loop
    steps: dict[int, int]
    ops: Registry[OpDef]

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value]]:
        """Returns the loop and what follows it, and what stands for each output."""
        loop, body, count = self.loop, self.loop.body, self.loop.num_carry
        carried = [place for place in range(count) if place not in self.steps]
        places = [*carried, *range(count, len(loop.operands)), *self.steps]  # the first of each count is invariant
        old = [body.inputs[0], *(loop.inside[place] for place in places)]
        new = [Value(value.type, None, place, value.name) for place, value in enumerate(old)]
        inside, inner = dict(zip(old, new, strict=True)), list[Node]()
        inner_names = UniqueNames()
        for node in body.nodes:
            inner_names(node.name)
        for place, step in self.steps.items():
            start = inside[loop.inside[place]]
            inside[loop.inside[place]] = self._at(start, new[0], step, inner, inner_names)
        copier = Copier(inside)
        copier.copy(body.nodes)
        outputs = [body.outputs[place] for place in (*carried, *range(count, len(body.outputs)))]
        region = Graph(new, [*inner, *copier.nodes], [copier.values[value] for value in outputs], body.name)
        node = Node(
            loop.op, [inputs[place] for place in places], Attrs(loop.attrs, num_carry=len(carried)),
            [loop.types[place] for place in (*carried, *range(count, len(loop.types)))], regions=[region],
            name=loop.node.name, location=loop.node.location,
        )  # fmt: skip
        nodes, results = [node], iter(node.outputs)
        found = [
            self._moved(inputs[place], self.steps[place] * loop.attrs["length"], nodes, names)
            if place in self.steps
            else next(results)
            for place in range(len(loop.types))
        ]
        return nodes, found

    def _at(self, start: Value, index: Value, step: int, nodes: list[Node], names: UniqueNames) -> Value:
        """Returns the count in the iteration of an index; what is between here and there is appended to nodes."""
        attrs = self.loop.attrs
        each, sign = step // attrs.get("step", 1), -1 if attrs.get("reverse") else 1
        first = attrs.get("start", 0) + (attrs.get("step", 1) * (attrs["length"] - 1) if sign < 0 else 0)
        if each * sign != 1:
            factor = self._number(each * sign, index, nodes, names)
            index = self._apply("multiply", factor, index, index, nodes, names)
        if first:
            index = self._moved(index, -first * each * sign, nodes, names)
        return self._apply("add", start, index, start, nodes, names)

    def _moved(self, value: Value, by: int, nodes: list[Node], names: UniqueNames) -> Value:
        return self._apply("add", value, self._number(by, value, nodes, names), value, nodes, names)

    def _number(self, number: int, like: Value, nodes: list[Node], names: UniqueNames) -> Value:
        """Returns a constant, which wraps around as sums do."""
        literal = Literal(np.array(number & 0xFFFFFFFF, np.uint32).view(np.int32))
        attrs = Attrs(value=literal, weak=True) if like.type.weak else Attrs(value=literal)
        nodes.append(Node(CONSTANT, (), attrs, [like.type], name=names("constant"), location=self.loop.node.location))
        return nodes[-1].outputs[0]

    def _apply(self, op: str, first: Value, second: Value, like: Value, nodes: list[Node], names: UniqueNames) -> Value:
        location = self.loop.node.location
        nodes.append(Node(self.ops[op], [first, second], Attrs(), [like.type], name=names(op), location=location))
        return nodes[-1].outputs[0]
