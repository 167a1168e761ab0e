"""What a pass is, and the base of those that insert nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Protocol

from graphc.compiler.base import Registry, UniqueNames
from graphc.compiler.ir.graph import Graph, Node, Value
from graphc.compiler.ir.opdef import OPS, OpDef
from graphc.compiler.ir.types import Attrs, TensorType

LOOPS = frozenset(("scan", "while", "vjp"))
"""The ops of loops; a ``vjp`` may be that of a loop."""
REGIONS = "regions"
"""Stands among the needs of a pass for any op with regions."""


class Pass(Protocol):
    """A named function from a valid graph to a valid graph."""

    name: ClassVar[str]
    """The name in messages and on the command line."""
    needs: ClassVar[frozenset[str]]
    """The ops of which a graph must have one for the pass to start; empty for a pass that always starts."""

    def __call__(self, graph: Graph) -> Graph:
        """Returns the new graph, or the same object if there is nothing to do."""
        ...


def starts(step: Pass, graph: Graph) -> bool:
    """Returns True if a graph, or a region in it, has what a pass needs."""
    return not step.needs or any(
        node.op.name in step.needs or (bool(node.regions) and REGIONS in step.needs) for node in graph.walk()
    )


@dataclass(frozen=True)
class OpsPass:
    """A pass that inserts nodes, or looks at the ops that a ``vjp`` differentiates.

    Attributes:
      ops: the registry of these ops.
    """

    ops: Registry[OpDef] = field(default_factory=lambda: OPS, repr=False, compare=False)


# Copies of nodes and graphs.


class Copier:
    """Copies nodes from one graph to another; ``names`` provides node names, None keeps them."""

    def __init__(self, values: Mapping[Value, Value], names: UniqueNames | None = None, device: str = "") -> None:
        self.nodes: list[Node] = []
        self.values = dict(values)  # the new values by the old ones; grows with the nodes
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

    def copy_sources(self, values: Iterable[Value], nodes: Sequence[Node]) -> None:
        """Copies those of some nodes that compute the given values, unless these are known."""
        missing = {value for value in values if value not in self.values}
        for node in reversed(nodes):
            if not missing.isdisjoint(node.outputs):
                missing.update(value for value in node.inputs if value not in self.values)
        self.copy(node for node in nodes if not missing.isdisjoint(node.outputs))

    def add(
        self, op: OpDef, inputs: Sequence[Value], type: TensorType, attrs: Attrs | None = None, *, like: Node,
        name: str | None = None,
    ) -> Value:  # fmt: skip
        """Appends a new node with one output, at the location of ``like``."""
        name = (name or like.name) if self._names is None else self._names(name or op.name)
        new = Node(op, inputs, attrs or Attrs(), [type], device=self._device, name=name, location=like.location)
        self.nodes.append(new)
        return new.outputs[0]


def inputs_like(values: Iterable[Value], prefix: str = "") -> list[Value]:
    """Returns inputs for a graph, with the types and names of some values; ``prefix`` names those without, if any."""
    return [
        Value(value.type, None, index, value.name or (prefix and f"{prefix}_{index}"))
        for index, value in enumerate(values)
    ]


def needed(nodes: Sequence[Node], wanted: Iterable[Node | None]) -> list[Node]:
    """Returns the wanted ones of some nodes, with those that they depend on; None stands for no node."""
    required = set(wanted)
    for node in reversed(nodes):
        if node in required:
            required.update(value.node for value in node.inputs)
    return [node for node in nodes if node in required]


def subgraph(
    inputs: Sequence[Value], nodes: Iterable[Node], outputs: Iterable[Value], name: str, prefix: str = ""
) -> Graph:
    """Returns a graph of copies of some nodes, which come in an order that respects their dependencies."""
    new = inputs_like(inputs, prefix)
    copier = Copier(dict(zip(inputs, new, strict=True)))
    copier.copy(nodes)
    return Graph(new, copier.nodes, [copier.values[value] for value in outputs], name)
