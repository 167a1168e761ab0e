"""Copies of nodes for a task, pinned to devices of that task."""

from __future__ import annotations

from collections.abc import Sequence

from graphc.compiler.ir import DeviceSpec, Graph, GraphBuilder, Node, Value

__all__ = ["copied"]


def copied(builder: GraphBuilder, node: Node, inputs: Sequence[Value], controls: Sequence[Node]) -> Node:
    """Appends a copy of a node to a graph that a task runs.

    Args:
      builder: that graph's builder.
      node: the node.
      inputs: the inputs of the copy.
      controls: the control inputs of the copy.
    """
    return builder.append(
        node.op, inputs, node.attrs, types=[output.type for output in node.outputs],
        regions=list(map(_region, node.regions)), control_inputs=controls, device=_device(node.device), name=node.name,
        location=node.location,
    )  # fmt: skip


def _device(pin: str) -> str:
    """Returns a pin without its task."""
    if not pin:
        return pin
    spec = DeviceSpec.parse(pin)
    return str(DeviceSpec(device_type=spec.device_type, device_index=spec.device_index))


def _region(graph: Graph) -> Graph:
    if all(node.device == _device(node.device) for node in graph.walk()):
        return graph
    builder = GraphBuilder(graph.name)
    values = {value: builder.input(value.type, value.name) for value in graph.inputs}
    copies: dict[Node, Node] = {}
    for node in graph.nodes:
        controls = [copies[control] for control in node.control_inputs]
        new = copies[node] = copied(builder, node, [values[value] for value in node.inputs], controls)
        values.update(zip(node.outputs, new.outputs, strict=True))
    return builder.build([values[value] for value in graph.outputs])
