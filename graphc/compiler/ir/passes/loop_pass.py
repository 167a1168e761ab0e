"""The base of the passes that replace loops by other nodes."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Protocol

from graphc.compiler.base import Registry, UniqueNames
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.interpreter import Rewriter, map_inside, map_regions
from graphc.compiler.ir.opdef import CONSTANT, OpDef
from graphc.compiler.ir.passes.base import Copier, OpsPass, inputs_like
from graphc.compiler.ir.passes.simplify import Fold
from graphc.compiler.ir.types import Attrs, TensorType

# The operands and results of a loop, and the nodes that may move.

ENTERED = frozenset({"call", "cond", "scan", "switch", "while"})
"""The ops whose bodies a late pass may change, since only their nodes' meaning matters."""

Ops = Registry[OpDef]


@dataclass(frozen=True, eq=False)
class Loop:
    """A ``scan`` or a ``while``, possibly under a ``vjp`` that differentiates it.

    Its operands are the initial carried values, the arrays whose rows the iterations take, and the values common to all
    iterations. The body has an input for each, in this order, after the index if it is a ``scan``. Its outputs are the
    carried values and the rows to collect.
    """

    op: OpDef
    attrs: Attrs
    operands: tuple[Value, ...]
    node: Node  # the loop, or the ``vjp``

    @staticmethod
    def of(node: Node, ops: Ops) -> Loop | None:
        """Returns the loop that a node is or differentiates; None if it is neither."""
        if not node.regions:
            return None
        op, attrs, count = underlying(node, ops)
        return Loop(op, attrs, node.inputs[:count], node) if op.name in ("scan", "while") else None

    @property
    def body(self) -> Graph:
        """The loop's body."""
        return self.node.regions[-1]

    @property
    def test(self) -> Graph | None:
        """The condition of a ``while``, which has the same inputs as the body; None for a ``scan``."""
        return self.node.regions[0] if self.op.name == "while" else None

    @property
    def types(self) -> tuple[TensorType, ...]:
        """The types of the loop's outputs."""
        return self.op.infer([value.type for value in self.operands], self.attrs, self.node.regions)

    @property
    def index(self) -> Value | None:
        """The body's input for the iteration number; None for a ``while``."""
        return self.body.inputs[0] if self.op.name == "scan" else None

    @property
    def inside(self) -> tuple[Value, ...]:
        """The body's inputs for the operands."""
        return self.body.inputs if self.index is None else self.body.inputs[1:]

    @property
    def num_carry(self) -> int:
        """The number of carried values."""
        return self.attrs["num_carry"]

    @property
    def num_rows(self) -> int:
        """The number of arrays taken row by row."""
        return self.attrs.get("num_xs", 0)

    @cached_property
    def runs(self) -> bool:
        """True if at least one iteration is known to run."""
        return self.attrs["length"] > 0 if self.test is None else _holds(self.test, self.operands)

    @property
    def last_index(self) -> int:
        """The index of the last iteration of a ``scan``."""
        start, step = self.attrs.get("start", 0), self.attrs.get("step", 1)
        return start if self.attrs.get("reverse") else start + step * (self.attrs["length"] - 1)

    @property
    def last_row(self) -> int:
        """The index of the row that the last iteration takes."""
        return 0 if self.attrs.get("reverse") else self.attrs["length"] - 1

    def rebuilt(
        self, inputs: Sequence[Value], regions: Sequence[Graph], attrs: Attrs | None = None,
        types: Sequence[TensorType] | None = None,
    ) -> Node:  # fmt: skip
        """Returns a loop like this one; the regions are its test, if it has one, and its body."""
        attrs, old = self.attrs if attrs is None else attrs, self.node
        if types is None:
            types = self.op.infer([value.type for value in inputs], attrs, regions)
        return Node(
            self.op, inputs, attrs, types, regions=regions, device=old.device, name=old.name, location=old.location
        )

    def copier(self, inputs: Sequence[Value], names: UniqueNames) -> Copier:
        """Returns a copier of nodes of the body to where the loop is, on the loop's device."""
        return Copier(dict(zip(self.inside, inputs, strict=False)), names, self.node.device)

    @property
    def places(self) -> range:
        """The positions of the carried values except assigned variables, which are the last of them."""
        return range(self.num_carry - len(self.attrs.get("assigned", ())))

    def unchanged(self) -> set[int]:
        """Returns the positions of the carried values that every iteration passes on unchanged."""
        # This excludes assigned variables: no gradient flows between iterations through them.
        return {position for position in self.places if _source(self.body.outputs[position]) is self.inside[position]}

    def invariants(self) -> list[Value]:
        """Returns the body's inputs that are the same in all iterations."""
        return [
            *self.inside[self.num_carry + self.num_rows :],
            *(self.inside[position] for position in self.unchanged()),
        ]

    def attrs_without(self, removed: Container[int], **others: object) -> Attrs:
        """Returns the attributes of a loop that does not carry the values at some positions."""
        remaining = [position for position in range(self.num_carry) if position not in removed]
        attrs = {**self.attrs, "num_carry": len(remaining), **others}
        assigned = zip(range(self.places.stop, self.num_carry), attrs.pop("assigned", ()), strict=True)
        left = tuple(name for position, name in assigned if position not in removed)
        return Attrs({"assigned": left} if left else {}, **attrs)

    def free(self, sources: Iterable[Value], ops: Ops, region: Graph | None = None) -> set[Value]:
        """Returns the values that movable nodes compute from only these inputs of a region, or the body, and these."""
        found, region = set(sources), region or self.body
        bound = controlled(region)
        for node in region.nodes:
            if found.issuperset(node.inputs) and node not in bound and not is_fixed(node, ops):
                found.update(node.outputs)
        return found


def _source(value: Value) -> Value:
    """Returns what a value is given on from."""
    while (node := value.node) is not None and node.op.name == "identity" and not node.control_inputs:
        (value,) = node.inputs
    return value


def _holds(test: Graph, operands: Sequence[Value]) -> bool:
    """Returns True if the constants among the operands make a test true."""
    pairs = zip(test.inputs, operands, strict=True)
    constants = {value: node for value, operand in pairs if (node := operand.node) is not None and node.op is CONSTANT}
    copier = Copier({value: constants[value].outputs[0] if value in constants else value for value in test.inputs})
    for node in test.nodes:
        if node.op.name == "identity" and not node.control_inputs:  # such as of the status
            copier.values[node.outputs[0]] = copier.values[node.inputs[0]]
        else:
            copier.copy([node])
    nodes = [*dict.fromkeys(constants.values()), *copier.nodes]
    (result,) = Fold()(Graph(test.inputs, nodes, [copier.values[test.outputs[0]]])).outputs
    return result.node is not None and result.node.op is CONSTANT and bool(result.node.attrs["value"].array)


def is_fixed(node: Node, ops: Ops) -> bool:
    """Returns True if passes must not change how often a node runs: it has effects, or may have."""
    if node.effects or underlying(node, ops)[0].opaque:
        return True
    return any(is_fixed(inner, ops) for region in node.regions for inner in region.nodes)


def is_light(node: Node, ops: Ops) -> bool:
    """Returns True if recomputing a node, or the op that a ``vjp`` differentiates, is cheaper than storing it."""
    return underlying(node, ops)[0].light


def underlying(node: Node, ops: Ops) -> tuple[OpDef, Attrs, int]:
    """Returns a node's op, attributes and number of operands; for a ``vjp``, those of the differentiated op."""
    op, attrs, count = node.op, node.attrs, len(node.inputs)
    while op.name == "vjp":
        count -= sum(attrs["cotangents"])
        op, attrs = ops[attrs["op"]], Attrs(dict(attrs["attrs"]))
    return op, attrs, count


def controlled(graph: Graph) -> set[Node]:
    """Returns the nodes at either end of a control edge."""
    waiting = [node for node in graph.nodes if node.control_inputs]
    return {*waiting, *(control for node in waiting for control in node.control_inputs)}


def differentiated(graph: Graph) -> set[Node]:
    """Returns the nodes with regions that the graph differentiates, and their ``vjp`` nodes."""
    derivatives = [node for node in graph.nodes if node.op.name == "vjp" and node.regions]
    keys = {
        (node.attrs["op"], Attrs(dict(node.attrs["attrs"])), node.regions, *node.inputs[: _num_primals(node)])
        for node in derivatives
    }
    derived = [node for node in graph.nodes if keys and (node.op.name, node.attrs, node.regions, *node.inputs) in keys]
    return {*derivatives, *derived}


def _num_primals(node: Node) -> int:
    return len(node.inputs) - sum(node.attrs["cotangents"])


class LoopReplacement(Protocol):
    """What stands for a loop."""

    def emit(self, inputs: Sequence[Value], names: UniqueNames) -> tuple[Sequence[Node], Sequence[Value | None]]:
        """Returns nodes that replace the loop, and a value for each of its outputs, or None for an unused one."""
        ...


@dataclass(frozen=True)
class Replacement:
    """The base of plans: a loop, with what a pass found in it."""

    loop: Loop
    ops: Registry[OpDef]


@dataclass(frozen=True)
class LoopPass(OpsPass):
    """A pass that replaces loops, those inside others first.

    A loop that has control edges or is differentiated stays a single node: a ``call`` whose body is the replacement.
    Its ``vjp`` counts as a loop too, and becomes that of the ``call``: it changes as the loop does, so that the
    lowering can evaluate both together.

    A subclass implements :meth:`plan`, or :meth:`plans` where the plan depends on other nodes of the graph.

    Attributes:
      ops: the registry with the op ``call`` and those that are inserted.
    """

    replaces_whole: ClassVar[bool] = True
    """True if loops that stay a single node are replaced, too."""

    def __call__(self, graph: Graph) -> Graph:
        """Replaces the loops."""
        if not any(node.regions for node in graph.nodes):
            return graph
        graph = self.inside(graph)
        loops = {node: loop for node in graph.nodes if (loop := Loop.of(node, self.ops)) is not None}
        whole = {*controlled(graph), *differentiated(graph).intersection(loops)}
        return self.replaced(graph, loops, whole) if loops else graph

    def inside(self, graph: Graph) -> Graph:
        """Returns the graph with the loops in its regions replaced."""
        return map_inside(graph, self)

    def replaced(self, graph: Graph, loops: Mapping[Node, Loop], whole: set[Node]) -> Graph:
        """Returns the graph with its own loops replaced; the arguments are those of :meth:`plans`."""
        plans = self.plans(graph, loops, whole)
        return _replaced(graph, plans, whole, self.ops) if plans else graph

    def plans(self, graph: Graph, loops: Mapping[Node, Loop], whole: set[Node]) -> Mapping[Node, LoopReplacement]:
        """Returns the replacements of a graph's own loops, of which those in ``whole`` stay a single node."""
        chosen = loops if self.replaces_whole else {node: loop for node, loop in loops.items() if node not in whole}
        found = {node: self.plan(loop) for node, loop in chosen.items()}
        return {node: plan for node, plan in found.items() if plan is not None}

    def plan(self, loop: Loop) -> LoopReplacement | None:
        """Returns the replacement of a loop; None if it stays."""
        raise NotImplementedError


@dataclass(frozen=True)
class LateLoopPass(LoopPass):
    """A pass that replaces loops after gradients were taken; differentiated loops stay, with all that is in them.

    What leaves a loop has a gradient of its own, which is NaN if its derivative is infinite, even if nothing uses it.
    """

    replaces_whole: ClassVar[bool] = False

    def inside(self, graph: Graph) -> Graph:
        """Returns the graph with the loops in its regions replaced, but for regions that are differentiated."""
        fixed = differentiated(graph)
        rewriter = Rewriter(graph)
        for node in graph.nodes:
            entered = node.op.name in ENTERED and node not in fixed
            rewriter.keep(node, regions=map_regions(node, self) if entered else None)
        return rewriter.finish()


def _replaced(graph: Graph, plans: Mapping[Node, LoopReplacement], whole: set[Node], ops: Registry[OpDef]) -> Graph:
    """Returns the graph with loops replaced."""
    rewriter = Rewriter(graph)
    for node in graph.nodes:
        if node not in plans:
            rewriter.keep(node)
        elif node in whole:
            called, is_loop = _called(node, plans[node], ops), node.op.name != "vjp"
            op, attrs = (ops["call"], Attrs()) if is_loop else (node.op, _of_call(node.attrs))
            controls = rewriter.controls(node)
            rewriter.replace(node, op, rewriter.inputs(node), attrs, regions=[called], control_inputs=controls)
        else:
            nodes, outputs = plans[node].emit(rewriter.inputs(node), rewriter.names)
            for new in nodes:
                rewriter.add(new)
            rewriter.substitute(node.outputs, outputs)
    return rewriter.finish()


def _called(node: Node, plan: LoopReplacement, ops: Registry[OpDef]) -> Graph:
    """Returns a loop's replacement as a separate graph."""
    count, names = underlying(node, ops)[2], UniqueNames()
    names(node.name)
    inputs = inputs_like(node.inputs[:count])
    nodes, outputs = plan.emit(inputs, names)
    return Graph(inputs, nodes, [value for value in outputs if value is not None], node.regions[-1].name)


def _of_call(attrs: Attrs) -> Attrs:
    """Returns the attributes of a ``call``'s ``vjp`` from those of a loop's ``vjp``."""
    if attrs["op"] != "vjp":
        return Attrs(attrs, op="call", attrs=())
    return Attrs(attrs, attrs=tuple(sorted(_of_call(Attrs(dict(attrs["attrs"]))).items())))
