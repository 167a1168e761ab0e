"""Helpers shared by the passes over loops: the operands and results of a loop, and its replacement by other nodes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from graphc.base import Registry, UniqueNames
from graphc.ir.graph import Graph
from graphc.ir.node import Node, Value
from graphc.ir.opdef import CONSTANT, OpDef
from graphc.ir.passes.fold import Fold
from graphc.ir.rewrite import Rewriter
from graphc.ir.types import Attrs, TensorType

__all__ = [
    "ENTERED",
    "Copier",
    "Emit",
    "Loop",
    "controlled",
    "differentiated",
    "find_loops",
    "is_fixed",
    "is_light",
    "replace_loops",
]

ENTERED = frozenset({"call", "cond", "scan", "switch", "while"})
"""The ops whose bodies a late pass may change, since only their nodes' meaning matters."""

Ops = Registry[OpDef]
Emit = Callable[[Sequence[Value], UniqueNames], tuple[Sequence[Node], Sequence[Value | None]]]
"""Makes the replacement of a loop from its operands and names for the nodes: nodes, and a value for each output, or
None for an unused output."""

ENTERED = frozenset({"call", "cond", "scan", "switch", "while"})
"""The ops whose bodies may be changed, since only their nodes' meaning matters."""


@dataclass(frozen=True, eq=False)
class Loop:
    """A ``scan`` or a ``while``, possibly under a ``vjp`` that differentiates it.

    Its operands are the initial carried values, the arrays whose rows the iterations take, and the values common to all
    iterations. The body has an input for each, in this order, after the index if it is a ``scan``. Its outputs are the
    carried values and the rows to collect.

    Attributes:
      op: the loop's op.
      attrs: the loop's attributes.
      operands: the loop's operands.
      node: the loop, or the ``vjp``.
    """

    op: OpDef
    attrs: Attrs
    operands: tuple[Value, ...]
    node: Node

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

    def unchanged(self) -> set[int]:
        """Returns the positions of the carried values that every iteration passes on unchanged.

        This excludes assigned variables, the last carried values: no gradient flows between iterations through them.
        """
        count = self.num_carry - len(self.attrs.get("assigned", ()))
        return {place for place in range(count) if _source(self.body.outputs[place]) is self.inside[place]}

    def free(self, sources: Iterable[Value], ops: Ops) -> set[Value]:
        """Returns the values that movable nodes compute from only these inputs of the body, and the inputs."""
        found = set(sources)
        bound = controlled(self.body)
        for node in self.body.nodes:
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
    given = zip(test.inputs, operands, strict=True)
    constants = {value: node for value, operand in given if (node := operand.node) is not None and node.op is CONSTANT}
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


class Copier:
    """Copies nodes from one graph to another.

    Args:
      values: the new values for those of the old graph; grows with the nodes.
      names: provides node names; None to keep them.
    """

    def __init__(self, values: Mapping[Value, Value], names: UniqueNames | None = None) -> None:
        self.nodes: list[Node] = []
        self.values = dict(values)
        self._names = names
        self._copies: dict[Node, Node] = {}

    def copy(self, nodes: Iterable[Node]) -> None:
        """Copies nodes, given in an order that respects their dependencies."""
        for node in nodes:
            new = Node(
                node.op, [self.values[value] for value in node.inputs], node.attrs,
                [output.type for output in node.outputs], regions=node.regions,
                control_inputs=[self._copies[control] for control in node.control_inputs], device=node.device,
                name=node.name if self._names is None else self._names(node.name), location=node.location,
            )  # fmt: skip
            self.nodes.append(new)
            self._copies[node] = new
            self.values.update(zip(node.outputs, new.outputs, strict=True))


def find_loops(graph: Graph, ops: Ops) -> tuple[dict[Node, Loop], set[Node]]:
    """Returns the loops of a graph, without its regions, and those that must stay a single node.

    The latter have control edges or are differentiated. A ``vjp`` counts as a loop too: it changes as its loop does, so
    that the lowering can evaluate both together.
    """
    loops = {node: loop for node in graph.nodes if (loop := Loop.of(node, ops)) is not None}
    return loops, {*controlled(graph), *differentiated(graph).intersection(loops)}


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


def replace_loops(graph: Graph, plans: Mapping[Node, Emit], whole: set[Node], ops: Ops) -> Graph:
    """Returns the graph with some loops replaced by other nodes.

    Args:
      graph: the graph.
      plans: makes the new nodes, by loop.
      whole: the loops that stay a single node: a ``call`` whose body has the new nodes; a ``vjp`` becomes that of the
        ``call``.
      ops: the registry with the op ``call``.
    """
    if not plans:
        return graph
    rewriter, names = Rewriter(graph), UniqueNames()
    for node in graph.nodes:
        names(node.name)
    for node in graph.nodes:
        if node not in plans:
            rewriter.keep(node)
        elif node in whole:
            called, is_loop = _called(node, plans[node], ops), node.op.name != "vjp"
            op, attrs = (ops["call"], Attrs()) if is_loop else (node.op, _of_call(node.attrs))
            controls = rewriter.controls(node)
            rewriter.replace(node, op, rewriter.inputs(node), attrs, regions=[called], control_inputs=controls)
        else:
            nodes, outputs = plans[node](rewriter.inputs(node), names)
            for new in nodes:
                rewriter.add(new)
            rewriter.substitute(node.outputs, outputs)
    return rewriter.finish()


def _called(node: Node, emit: Emit, ops: Ops) -> Graph:
    """Returns a loop's replacement as a separate graph."""
    count, names = underlying(node, ops)[2], UniqueNames()
    names(node.name)
    inputs = [Value(value.type, None, place, value.name) for place, value in enumerate(node.inputs[:count])]
    nodes, outputs = emit(inputs, names)
    return Graph(inputs, nodes, [value for value in outputs if value is not None], node.regions[-1].name)


def _of_call(attrs: Attrs) -> Attrs:
    """Returns the attributes of a ``call``'s ``vjp`` from those of a loop's ``vjp``."""
    if attrs["op"] != "vjp":
        return Attrs(attrs, op="call", attrs=())
    return Attrs(attrs, attrs=tuple(sorted(_of_call(Attrs(dict(attrs["attrs"]))).items())))
