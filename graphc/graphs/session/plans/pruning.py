"""Pruning: finds the nodes that a run needs, from its fetches back to its feeds."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ir import Node, Value

__all__ = ["needed_nodes"]


def needed_nodes(
    nodes: Sequence[Node], targets: Iterable[Value | Node], fed: Container[Value], carried: Container[Node] = ()
) -> list[Node]:
    """Returns the nodes that a run executes, in the order of the graph.

    Args:
      nodes: the nodes of the graph.
      targets: the values and nodes that are fetched.
      fed: the values that are fed; the search stops at them.
      carried: the assignments that run with the op that computes their value.

    Raises:
      InvalidArgumentError: a placeholder is needed and not fed.
    """
    needed: set[Node] = set()
    waiting: list[Node] = []

    def need(node: Node | None) -> None:
        if node is not None and node not in needed:
            needed.add(node)
            waiting.append(node)

    for target in targets:
        if isinstance(target, Node):
            need(target)
        elif target not in fed:
            need(target.node)
    while waiting:
        node = waiting.pop()
        if node.op.name == "placeholder":
            if node.outputs[0] in fed:
                needed.discard(node)
                continue
            raise unfed(node)
        for value in node.inputs:
            if value not in fed:
                need(value.node)
        for control in node.control_inputs:
            if control.op.name != "placeholder":
                need(control)
    needed.update(node for node in nodes if node in carried and node.inputs[0].node in needed)
    return [node for node in nodes if node in needed]


def unfed(node: Node) -> InvalidArgumentError:
    """Makes the error for a placeholder that a run needs and that is not fed."""
    place = f" (made at {node.location.short})" if node.location is not None else ""
    error = InvalidArgumentError(
        f"You must feed a value for placeholder tensor {node.name!r} of type {node.outputs[0].type}{place}: "
        "session.run(fetches, feed_dict={placeholder: value})"
    )
    return at(error, user_location())
