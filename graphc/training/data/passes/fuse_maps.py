"""Pass that fuses consecutive maps into one program."""

from __future__ import annotations

from graphc.training.data.nodes.maps import Map
from graphc.training.data.plan import Node, replaced

__all__ = ["fuse_maps"]


def fuse_maps(node: Node) -> Node:
    """Returns a plan in which consecutive functions that only compute are one function."""
    node = replaced(node, fuse_maps)
    if not isinstance(node, Map) or not isinstance(node.source, Map):
        return node
    first, second = node.source.function, node.function
    if first.mode != "blocks" or second.mode != "blocks" or second.takes_strings:
        return node
    return Map(node.source.source, second.after(first))
