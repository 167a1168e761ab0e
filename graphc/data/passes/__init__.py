"""Passes: from a plan to one that gives the same elements sooner."""

from graphc.data.passes.fuse_maps import fuse_maps
from graphc.data.passes.push_down import push_down
from graphc.data.plan import Node

__all__ = ["fuse_maps", "optimized", "push_down"]


def optimized(plan: Node) -> Node:
    """Returns the plan that runs."""
    return fuse_maps(push_down(plan))
