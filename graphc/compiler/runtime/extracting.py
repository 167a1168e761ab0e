"""Extraction of parts of a graph as separate graphs."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence

from graphc.compiler.ir import CONSTANT, Graph, GraphBuilder, Node, Value

__all__ = ["extract"]


def extract(
    nodes: Sequence[Node], wanted: Container[Value], resolve: Callable[[Value], Value]
) -> tuple[Graph, list[Value], list[Value]]:
    """Returns some nodes of a graph as a separate graph, including the constants that they use.

    Args:
      nodes: the nodes, in the order of their graph.
      wanted: the values needed outside; those that the nodes compute become outputs.
      resolve: returns the value to use in place of another, such as a variable's value for the result of reading it.

    Returns:
      The graph, its operands, and the values of its outputs.
    """
    first, last = nodes[0].name, nodes[-1].name
    builder = GraphBuilder(first if first == last else f"{first}__{last}")
    inside: dict[Value, Value] = {}
    copies: dict[Node, Node] = {}
    taken: list[Value] = []

    def copy(node: Node, inputs: Sequence[Value], controls: Sequence[Node]) -> None:
        new = copies[node] = builder.append(
            node.op, inputs, node.attrs, types=[output.type for output in node.outputs], regions=node.regions,
            control_inputs=controls, device=node.device, name=node.name, location=node.location,
        )  # fmt: skip
        inside.update(zip(node.outputs, new.outputs, strict=True))

    def use(value: Value) -> Value:
        if value not in inside:
            if value.node is not None and value.node.op is CONSTANT:
                copy(value.node, (), ())
            else:
                inside[value] = builder.input(value.type, value.name or (value.node.name if value.node else ""))
                taken.append(value)
        return inside[value]

    for node in nodes:
        inputs = [use(resolve(value)) for value in node.inputs]
        copy(node, inputs, [copies[control] for control in node.control_inputs if control in copies])
    given = [value for node in nodes for value in node.outputs if value in wanted]
    return builder.build([inside[value] for value in given]), taken, given
