"""Scopes of control dependencies: nodes traced inside a scope run after the nodes that it lists."""

from __future__ import annotations

from collections.abc import Sequence

from graphc.compiler.ir import Node, Value

__all__ = ["Controls"]


class Controls:
    """A scope of control dependencies that is open in a trace.

    A node whose inputs were computed inside the scope already runs after the listed nodes and gets no control edge, as
    in TensorFlow; only the first nodes of the scope's work do.

    Args:
      nodes: the nodes of the trace that the scope lists.
      around: the enclosing scope in the same trace; None if there is none.
    """

    def __init__(self, nodes: Sequence[Node], around: Controls | None) -> None:
        self._nodes = tuple(nodes)
        self._around = around
        self._inside: set[Node] = set()

    def before(self, values: Sequence[Value]) -> tuple[Node, ...]:
        """Returns the control inputs of a node with these inputs."""
        sources = {value.node for value in values}
        found: dict[Node, None] = {}
        scope: Controls | None = self
        while scope is not None:
            if scope._inside.isdisjoint(sources):
                found.update(dict.fromkeys(node for node in scope._nodes if node not in sources))
            scope = scope._around
        return tuple(found)

    def note(self, node: Node) -> None:
        """Registers a node that was made inside the scope."""
        scope: Controls | None = self
        while scope is not None:
            scope._inside.add(node)
            scope = scope._around
