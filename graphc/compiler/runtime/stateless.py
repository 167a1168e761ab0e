"""Stateless graphs: the values of Variables are inputs, and their new values results."""

from __future__ import annotations

from collections.abc import Sequence

from graphc.compiler.ir import CONSTANT, Graph, Node, Value
from graphc.compiler.ops import ASSIGN_VARIABLE, READ_VARIABLE

__all__ = ["Stateless"]


class Stateless:
    """A graph as a function of its inputs and of the values of its Variables.

    Args:
      graph: the graph.
      variables: the names of the Variables, in input order.
      written: the names of the written Variables, in result order.

    Attributes:
      graph: the graph.
      inputs: the values of the variables, then the graph's inputs.
      nodes: the nodes, without reads and assignments of Variables and without constants.
      results: the graph's outputs, then the new values of the written variables.
      homes: the nodes that assign the new values.
    """

    def __init__(self, graph: Graph, variables: Sequence[str], written: Sequence[str]) -> None:
        self.graph = graph
        touching = {node.attrs["variable"]: node for node in graph.nodes if node.op in (READ_VARIABLE, ASSIGN_VARIABLE)}
        held = {name: _held(touching[name], index) for index, name in enumerate(variables)}
        self.inputs: Sequence[Value] = [*held.values(), *graph.inputs]
        self._state = dict(held)
        self._read: dict[Value, Value] = {}
        self.nodes = [node for node in graph.nodes if self._computes(node)]
        self.results: Sequence[Value] = [*map(self.resolve, graph.outputs), *(self._state[name] for name in written)]
        self.homes: Sequence[Node] = [touching[name] for name in written]

    def _computes(self, node: Node) -> bool:
        if node.op is READ_VARIABLE:
            self._read[node.outputs[0]] = self._state[node.attrs["variable"]]
        elif node.op is ASSIGN_VARIABLE:
            self._state[node.attrs["variable"]] = self.resolve(node.inputs[0])
        return node.op not in (READ_VARIABLE, ASSIGN_VARIABLE, CONSTANT)

    def resolve(self, value: Value) -> Value:
        """Returns the value itself, or the variable's value for a read."""
        return self._read.get(value, value)

    def before(self, node: Node) -> list[Value]:
        """Returns the values that must be computed before a node runs, other than its inputs."""
        return [
            self.resolve(value)
            for control in node.control_inputs
            for value in (control.inputs if control.op is ASSIGN_VARIABLE else control.outputs[:1])
        ]


def _held(node: Node, index: int) -> Value:
    """Returns the value of a Variable before the program, from a node that uses it."""
    type = node.attrs["type"] if node.op is READ_VARIABLE else node.inputs[0].type
    return Value(type, None, index, node.attrs["variable"])
