"""Flattening of cond chains into switches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from graphc.compiler.base import UniqueNames
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.interpreter import Rewriter, map_regions
from graphc.compiler.ir.passes.base import OpsPass, inputs_like
from graphc.compiler.ir.types import Attrs, TensorType

_LEAST = 4
"""Minimum length of a chain; shorter ones cost XLA no more than a switch."""

_MAX_ELEMENTS = 1024
"""Maximum number of elements in an array that a test reads; a branch that avoids computing larger ones pays off."""

_MAX_TEST = 32
"""Maximum number of nodes in a test, for the same reason."""

_MAX_COPIED = 16
"""Maximum number of nodes beside the conds that each branch of the switch may copy."""

_INDEX = TensorType((), np.dtype(np.int32))


@dataclass(frozen=True)
class Flatten(OpsPass):
    """Turns conds nested in each other's false branches into one switch.

    An ``elif`` is such a cond. XLA's compile time grows with the depth of the nesting: 200 levels took 91 s, and a
    switch takes 2 s.

    Before: a valid graph. After: the same graph, except that a chain of four or more conds, whose tests have no effects
      and cost less than a branch, is a ``switch`` on the position of the first true test. All tests are computed before
      it; the other nodes of the false branches, few and light ones, are copied into each branch that needs them. The
      pullback of such a cond becomes the pullback of the switch.
    """

    name: ClassVar[str] = "flatten"
    needs: ClassVar[frozenset[str]] = frozenset(("cond", "vjp"))

    def __call__(self, graph: Graph) -> Graph:
        """Replaces the chains."""
        if not any(node.regions for node in graph.nodes):
            return graph
        rewriter = Rewriter(graph)
        for node in graph.nodes:
            chain = _Chain.of(node)
            if chain is None:
                rewriter.keep(node, regions=map_regions(node, self))
                continue
            tests, nodes = chain.tests(rewriter.inputs(node), rewriter.names)
            for new in nodes:
                rewriter.add(new)
            index = rewriter.insert(self.ops["first_true"], tests, Attrs(), _INDEX, node, "index")
            regions = [self(region) for region in chain.branches()]
            inputs = (index, *rewriter.inputs(node)[1:])
            controls = rewriter.controls(node)
            if node.op.name == "cond":
                rewriter.replace(node, self.ops["switch"], inputs, node.attrs, regions=regions, control_inputs=controls)
            else:
                rewriter.replace(
                    node, node.op, inputs, _of_switch(node.attrs), regions=regions, control_inputs=controls
                )
        return rewriter.finish()


def _is_cond(node: Node) -> bool:
    """Returns True if a node is a cond, or the pullback of one."""
    name, attrs = node.op.name, node.attrs
    while name == "vjp":
        name, attrs = attrs["op"], dict(attrs["attrs"])
    return name == "cond"


def _of_switch(attrs: Attrs) -> Attrs:
    """Returns the attributes of a switch's pullback from those of a cond's pullback."""
    if attrs["op"] == "cond":
        return Attrs(attrs, op="switch")
    return Attrs(attrs, attrs=tuple(_of_switch(Attrs(dict(attrs["attrs"]))).items()))


@dataclass(frozen=True)
class _Link:
    """A cond of a chain, with the other nodes of the preceding false branch."""

    cond: Node
    around: Graph
    before: Sequence[Node]  # without those that only the test needs
    after: Sequence[Node]

    @staticmethod
    def of(around: Graph) -> _Link | None:
        """Returns the cond of a branch with little other work; None if there is none."""
        inner: Node | None = None
        for node in around.nodes:
            if node.control_inputs or (node.regions and (inner is not None or node.op.name != "cond")):
                return None
            if node.regions:
                inner = node
            elif not node.op.light:
                return None
        if inner is None:
            return None
        needed = {value.node for value in (*around.outputs, *inner.inputs[1:])}
        after: set[Node | None] = {inner}
        for node in around.nodes:
            if any(value.node in after for value in node.inputs):
                after.add(node)
        for node in reversed(around.nodes):
            if node in needed and node is not inner:
                needed.update(value.node for value in node.inputs)
        rest = [node for node in around.nodes if node in needed and node is not inner]
        return _Link(
            inner, around, [node for node in rest if node not in after], [node for node in rest if node in after]
        )


class _Chain:
    """Conds nested in each other's false branches; the first is the outermost, or its pullback."""

    def __init__(self, first: Node) -> None:
        self._first = first
        self._links: list[_Link] = []
        self._sources: dict[Value, Value] = {}
        self._depths: dict[Node | None, int] = {}
        self._copied = 0

    @staticmethod
    def of(node: Node) -> _Chain | None:
        """Returns the chain that begins at a node; None if it is too short."""
        if not node.regions or not _is_cond(node):
            return None
        chain = _Chain(node)
        while chain._grow():
            pass
        return chain if len(chain._links) + 1 >= _LEAST else None

    def _conds(self) -> Iterator[Node]:
        yield self._first
        yield from (link.cond for link in self._links)

    def _grow(self) -> bool:
        """Adds the next cond, if its test can be computed before the switch; returns False if not."""
        last = self._links[-1].cond if self._links else self._first
        link = _Link.of(last.regions[1])
        if link is None or link.cond.device != self._first.device:
            return False
        # The variables that the innermost cond assigns are outputs of those around it; the switch has the same outputs.
        if self._links and not _assigned(link.cond) <= _assigned(self._links[0].cond):
            return False
        copied = self._copied + len(link.before) + len(link.after)
        self._links.append(link)
        if copied > _MAX_COPIED or not self._is_light(link.cond.inputs[0]):
            self._links.pop()
            return False
        if len(self._links) > 1:
            # The values of this false branch's inputs, with the depth that defines them.
            sources = [self._sources.get(value, value) for value in last.inputs[1:]]
            self._sources.update(zip(link.around.inputs, sources, strict=True))
        self._depths[link.cond] = len(self._links)
        self._copied = copied
        return True

    def _outside(self, value: Value, depth: int) -> tuple[Value, int]:
        """Returns a value of the false branch at a depth, traced to where it is defined if it is an input."""
        while depth and value.node is None:
            depth -= 1
            cond = self._links[depth - 1].cond if depth else self._first
            value = cond.inputs[1 + value.index]
        return value, depth

    def _is_light(self, test: Value) -> bool:
        """Returns True if the test of the last cond costs less than a branch."""
        seen: set[Value] = set()
        waiting = [(test, len(self._links))]
        while waiting:
            value, depth = self._outside(*waiting.pop())
            if value in seen or not depth:
                continue
            seen.add(value)
            node = value.node
            assert node is not None
            if not node.op.light or any(_is_large(part.type) for part in (*node.inputs, *node.outputs)):
                return False
            waiting += [(part, depth) for part in node.inputs]
        return len(seen) <= _MAX_TEST

    def tests(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[list[Value], list[Node]]:
        """Returns the tests of all conds, and the nodes that compute them of the inputs of the first."""
        known = dict(zip(self._first.inputs, inputs, strict=True))
        made: list[Node] = []

        def computed(value: Value, depth: int) -> Value:
            value, depth = self._outside(value, depth)
            if value not in known:
                node = value.node
                assert node is not None
                new = _copy(node, [computed(part, depth) for part in node.inputs], names)
                known.update(zip(node.outputs, new.outputs, strict=True))
                made.append(new)
            return known[value]

        return [computed(cond.inputs[0], depth) for depth, cond in enumerate(self._conds())], made

    def branches(self) -> list[Graph]:
        """Returns the branch for each test that may be the first true one, and for none."""
        true = [self._branch(depth, cond.regions[0]) for depth, cond in enumerate(self._conds())]
        last = self._links[-1].cond.regions[1]
        return [*true, self._branch(len(self._links), last)]

    def _branch(self, depth: int, region: Graph) -> Graph:
        """Returns a branch of the cond at a depth, with the operands of the switch."""
        if not depth:
            return region
        links = self._links[:depth]
        inputs = inputs_like(links[0].around.inputs)
        values = dict(zip(links[0].around.inputs, inputs, strict=True))
        names = UniqueNames()
        nodes: list[Node] = []
        copied: dict[Node, Node] = {}

        def found(value: Value) -> Value:
            """Returns the value in this branch of the switch for a value of a false branch."""
            value = self._sources.get(value, value)
            while (level := self._depths.get(value.node)) is not None:
                if level == depth:
                    value = region.outputs[value.index]
                    break
                value = self._links[level].around.outputs[value.index]
                value = self._sources.get(value, value)
            return values[value]

        def copy(node: Node, sources: Sequence[Value]) -> None:
            copied[node] = new = _copy(node, sources, names, copied)
            values.update(zip(node.outputs, new.outputs, strict=True))
            nodes.append(new)

        for link in links:
            for node in link.before:
                copy(node, [found(value) for value in node.inputs])
        values.update(zip(region.inputs, [found(value) for value in links[-1].cond.inputs[1:]], strict=True))
        for node in region.nodes:
            copy(node, [values[value] for value in node.inputs])
        for link in reversed(links):
            for node in link.after:
                copy(node, [found(value) for value in node.inputs])
        return Graph(inputs, nodes, [found(value) for value in links[0].around.outputs], region.name)


def _assigned(cond: Node) -> set[str]:
    return set(cond.attrs.get("assigned", ()))


def _copy(node: Node, inputs: Sequence[Value], names: UniqueNames, copied: Any = None) -> Node:
    """Returns a copy of another graph's node, with other inputs."""
    return Node(
        node.op, inputs, node.attrs, [output.type for output in node.outputs], regions=node.regions,
        control_inputs=[copied[control] for control in node.control_inputs] if node.control_inputs else (),
        device=node.device, name=names(node.name), location=node.location,
    )  # fmt: skip


def _is_large(type: TensorType) -> bool:
    return type.is_open or type.size > _MAX_ELEMENTS
