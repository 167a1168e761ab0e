"""Loop sinking: removal of carried values that only the last iteration determines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.base import Registry, UniqueNames
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.opdef import CONSTANT, OpDef, constant_attrs
from graphc.compiler.ir.passes.base import LOOPS, Copier, needed, subgraph
from graphc.compiler.ir.passes.loop_pass import Loop, LoopPass, controlled, is_fixed, is_light
from graphc.compiler.ir.types import Attrs


@dataclass(frozen=True)
class Sink(LoopPass):
    """Removes from loops the values that they need not carry.

    Before: a valid graph. After: the same outputs and effects, except that a loop does not carry

    * unused values, read neither by an iteration, except to carry them on, nor by a node after the loop;
    * values that every iteration passes on unchanged;
    * values that each iteration computes anew, from its index, its rows and invariant values, and that no iteration
    reads: they are computed once after the loop, for the last index. After a ``while`` they are computed in a branch,
    since there may have been no iteration.

    A loop that then carries nothing and has no effects is removed, and so are unused operands and rows. Nodes that a
    loop needs in each iteration anyway, such as printed values, stay in it unless they are light.
    """

    name: ClassVar[str] = "sink"
    needs: ClassVar[frozenset[str]] = LOOPS

    def plans(self, graph: Graph, loops: Mapping[Node, Loop], whole: set[Node]) -> Mapping[Node, _Parts]:
        """Returns smaller loops, and the nodes after them; what is used is known from the last loop on."""
        used: set[Value] = set(graph.outputs)
        plans: dict[Node, _Parts] = {}
        for node in reversed(graph.nodes):
            read: Iterable[Value] = node.inputs
            if (loop := loops.get(node)) is not None:
                # If the loop stays one node, all its outputs count as used: a vjp has cotangents for each of them.
                one = node in whole
                parts = _Parts(loop, range(len(loop.types)) if one else _places(node, used), self.ops)
                if parts.sunk if one else parts.fewer:
                    plans[node] = parts
                    read = node.inputs if one else [node.inputs[position] for position in parts.operands]
            used.update(read)
        return plans


def _places(node: Node, used: set[Value]) -> list[int]:
    return [index for index, output in enumerate(node.outputs) if output in used]


class _Parts:
    """The parts of a loop: those repeated in each iteration, and those that only the last iteration determines."""

    def __init__(self, loop: Loop, used: Sequence[int], ops: Registry[OpDef]) -> None:
        self.loop, self.used, self.ops = loop, used, ops
        self.unchanged = loop.unchanged()
        self.collected = [position for position in used if position >= loop.num_carry]
        self.kept: set[int] = set()  # the positions of the values that stay carried
        self.repeated: set[Node] = set()  # the nodes of the body and of the test that each iteration needs
        self._entries = {value: position for position, value in enumerate(loop.inside)}
        if loop.test is not None:
            self._entries.update({value: position for position, value in enumerate(loop.test.inputs)})
        self._taken: set[int] = set()
        last = self._last()
        self._need_always()
        self._keep([position for position in used if position not in last and position not in self.unchanged])
        self._keep(self._shared([position for position in used if position in last and position not in self.kept]))
        self.sunk = [position for position in used if position in last and position not in self.kept]
        self.slice = needed(loop.body.nodes, [loop.body.outputs[position].node for position in self.sunk])

    def _last(self) -> set[int]:
        """Returns the positions of the carried values that an iteration computes from values known before the loop."""
        loop, body = self.loop, self.loop.body
        if not loop.runs and (loop.test is None or any(is_fixed(node, self.ops) for node in loop.test.nodes)):
            return set()
        index = () if loop.index is None else (loop.index,)
        sources = (*index, *loop.inside[loop.num_carry :], *(loop.inside[position] for position in self.unchanged))
        free = loop.free(sources, self.ops)
        return {position for position in range(loop.num_carry) if body.outputs[position] in free} - self.unchanged

    def _need_always(self) -> None:
        """Adds the unconditional needs of each iteration: its effects, and the test."""
        for region in self.loop.node.regions:
            fixed = {node for node in region.nodes if is_fixed(node, self.ops)} | controlled(region)
            self._need([value for node in fixed for value in node.inputs])
            self.repeated.update(fixed)
        if self.loop.test is not None:
            self._need(self.loop.test.outputs)

    def _keep(self, positions: Sequence[int]) -> None:
        """Adds the needs of some of the loop's outputs."""
        self.kept.update(position for position in positions if position < self.loop.num_carry)
        self._need([self.loop.body.outputs[position] for position in positions])

    def _need(self, values: Sequence[Value]) -> None:
        """Adds values to the needs of each iteration."""
        waiting = list(values)
        while waiting:
            value = waiting.pop()
            position, node = self._entries.get(value), value.node
            if position is not None:
                self._taken.add(position)
                if position < self.loop.num_carry and position not in self.kept and position not in self.unchanged:
                    self.kept.add(position)
                    waiting.append(self.loop.body.outputs[position])
            elif node is not None and node not in self.repeated:
                self.repeated.add(node)
                waiting += node.inputs

    def _shared(self, positions: Sequence[int]) -> list[int]:
        """Returns those of the given carried values that need a heavy node which is repeated anyway."""
        heavy: set[Value] = set()
        for node in self.loop.body.nodes:
            own = node in self.repeated and not is_light(node, self.ops)
            if own or not heavy.isdisjoint(node.inputs):
                heavy.update(node.outputs)
        return [position for position in positions if self.loop.body.outputs[position] in heavy]

    def entry(self, value: Value) -> int | None:
        """Returns the index of the operand for an input of the body or of the test; None for the iteration index."""
        return self._entries.get(value)

    @property
    def places(self) -> list[int]:
        """The indices of the operands that the loop itself needs, the carried ones first."""
        carried, taken = sorted(self.kept), sorted(self._taken - self.kept)
        return [
            *carried,
            *(position for position in taken if position not in self.unchanged),
            *sorted(self._taken & self.unchanged),
        ]

    @property
    def looks(self) -> list[Value]:
        """The inputs of the body that the values after the loop need."""
        results = (self.loop.body.outputs[position] for position in self.sunk)
        values = dict.fromkeys((*(value for node in self.slice for value in node.inputs), *results))
        return [value for value in values if value.node is None]

    @property
    def operands(self) -> set[int]:
        """The indices of the operands that are needed in the loop, or after it."""
        positions = {*self.places, *(position for position in self.used if position in self.unchanged)}
        positions.update(position for position in map(self.entry, self.looks) if position is not None)
        if not self.loop.runs:
            positions.update(self.sunk)
        return positions

    @property
    def fewer(self) -> bool:
        """True if a smaller loop suffices."""
        loop = self.loop
        whole = loop.num_carry, len(loop.operands), len(loop.types) - loop.num_carry
        return (len(self.kept), len(self.places), len(self.collected)) != whole

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value | None]]:
        """Returns the remaining loop and the nodes after it."""
        outputs: list[Value | None] = [
            inputs[position] if position in self.unchanged else None for position in range(len(self.loop.types))
        ]
        nodes: list[Node] = []
        if self.repeated or self.kept or self.collected:
            nodes.append(_rest(self, inputs))
            for position, output in zip((*sorted(self.kept), *self.collected), nodes[0].outputs, strict=True):
                outputs[position] = output
        if self.sunk:
            extra, results = (_last_iteration if self.loop.runs else _if_run)(self, inputs, names)
            nodes += extra
            for position, value in zip(self.sunk, results, strict=True):
                outputs[position] = value
        return nodes, outputs


def _rest(parts: _Parts, inputs: Sequence[Value]) -> Node:
    """Returns the loop reduced to its repeated parts."""
    loop, positions, carried = parts.loop, parts.places, sorted(parts.kept)
    regions: list[Graph] = []
    for region in loop.node.regions:
        index = 0 if loop.index is None else 1
        old = [*region.inputs[:index], *(region.inputs[index + position] for position in positions)]
        results = region.outputs
        if region is loop.body:
            results = [results[position] for position in (*carried, *parts.collected)]
        regions.append(subgraph(old, (node for node in region.nodes if node in parts.repeated), results, region.name))
    rows: dict[str, int] = {}
    if loop.test is None:
        num_rows = sum(loop.num_carry <= position < loop.num_carry + loop.num_rows for position in positions)
        rows = {"num_xs": num_rows, "num_ys": len(parts.collected)}
    gone = {*range(loop.num_carry)} - parts.kept
    return loop.rebuilt([inputs[position] for position in positions], regions, loop.attrs_without(gone, **rows))


def _last_iteration(
    parts: _Parts, inputs: Sequence[Value], names: UniqueNames
) -> tuple[Sequence[Node], Sequence[Value]]:
    """Returns the results of the last iteration of a loop that is known to have one."""
    loop, copier = parts.loop, parts.loop.copier(inputs, names)
    for value in parts.looks:
        position = parts.entry(value)
        if position is None:
            attrs = constant_attrs(loop.last_index, value.type)
            copier.values[value] = copier.add(CONSTANT, (), value.type, attrs, like=loop.node)
        elif loop.num_carry <= position < loop.num_carry + loop.num_rows:
            op, attrs = parts.ops["get_item"], Attrs(index=(loop.last_row,))
            copier.values[value] = copier.add(op, (inputs[position],), value.type, attrs, like=loop.node)
    copier.copy(parts.slice)
    return copier.nodes, [copier.values[loop.body.outputs[position]] for position in parts.sunk]


def _if_run(parts: _Parts, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value]]:
    """Returns the results of the last iteration of a while, or the initial values if there was none."""
    loop, test = parts.loop, parts.loop.test
    assert test is not None
    before = Copier(dict(zip(test.inputs, inputs, strict=True)), names)
    before.copy(test.nodes)
    looks = {position: value for value in parts.looks if (position := parts.entry(value)) is not None}
    positions = sorted({*looks, *parts.sunk})
    regions: list[Graph] = []
    for name, nodes in (("an iteration", parts.slice), ("no iteration", [])):
        results = [
            loop.body.outputs[position] if nodes is parts.slice else loop.inside[position] for position in parts.sunk
        ]
        regions.append(subgraph([loop.inside[position] for position in positions], nodes, results, name))
    chosen = Node(
        parts.ops["cond"], [before.values[test.outputs[0]], *(inputs[position] for position in positions)], Attrs(),
        [loop.types[position] for position in parts.sunk], regions=regions, device=loop.node.device, name=names("cond"),
        location=loop.node.location,
    )  # fmt: skip
    return [*before.nodes, chosen], chosen.outputs
