"""GraphBuilder: makes graphs by appending nodes."""

from __future__ import annotations

from collections.abc import Sequence

from graphc.compiler.base import Location, UniqueNames
from graphc.compiler.ir.graph import Graph
from graphc.compiler.ir.late import applied_name
from graphc.compiler.ir.node import Node, Value
from graphc.compiler.ir.opdef import OpDef
from graphc.compiler.ir.open_inference import infer_types
from graphc.compiler.ir.types import Attrs, TensorType

__all__ = ["GraphBuilder"]

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
