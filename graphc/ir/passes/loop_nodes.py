"""The operands and results of a loop, the nodes that may move, and copies of nodes and graphs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from graphc.base import Registry, UniqueNames
from graphc.ir.graph import Graph
from graphc.ir.node import Node, Value
from graphc.ir.opdef import CONSTANT, OpDef
from graphc.ir.passes.fold import Fold
from graphc.ir.types import Attrs, TensorType

__all__ = [
    "ENTERED",
    "Copier",
    "Loop",
    "controlled",
    "differentiated",
    "is_fixed",
    "is_light",
    "subgraph",
    "underlying",
]

ENTERED = frozenset({"call", "cond", "scan", "switch", "while"})
"""The ops whose bodies a late pass may change, since only their nodes' meaning matters."""

Ops = Registry[OpDef]


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

    def rebuilt(
        self, inputs: Sequence[Value], regions: Sequence[Graph], attrs: Attrs | None = None,
        types: Sequence[TensorType] | None = None,
    ) -> Node:  # fmt: skip
        """Returns a loop like this one.

        Args:
          inputs: its operands.
          regions: its test, if it has one, and its body.
          attrs: its attributes; those of this loop by default.
          types: of its outputs; inferred by default.
        """
        attrs, old = self.attrs if attrs is None else attrs, self.node
        if types is None:
            types = self.op.infer([value.type for value in inputs], attrs, regions)
        return Node(
            self.op, inputs, attrs, types, regions=regions, device=old.device, name=old.name, location=old.location
        )

    def copier(self, inputs: Sequence[Value], names: UniqueNames) -> Copier:
        """Returns a copier of nodes of the body to where the loop is, on the loop's device."""
        return Copier(dict(zip(self.inside, inputs, strict=False)), names, self.node.device)

    def unchanged(self) -> set[int]:
        """Returns the positions of the carried values that every iteration passes on unchanged.

        This excludes assigned variables, the last carried values: no gradient flows between iterations through them.
        """
        count = self.num_carry - len(self.attrs.get("assigned", ()))
        return {place for place in range(count) if _source(self.body.outputs[place]) is self.inside[place]}

    def free(self, sources: Iterable[Value], ops: Ops, region: Graph | None = None) -> set[Value]:
        """Returns the values that movable nodes compute from only these inputs of a region, and the inputs.

        Args:
          sources: the inputs.
          ops: the registry with the ops that a ``vjp`` differentiates.
          region: the region; None for the body.
        """
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
      device: where nodes run that are added.
    """

    def __init__(self, values: Mapping[Value, Value], names: UniqueNames | None = None, device: str = "") -> None:
        self.nodes: list[Node] = []
        self.values = dict(values)
        self._names = names
        self._device = device
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

    def add(
        self, op: OpDef, inputs: Sequence[Value], type: TensorType, attrs: Attrs | None = None, *, like: Node,
        name: str | None = None,
    ) -> Value:  # fmt: skip
        """Appends a new node with one output.

        Args:
          op: the op.
          inputs: new values.
          type: of the output.
          attrs: the attributes; none by default.
          like: an old node; the new one has its location.
          name: what it is called if that is free, by default as its op; where names are kept, by default as ``like``.

        Returns:
          The output.
        """
        name = (name or like.name) if self._names is None else self._names(name or op.name)
        new = Node(op, inputs, attrs or Attrs(), [type], device=self._device, name=name, location=like.location)
        self.nodes.append(new)
        return new.outputs[0]


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


def subgraph(
    inputs: Sequence[Value], nodes: Iterable[Node], outputs: Iterable[Value], name: str, prefix: str = ""
) -> Graph:
    """Returns a graph of copies of some nodes.

    Args:
      inputs: the values that become its inputs.
      nodes: the nodes, in an order that respects their dependencies.
      outputs: the values that become its outputs.
      name: of the graph.
      prefix: of the names of inputs that have none.
    """
    new = [
        Value(value.type, None, place, value.name or (prefix and f"{prefix}_{place}"))
        for place, value in enumerate(inputs)
    ]
    copier = Copier(dict(zip(inputs, new, strict=True)))
    copier.copy(nodes)
    return Graph(new, copier.nodes, [copier.values[value] for value in outputs], name)
