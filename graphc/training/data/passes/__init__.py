"""Passes: they turn a plan into a faster one with the same elements."""

from graphc.training.data.options import Options
from graphc.training.data.passes.add_prefetch import add_prefetch
from graphc.training.data.passes.apply_options import apply_options
from graphc.training.data.passes.fuse_maps import fuse_maps
from graphc.training.data.passes.push_down import push_down
from graphc.training.data.plan import Node, improved, register_improvements

__all__ = ["add_prefetch", "apply_options", "fuse_maps", "optimized", "push_down"]

register_improvements(push_down, fuse_maps)


def optimized(plan: Node, options: Options) -> Node:
    """Returns the plan to run."""
    plan = apply_options(plan, options)
    if options.optimize:
        plan = improved(plan)
    return add_prefetch(plan) if options.prefetch else plan
