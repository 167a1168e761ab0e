"""Loops of which only the last iteration counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from graphc.base import Registry, UniqueNames
from graphc.ir.graph import Graph
from graphc.ir.node import Node, Value
from graphc.ir.opdef import CONSTANT, OPS, OpDef
from graphc.ir.passes.loop_nodes import (
    Copier,
    Emit,
    Loop,
    controlled,
    find_loops,
    is_fixed,
    is_light,
    replace_loops,
)
from graphc.ir.rewrite import map_inside
from graphc.ir.types import Attrs, Literal

__all__ = ["Sink"]


@dataclass(frozen=True)
class Sink:
    """Takes out of loops what they need not carry.

    Before: a valid graph. After: the same outputs and effects, but that a loop does not carry

    * what nobody reads: neither an iteration, but to carry it on, nor a node after the loop;
    * what each iteration gives on as it took it: it is the same in all of them;
    * what each iteration computes anew, from its index, its rows and what does not change, and none reads: it is
      computed after the loop, once, for the last index. After a ``while`` it stands in a branch, for there may have
      been no iteration.

    A loop that then carries nothing and has no effects is gone. Operands and rows that nobody uses go too. What a loop
    needs in each iteration anyway, such as what it prints, stays in it, unless it is light.

    Attributes:
      ops: where the ops ``call``, ``cond`` and ``get_item`` are.
    """

    ops: Registry[OpDef] = field(default_factory=lambda: OPS, repr=False, compare=False)
    name: ClassVar[str] = "sink"

    def __call__(self, graph: Graph) -> Graph:
        """Replaces the loops."""
        if not any(node.regions for node in graph.nodes):
            return graph
        graph = map_inside(graph, self)
        loops, whole = find_loops(graph, self.ops)
        used: set[Value] = set(graph.outputs)
        plans: dict[Node, Emit] = {}
        for node in reversed(graph.nodes):
            needed: Iterable[Value] = node.inputs
            if (loop := loops.get(node)) is not None:
                # Where the loop stays one node, all it gives counts as used: a vjp has cotangents for any of it.
                one = node in whole
                parts = _Parts(loop, range(len(loop.types)) if one else _places(node, used), self.ops)
                if parts.sunk if one else parts.fewer:
                    plans[node] = parts.emit
                    needed = node.inputs if one else [node.inputs[place] for place in parts.operands]
            used.update(needed)
        return replace_loops(graph, plans, whole, self.ops)


def _places(node: Node, used: set[Value]) -> list[int]:
    return [place for place, output in enumerate(node.outputs) if output in used]


class _Parts:
    """What of a loop must be repeated, and what its last iteration tells alone.

    Attributes:
      loop: the loop.
      unchanged: the places of the carried values that are the same in all iterations.
      kept: the places of those that are carried.
      sunk: the places of those that are computed after the loop.
      collected: the places of the outputs that collect rows, and are used.
      used: the places of all outputs that are used.
      ops: where other ops are.
      repeated: the nodes of the body, and of the test, that each iteration needs.
      slice: the nodes of the body that the values after the loop need.
    """

    def __init__(self, loop: Loop, used: Sequence[int], ops: Registry[OpDef]) -> None:
        self.loop, self.used, self.ops = loop, used, ops
        self.unchanged = loop.unchanged()
        self.collected = [place for place in used if place >= loop.num_carry]
        self.kept: set[int] = set()
        self.repeated: set[Node] = set()
        self._entries = {value: place for place, value in enumerate(loop.inside)}
        if loop.test is not None:
            self._entries.update({value: place for place, value in enumerate(loop.test.inputs)})
        self._taken: set[int] = set()
        last = self._last()
        self._need_always()
        self._keep([place for place in used if place not in last and place not in self.unchanged])
        self._keep(self._shared([place for place in used if place in last and place not in self.kept]))
        self.sunk = [place for place in used if place in last and place not in self.kept]
        self.slice = self._slice([loop.body.outputs[place] for place in self.sunk])

    def _last(self) -> set[int]:
        """Returns the places of the carried values that an iteration computes from what is known before the loop."""
        loop, body = self.loop, self.loop.body
        if not loop.runs and (loop.test is None or any(is_fixed(node, self.ops) for node in loop.test.nodes)):
            return set()
        index = () if loop.index is None else (loop.index,)
        sources = (*index, *loop.inside[loop.num_carry :], *(loop.inside[place] for place in self.unchanged))
        free = loop.free(sources, self.ops)
        return {place for place in range(loop.num_carry) if body.outputs[place] in free} - self.unchanged

    def _need_always(self) -> None:
        """Takes note of what each iteration does, whatever is used of it: its effects, and the test."""
        for region in self.loop.node.regions:
            fixed = {node for node in region.nodes if is_fixed(node, self.ops)} | controlled(region)
            self._need([value for node in fixed for value in node.inputs])
            self.repeated.update(fixed)
        if self.loop.test is not None:
            self._need(self.loop.test.outputs)

    def _keep(self, places: Sequence[int]) -> None:
        """Takes note that the loop gives some of its outputs."""
        self.kept.update(place for place in places if place < self.loop.num_carry)
        self._need([self.loop.body.outputs[place] for place in places])

    def _need(self, values: Sequence[Value]) -> None:
        """Takes note that each iteration needs some values."""
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            place, node = self._entries.get(value), value.node
            if place is not None:
                self._taken.add(place)
                if place < self.loop.num_carry and place not in self.kept and place not in self.unchanged:
                    self.kept.add(place)
                    waiting.append(self.loop.body.outputs[place])
            elif node is not None and node not in self.repeated:
                self.repeated.add(node)
                waiting += node.inputs

    def _shared(self, places: Sequence[int]) -> list[int]:
        """Those of some carried values that need something heavy which is repeated anyway."""
        heavy: set[Value] = set()
        for node in self.loop.body.nodes:
            own = node in self.repeated and not is_light(node, self.ops)
            if own or not heavy.isdisjoint(node.inputs):
                heavy.update(node.outputs)
        return [place for place in places if self.loop.body.outputs[place] in heavy]

    def _slice(self, values: Sequence[Value]) -> list[Node]:
        needed = {value.node for value in values}
        for node in reversed(self.loop.body.nodes):
            if node in needed:
                needed.update(value.node for value in node.inputs)
        return [node for node in self.loop.body.nodes if node in needed]

    def entry(self, value: Value) -> int | None:
        """Returns the place of the operand that an input of the body or of the test stands for; None for the index."""
        return self._entries.get(value)

    @property
    def places(self) -> list[int]:
        """The places of the operands that the loop itself needs, the carried ones first."""
        kept, taken = sorted(self.kept), sorted(self._taken - self.kept)
        return [
            *kept,
            *(place for place in taken if place not in self.unchanged),
            *sorted(self._taken & self.unchanged),
        ]

    @property
    def looks(self) -> list[Value]:
        """The inputs of the body that the values after the loop need."""
        results = (self.loop.body.outputs[place] for place in self.sunk)
        values = dict.fromkeys((*(value for node in self.slice for value in node.inputs), *results))
        return [value for value in values if value.node is None]

    @property
    def operands(self) -> set[int]:
        """The places of the operands that are needed in the loop, or after it."""
        found = {*self.places, *(place for place in self.used if place in self.unchanged)}
        found.update(place for place in map(self.entry, self.looks) if place is not None)
        if not self.loop.runs:
            found.update(self.sunk)
        return found

    @property
    def fewer(self) -> bool:
        """True if a smaller loop does."""
        loop = self.loop
        whole = loop.num_carry, len(loop.operands), len(loop.types) - loop.num_carry
        return (len(self.kept), len(self.places), len(self.collected)) != whole

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value | None]]:
        """Returns what is left of the loop, and what comes after it."""
        outputs: list[Value | None] = [
            inputs[place] if place in self.unchanged else None for place in range(len(self.loop.types))
        ]
        nodes: list[Node] = []
        if self.repeated or self.kept or self.collected:
            nodes.append(_rest(self, inputs))
            for place, output in zip((*sorted(self.kept), *self.collected), nodes[0].outputs, strict=True):
                outputs[place] = output
        if self.sunk:
            made, results = (_last_iteration if self.loop.runs else _if_run)(self, inputs, names)
            nodes += made
            for place, value in zip(self.sunk, results, strict=True):
                outputs[place] = value
        return nodes, outputs


def _rest(parts: _Parts, inputs: Sequence[Value]) -> Node:
    """Returns the loop with what must be repeated."""
    loop, places, kept = parts.loop, parts.places, sorted(parts.kept)
    regions: list[Graph] = []
    for region in loop.node.regions:
        index = 0 if loop.index is None else 1
        old = [*region.inputs[:index], *(region.inputs[index + place] for place in places)]
        new = [Value(value.type, None, place, value.name) for place, value in enumerate(old)]
        copier = Copier(dict(zip(old, new, strict=True)))
        copier.copy(node for node in region.nodes if node in parts.repeated)
        results = region.outputs
        if region is loop.body:
            results = [results[place] for place in (*kept, *parts.collected)]
        regions.append(Graph(new, copier.nodes, [copier.values[value] for value in results], region.name))
    attrs = {**loop.attrs, "num_carry": len(kept)}
    if loop.test is None:
        num_rows = sum(loop.num_carry <= place < loop.num_carry + loop.num_rows for place in places)
        attrs |= {"num_xs": num_rows, "num_ys": len(parts.collected)}
    assigned = attrs.pop("assigned", ())
    first = loop.num_carry - len(assigned)
    left = tuple(name for place, name in enumerate(assigned, first) if place in parts.kept)
    types = loop.types
    return Node(
        loop.op, [inputs[place] for place in places], Attrs({"assigned": left} if left else {}, **attrs),
        [types[place] for place in (*kept, *parts.collected)], regions=regions, device=loop.node.device,
        name=loop.node.name, location=loop.node.location,
    )  # fmt: skip


def _last_iteration(
    parts: _Parts, inputs: Sequence[Value], names: UniqueNames
) -> tuple[Sequence[Node], Sequence[Value]]:
    """Returns what the last iteration of a loop computes that has one."""
    loop, sources, values = parts.loop, list[Node](), dict[Value, Value]()
    for value in parts.looks:
        place = parts.entry(value)
        if place is not None and not loop.num_carry <= place < loop.num_carry + loop.num_rows:
            values[value] = inputs[place]
            continue
        if place is None:
            literal = Literal(np.asarray(loop.last_index, value.type.dtype))
            op, taken, attrs = CONSTANT, (), Attrs(value=literal, **({"weak": True} if value.type.weak else {}))
        else:
            op, taken, attrs = parts.ops["get_item"], (inputs[place],), Attrs(index=(loop.last_row,))
        made = Node(
            op, taken, attrs, [value.type], device=loop.node.device, name=names(op.name), location=loop.node.location
        )
        sources.append(made)
        values[value] = made.outputs[0]
    copier = Copier(values, names)
    copier.copy(parts.slice)
    return [*sources, *copier.nodes], [copier.values[loop.body.outputs[place]] for place in parts.sunk]


def _if_run(parts: _Parts, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value]]:
    """Returns what an iteration of a while computes, if there is one; else what is carried into the loop."""
    loop, test = parts.loop, parts.loop.test
    assert test is not None
    before = Copier(dict(zip(test.inputs, inputs, strict=True)), names)
    before.copy(test.nodes)
    looks = {place: value for value in parts.looks if (place := parts.entry(value)) is not None}
    places = sorted({*looks, *parts.sunk})
    regions: list[Graph] = []
    for name, nodes in (("an iteration", parts.slice), ("no iteration", [])):
        old = [loop.inside[place] for place in places]
        new = [Value(value.type, None, place, value.name) for place, value in enumerate(old)]
        copier = Copier(dict(zip(old, new, strict=True)))
        copier.copy(nodes)
        results = [loop.body.outputs[place] if nodes is parts.slice else loop.inside[place] for place in parts.sunk]
        regions.append(Graph(new, copier.nodes, [copier.values[value] for value in results], name))
    chosen = Node(
        parts.ops["cond"], [before.values[test.outputs[0]], *(inputs[place] for place in places)], Attrs(),
        [loop.types[place] for place in parts.sunk], regions=regions, device=loop.node.device, name=names("cond"),
        location=loop.node.location,
    )  # fmt: skip
    return [*before.nodes, chosen], chosen.outputs
