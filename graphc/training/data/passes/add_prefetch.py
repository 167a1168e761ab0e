"""Pass that reads slow host work ahead."""

from __future__ import annotations

from graphc.training.data.nodes.batching import Batch, PaddedBatch, Rebatch
from graphc.training.data.nodes.prefetching import Prefetch
from graphc.training.data.plan import Node, walk

__all__ = ["add_prefetch"]

_AHEAD = 2


def add_prefetch(plan: Node) -> Node:
    """Returns a plan that prefetches batches if their elements come from files or from Python.

    Single elements are not worth a thread: handing one over takes longer than producing it usually does.
    """
    nodes = list(walk(plan))
    reads_ahead = any(isinstance(node, Prefetch) for node in nodes)
    makes_batches = any(isinstance(node, Batch | PaddedBatch | Rebatch) for node in nodes)
    is_slow = any(node.slow for node in nodes)
    return Prefetch(plan, _AHEAD) if is_slow and makes_batches and not reads_ahead else plan
