"""Scopes of control dependencies: what is traced inside comes after what they list."""

from __future__ import annotations

from collections.abc import Sequence

from graphc.ir import Node, Value

__all__ = ["Controls"]


class Controls:
    """One scope that is open in a trace.

    A node whose inputs were computed inside the scope is after what it lists by that, and gets no edge of its own, as
    in TensorFlow: only where the work of a scope begins does it wait.

    Args:
      nodes: what the scope lists; nodes of the trace.
      around: the scope around it in the same trace; None for none.
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
        """Notes a node that was made inside."""
        scope: Controls | None = self
        while scope is not None:
            scope._inside.add(node)
            scope = scope._around
