"""Code motion out of loops: what a body or a test computes anew in each iteration, and heavy ops of a branch."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from graphc.compiler.base import UniqueNames
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.interpreter import Rewriter
from graphc.compiler.ir.opdef import CONSTANT
from graphc.compiler.ir.passes.base import LOOPS, Copier, subgraph
from graphc.compiler.ir.passes.loop_pass import (
    ENTERED,
    LateLoopPass,
    Loop,
    LoopPass,
    Replacement,
    controlled,
    is_fixed,
    is_light,
)


@dataclass(frozen=True)
class Hoist(LoopPass):
    """Moves invariant computations out of loops.

    Before: a valid graph. After: the same graph, except that nodes of a loop's body that depend neither on its carried
      values nor on its index or rows, have no effects and are not light, stand before the loop. Light nodes follow if
      one of those needs them. Others stay: XLA fuses them with their users, and reading their results from memory takes
      up to twice as long (an addition or ``exp`` of 300 x 300 floats: 1.0 ms within the loop, 1.5 ms before it).
      Nothing leaves a ``while`` that may have no iteration: it might cost more than the loop, and an infinite
      derivative would make the gradient NaN.

    XLA itself moves most of this, but only after the gradients are taken. Hoisting a product of matrices earlier
    computes its gradient once, and not in each iteration (12 times as fast).
    """

    name: ClassVar[str] = "hoist"
    needs: ClassVar[frozenset[str]] = LOOPS

    def plan(self, loop: Loop) -> Move | None:
        """Returns the invariant nodes and the loop without them."""
        chosen = self._chosen(loop)
        return Move(loop, self.ops, loop.body, chosen) if chosen else None

    def _chosen(self, loop: Loop) -> list[Node]:
        """Returns the nodes that are worth moving."""
        if not loop.runs or loop.attrs.get("length") == 1:
            return []
        free = loop.free(loop.invariants(), self.ops)
        moving = (node for node in loop.body.nodes if node.outputs and free.issuperset(node.outputs))
        return [node for node in moving if not is_light(node, self.ops)]


@dataclass(frozen=True)
class Move(Replacement):
    """A loop that some nodes of its body, or of its test, leave."""

    region: Graph
    chosen: Sequence[Node]

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value]]:
        """Returns the nodes before the loop, and the loop."""
        loop, region = self.loop, self.region
        inside = loop.inside if region is loop.body else region.inputs
        before = Copier(dict(zip(inside, inputs, strict=True)), names, loop.node.device)
        leaving = set(self.chosen)
        before.copy_sources((output for node in self.chosen for output in node.outputs), region.nodes)
        staying = [node for node in region.nodes if node not in leaving]
        given = results_read(region, leaving)
        regions = [
            subgraph([*each.inputs, *given], staying if each is region else each.nodes, each.outputs, each.name)
            for each in loop.node.regions
        ]
        node = loop.rebuilt([*inputs, *(before.values[value] for value in given)], regions)
        return [*before.nodes, node], node.outputs


def results_read(region: Graph, nodes: Collection[Node]) -> list[Value]:
    """Returns the results of some nodes of a region that its other nodes read, or that it returns."""
    readers = (node.inputs for node in region.nodes if node not in nodes)
    used = dict.fromkeys(value for values in (*readers, region.outputs) for value in values)
    return [value for value in used if value.node in nodes]


# Speculation: operands of heavy ops leave the branches of a loop.

_BRANCHES = frozenset({"cond", "switch"})


@dataclass(frozen=True)
class Speculate(LateLoopPass):
    """Computes invariant operands of heavy ops before the loop, although only a branch in the loop uses them.

    In ``if going_on: w = w - rate * x.T @ error`` the product reads ``rate * x.T``. XLA moves what is invariant out of
    a loop, but not out of a branch, and it fuses elementwise ops with each other, but not into a product: the scaled
    copy of ``x`` was made in each iteration, which took twice as long as the rest.

    Before: a valid graph. After: the same graph, except that light nodes of a branch in a loop that depend on nothing
      that changes in the loop, and whose results a node that is not light reads in that branch, stand before the loop.
      They run once, also if the branch is never taken. Nothing leaves a ``while`` that may have no iteration.

    Differentiated loops stay: the gradient through an operand of a branch not taken is NaN if it has an infinite
    derivative.
    """

    name: ClassVar[str] = "speculate"
    needs: ClassVar[frozenset[str]] = LOOPS

    def plan(self, loop: Loop) -> Move | None:
        """Returns what leaves the branches of a loop, and the loop."""
        if loop.node.op.name not in ENTERED or loop.attrs.get("length") == 1 or not loop.runs:
            return None
        body, moved = self._lifted(loop.body, loop.free(loop.invariants(), self.ops))
        if not moved:
            return None
        types = [output.type for output in loop.node.outputs]
        node = loop.rebuilt(loop.operands, [*loop.node.regions[:-1], body], types=types)
        return Move(Loop(loop.op, loop.attrs, loop.operands, node), self.ops, body, moved)

    def _lifted(self, graph: Graph, invariant: Collection[Value]) -> tuple[Graph, list[Node]]:
        """Returns a graph with nodes of its branches moved in front of them, and these nodes."""
        bound = controlled(graph)
        rewriter, moved = Rewriter(graph), list[Node]()
        for node in graph.nodes:
            if node.op.name not in _BRANCHES or node in bound:
                rewriter.keep(node)
                continue
            operands, added = rewriter.inputs(node)[1:], list[Value]()
            parts: list[tuple[Graph, set[Node], list[Value]]] = []
            for region in node.regions:
                entries = zip(region.inputs, node.inputs[1:], strict=True)
                region, chosen = self._chosen(region, [entry for entry, operand in entries if operand in invariant])
                copier = Copier(dict(zip(region.inputs, operands, strict=True)), rewriter.names)
                copier.copy(chosen)
                moved += copier.nodes
                for new in copier.nodes:
                    rewriter.add(new)
                leaving = {node for node in chosen if node.op is not CONSTANT}
                used = results_read(region, leaving)
                parts.append((region, leaving, used))
                added += [copier.values[value] for value in used]
            if not added:
                rewriter.keep(node)
                continue
            every = [value for _, _, used in parts for value in used]
            regions = [_without(region, leaving, every) for region, leaving, _ in parts]
            rewriter.replace(node, node.op, [*rewriter.inputs(node), *added], node.attrs, regions=regions)
        return rewriter.finish(), moved

    def _chosen(self, region: Graph, invariant: Iterable[Value]) -> tuple[Graph, list[Node]]:
        """Returns a branch, after branches in it were treated alike, and its nodes to compute before the loop."""
        fixed = set(invariant)
        region, wanted = self._lifted(region, self._free(region, fixed)) if fixed else (region, [])
        free = self._free(region, fixed)
        needed = {*wanted}
        for node in reversed(region.nodes):
            if node in needed or self._is_heavy(node):
                sources = (value.node for value in node.inputs if value in free)
                needed.update(source for source in sources if source is not None)
        chosen = [node for node in region.nodes if node in needed]
        return region, chosen if any(node.op is not CONSTANT for node in chosen) else []

    def _is_heavy(self, node: Node) -> bool:
        """Returns True if XLA does not compute a node's operands as it needs them."""
        return not (node.op.light or node.regions or node.op.name == "update_item" or is_fixed(node, self.ops))

    def _free(self, region: Graph, invariant: Iterable[Value]) -> set[Value]:
        """Returns the values that light nodes compute from invariant ones, and these."""
        computable, bound = set(invariant), controlled(region)
        for node in region.nodes:
            if (
                node.op.light
                and computable.issuperset(node.inputs)
                and node not in bound
                and not is_fixed(node, self.ops)
            ):
                computable.update(node.outputs)
        return computable


def _without(region: Graph, leaving: Collection[Node], extra: Sequence[Value]) -> Graph:
    """Returns a branch without some of its nodes, with inputs for results of nodes that leave any branch."""
    nodes = (node for node in region.nodes if node not in leaving)
    return subgraph([*region.inputs, *extra], nodes, region.outputs, region.name)


# Loop-invariant code motion out of the tests of loops.


@dataclass(frozen=True)
class Pretest(LateLoopPass):
    """Moves invariant computations out of the test of a ``while``.

    XLA moves what is invariant out of a loop's body, but not out of its test. ``while level < gx.max(levels)`` found
    the maximum before each iteration (300 iterations over 100,000 levels: 3.7 ms, now 0.03 ms).

    Before: a valid graph. After: the same graph, except that nodes of a test that depend on nothing that changes in the
      loop, have no effects, and are not light or compute a number from a tensor, stand before the loop, with the nodes
      that they need. The test runs at least once, so that they run no more often than before.
    """

    name: ClassVar[str] = "pretest"
    needs: ClassVar[frozenset[str]] = frozenset(("while", "vjp"))

    def plan(self, loop: Loop) -> Move | None:
        """Returns what leaves the test of a loop, and the loop."""
        test = loop.test
        if test is None or loop.node.op.name not in ENTERED:
            return None
        places = [*range(loop.num_carry, len(loop.operands)), *loop.unchanged()]
        free = loop.free([test.inputs[place] for place in places], self.ops, test)
        movable = (node for node in test.nodes if node.outputs and free.issuperset(node.outputs))
        chosen = [node for node in movable if not is_light(node, self.ops) or _condenses(node)]
        return Move(loop, self.ops, test, chosen) if chosen else None


def _condenses(node: Node) -> bool:
    """Returns True if a node computes a number from more than numbers: it reads an item, or sums them up."""
    return node.outputs[0].type.shape == () and any(value.type.shape != () for value in node.inputs)
