"""Graphs: inputs, nodes in an order that respects every edge, and outputs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from graphc.compiler.base import ABOVE, Location, UniqueNames
from graphc.compiler.base.errors import InvalidTypeError, ParseError
from graphc.compiler.ir.opdef import Effect, OpDef, applied_name, infer_types
from graphc.compiler.ir.types import Attrs, TensorType

# Values and nodes. Both are frozen: a pass makes new ones.


class Value:
    """A tensor in a graph: an output of a node, or an input of the graph. Compared by identity.

    Attributes:
      type: shape and dtype.
      node: the node that computes it; None for an input of the graph.
      index: the index among the node's outputs, or among the graph's inputs.
      name: the name of a graph input; empty for outputs of nodes.
    """

    __slots__ = ("__weakref__", "index", "name", "node", "type")

    def __init__(self, type: TensorType, node: Node | None, index: int, name: str = "") -> None:
        self.type = type
        self.node = node
        self.index = index
        self.name = name

    def __deepcopy__(self, memo: dict[int, Any]) -> Value:
        return self  # compared by identity

    def __repr__(self) -> str:
        source = f"input {self.name!r}" if self.node is None else f"output {self.index} of {self.node.name}"
        return f"<Value {self.type} {source}>"


class Node:
    """One application of an op.

    Attributes:
      op: the op that the node applies.
      inputs: the tensors that it takes.
      attrs: the static attributes.
      outputs: the tensors that it computes.
      regions: the bodies of loops and branches, each a graph.
      control_inputs: nodes that must run first.
      device: the device spec that the user pinned it to, as text; empty for none.
      name: a name unique in its graph.
      location: the user's line that made the node.
    """

    __slots__ = (
        "__weakref__",
        "attrs",
        "control_inputs",
        "device",
        "inputs",
        "location",
        "name",
        "op",
        "outputs",
        "regions",
    )

    def __init__(
        self,
        op: OpDef,
        inputs: Sequence[Value],
        attrs: Attrs,
        types: Sequence[TensorType],
        *,
        regions: Sequence[Graph] = (),
        control_inputs: Sequence[Node] = (),
        device: str = "",
        name: str = "",
        location: Location | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "op", op)
        put(self, "inputs", tuple(inputs))
        put(self, "attrs", attrs)
        put(self, "regions", tuple(regions))
        put(self, "control_inputs", tuple(control_inputs))
        put(self, "device", device)
        put(self, "name", name or op.name)
        put(self, "location", location)
        put(self, "outputs", tuple(Value(type, self, i) for i, type in enumerate(types)))

    op: OpDef
    inputs: tuple[Value, ...]
    attrs: Attrs
    regions: tuple[Graph, ...]
    control_inputs: tuple[Node, ...]
    device: str
    name: str
    location: Location | None
    outputs: tuple[Value, ...]

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"a Node is frozen: cannot set {name!r}; build a new node (graphc.compiler.ir.GraphBuilder)"
        )

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"a Node is frozen: cannot delete {name!r}")

    def __deepcopy__(self, memo: dict[int, Any]) -> Node:
        return self

    def __reduce__(self) -> Any:
        raise InvalidTypeError(f"the node {self.name!r} cannot be pickled by itself; pickle its graph")

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The node's effects, including those of its regions."""
        own = self.op.effects(self.attrs)
        if not self.regions:
            return own
        inner = (effect for region in self.regions for node in region.nodes for effect in node.effects)
        return tuple(dict.fromkeys((*own, *inner)))

    def path(self, scope: str, region: int | None = None) -> str:
        """Returns the key of the node in a scope, such as "loop/body/", or of one of its regions."""
        own = f"{scope}{self.name}"
        if region is None:
            return own
        return f"{own}/{self.op.region_label(region) or region}{self.region_number(region)}"

    def region_number(self, region: int) -> str:
        """Returns the number of a region whose label others have too; empty if the label is its own."""
        labels = [self.op.region_label(index) for index in range(len(self.regions))]
        return str(region) if labels.count(labels[region]) > 1 else ""

    def __repr__(self) -> str:
        types = ", ".join(str(output.type) for output in self.outputs)
        where = f" at {self.location.short}" if self.location else ""
        return f"<Node {self.name}: {self.op.name} -> {types}{where}>"


class Graph:
    """A computation as data; immutable: a pass takes a graph and returns a new one.

    Two graphs are equal when they are the same computation written the same way: equal ops, attributes, edges,
    control edges, devices, regions and types, in the same order. Names and source lines do not count.

    Attributes:
      name: the name shown to users.
      inputs: the tensors that the graph takes.
      nodes: the nodes, each after all those that it depends on.
      outputs: the tensors that it returns.
      caches: data that higher layers cache for this graph; not part of the computation.
    """

    __slots__ = ("__weakref__", "_hash", "caches", "inputs", "name", "nodes", "outputs")

    def __init__(
        self, inputs: Sequence[Value], nodes: Sequence[Node], outputs: Sequence[Value], name: str = "graph"
    ) -> None:
        put = object.__setattr__
        put(self, "name", name)
        put(self, "inputs", tuple(inputs))
        put(self, "nodes", tuple(nodes))
        put(self, "outputs", tuple(outputs))
        put(self, "caches", {})
        put(self, "_hash", None)

    name: str
    inputs: tuple[Value, ...]
    nodes: tuple[Node, ...]
    outputs: tuple[Value, ...]
    caches: dict[Any, Any]
    _hash: int | None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(
            f"a Graph is frozen: cannot set {name!r}; build a new graph (graphc.compiler.ir.GraphBuilder)"
        )

    def __copy__(self) -> Graph:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Graph:
        return self

    def __reduce__(self) -> Any:
        from graphc.compiler.ir.parser import parse_graph

        text = str(self)
        try:
            parse_graph(text)
        except ParseError as error:
            raise InvalidTypeError(
                f"the graph {self.name!r} cannot be pickled, since its text does not parse back: {error}"
            ) from error
        return parse_graph, (text,)

    def users(self) -> dict[Value, list[Node]]:
        """Returns the users of each value, computed anew; unused values are absent."""
        index: dict[Value, list[Node]] = {}
        for node in self.nodes:
            for value in dict.fromkeys(node.inputs):
                index.setdefault(value, []).append(node)
        return index

    def walk(self) -> Iterator[Node]:
        """Yields all nodes, with those of regions after the node that holds them."""
        for node in self.nodes:
            yield node
            for region in node.regions:
                yield from region.walk()

    @property
    def effects(self) -> tuple[Effect, ...]:
        """Returns the graph's effects, each once, in order of first appearance."""
        return tuple(dict.fromkeys(effect for node in self.nodes for effect in node.effects))

    def draw(self, path: str | os.PathLike[str], *, limit: int | None = 150) -> Path:
        """Draws the graph into a file: nodes as boxes, with the bodies of loops and branches inside.

        Solid lines are values, dashed ones the order of effects. An HTML page can be zoomed, and shows details of each
        node.

        Args:
          path: the file; its suffix sets the format: ``.svg`` or ``.html``.
          limit: the maximum number of nodes in a picture, including those of bodies; None for all. In a larger graph,
            large bodies and groups of nodes become single boxes, which an HTML page can open.

        Returns:
          The path.

        Raises:
          InvalidArgumentError: the suffix is not supported.

        Example:
          >>> import tempfile
          >>> import graphc as gx
          >>> graph = gx.function(lambda x: gx.sin(x) + 1).graph(gx.ones(3))
          >>> graph.draw(tempfile.mkdtemp() + "/graph.svg").name
          'graph.svg'
        """
        return ABOVE["draw_graph"](self, path, limit=limit)

    def _repr_html_(self) -> str:
        return ABOVE["notebook_graph"](self)

    def _key(self) -> tuple[Any, ...]:
        numbers: dict[Value, int] = {}
        for value in self.inputs:
            numbers[value] = len(numbers)
        positions: dict[Node, int] = {}
        rows: list[tuple[Any, ...]] = []
        for position, node in enumerate(self.nodes):
            positions[node] = position
            rows.append(
                (
                    node.op.name,
                    tuple(numbers[value] for value in node.inputs),
                    node.attrs,
                    tuple(output.type for output in node.outputs),
                    node.regions,
                    tuple(sorted(positions[control] for control in node.control_inputs)),
                    node.device,
                )
            )
            for output in node.outputs:
                numbers[output] = len(numbers)
        return tuple(value.type for value in self.inputs), tuple(rows), tuple(numbers[value] for value in self.outputs)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Graph):
            return NotImplemented
        return self is other or (len(self.nodes) == len(other.nodes) and self._key() == other._key())

    def __hash__(self) -> int:
        if self._hash is None:
            object.__setattr__(self, "_hash", hash(self._key()))
        assert self._hash is not None
        return self._hash

    def __str__(self) -> str:
        from graphc.compiler.ir.printer import print_graph

        return print_graph(self)

    def __repr__(self) -> str:
        types = ", ".join(str(value.type) for value in self.outputs)
        return f"<Graph {self.name}: {len(self.inputs)} inputs, {len(self.nodes)} nodes -> {types}>"


# GraphBuilder: makes graphs by appending nodes.

_NO_ATTRS = Attrs()


class GraphBuilder:
    """Collects inputs and nodes in program order.

    Args:
      name: the graph's name.

    Example:
      >>> import numpy as np
      >>> from graphc.compiler.ir import OPS, GraphBuilder, Literal, Attrs
      >>> builder = GraphBuilder("answer")
      >>> node = builder.append(OPS["constant"], (), Attrs(value=Literal(np.float32(42))))
      >>> print(builder.build(node.outputs))
      graph answer() -> (f32[]) {
        %constant: f32[] = constant() {value = f32[](42.0)}
        return %constant
      }
    """

    def __init__(self, name: str = "graph") -> None:
        self.name = name
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self._names = UniqueNames()

    def input(self, type: TensorType, name: str = "") -> Value:
        """Adds an input of the graph."""
        value = Value(type, None, len(self.inputs), name)
        self.inputs.append(value)
        return value

    def next_name(self, wish: str) -> str:
        """Returns the unique name that the next node gets if it requests this one."""
        return self._names.next(wish)

    def append(
        self,
        op: OpDef,
        inputs: Sequence[Value],
        attrs: Attrs = _NO_ATTRS,
        *,
        types: Sequence[TensorType] | None = None,
        regions: Sequence[Graph] = (),
        control_inputs: Sequence[Node] = (),
        device: str = "",
        name: str = "",
        location: Location | None = None,
    ) -> Node:
        """Appends a node.

        Args:
          op: the op to apply.
          inputs: values of this graph.
          attrs: the static attributes.
          types: the output types; None to infer them with the op's rule.
          regions: the bodies, in the order of the op's regions.
          control_inputs: nodes of this graph that must run first.
          device: a device spec as text; empty for none.
          name: the requested name; made unique.
          location: the user's line that requests the node.
        """
        if types is None:
            types = infer_types(op, [value.type for value in inputs], attrs, regions)
        node = Node(
            op,
            inputs,
            attrs,
            types,
            regions=regions,
            control_inputs=control_inputs,
            device=device,
            name=self._names(name or applied_name(op, attrs)),
            location=location,
        )
        self.nodes.append(node)
        return node

    def build(self, outputs: Sequence[Value]) -> Graph:
        """Returns the graph built so far, with these outputs."""
        return Graph(self.inputs, self.nodes, outputs, self.name)
