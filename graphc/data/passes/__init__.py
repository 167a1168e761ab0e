"""Passes: from a plan to one that gives the same elements sooner."""

from graphc.data.options import Options
from graphc.data.passes.add_prefetch import add_prefetch
from graphc.data.passes.apply_options import apply_options
from graphc.data.passes.fuse_maps import fuse_maps
from graphc.data.passes.push_down import push_down
from graphc.data.plan import Node

__all__ = ["add_prefetch", "apply_options", "fuse_maps", "improved", "optimized", "push_down"]


def improved(plan: Node) -> Node:
    """Returns a plan that gives the same elements sooner, without threads of its own."""
    return fuse_maps(push_down(plan))


def optimized(plan: Node, options: Options) -> Node:
    """Returns the plan that runs."""
    plan = apply_options(plan, options)
    if options.optimize:
        plan = improved(plan)
    return add_prefetch(plan) if options.prefetch else plan
