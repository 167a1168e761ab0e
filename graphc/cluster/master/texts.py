"""Check that a graph can travel as text: an op that holds Python objects of the client's process cannot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from graphc.compiler.base import at
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ir import Graph, Node, has_text
from graphc.compiler.ops import HOST_CALLS

if TYPE_CHECKING:
    from graphc.cluster.master.partition import Part

__all__ = ["check_travels", "parses_back"]


def parses_back(graph: Graph) -> bool:
    """Returns True for a graph whose text parses back."""
    return all(has_text(value) for node in graph.walk() for value in node.attrs.values())


def check_travels(part: Part, tasks: Sequence[str]) -> None:
    """Raises an error if another task would run an op that needs Python objects of this process.

    Raises:
      InvalidArgumentError: an operation needs them.
    """
    for node in part.graph.nodes:
        inner = [one for region in node.regions for one in region.walk()]
        if any(map(_is_bound, (node, *inner))):
            error = InvalidArgumentError(
                f"the operation {node.name!r} ({node.op.name}) uses Python objects of this process, and {part.task} "
                "runs in another one; run it in a Session of its own here and feed what it gives, or pin it to a "
                f"task of this process with gx.device (the cluster has {', '.join(tasks)})"
            )
            raise at(error, node.location)


def _is_bound(node: Node) -> bool:
    attrs = node.attrs
    named = node.op in HOST_CALLS or node.op.name == "py_func" or attrs.get("dataset") or attrs.get("home") == "process"
    return bool(named) or not all(map(has_text, attrs.values()))
