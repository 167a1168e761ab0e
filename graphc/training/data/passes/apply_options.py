"""Pass that applies a dataset's options to its transformations."""

from __future__ import annotations

import dataclasses

from graphc.training.data.nodes.maps import Map
from graphc.training.data.options import Options
from graphc.training.data.plan import Node, replaced

__all__ = ["apply_options"]


def apply_options(node: Node, options: Options) -> Node:
    """Returns a plan whose maps use the threads and the order of the options."""
    node = replaced(node, lambda inner: apply_options(inner, options))
    if not isinstance(node, Map) or node.num_parallel_calls is None:
        return node
    most = options.threading.private_threadpool_size or node.num_parallel_calls
    ordered = options.deterministic if node.deterministic is None else node.deterministic
    return dataclasses.replace(node, num_parallel_calls=min(node.num_parallel_calls, most), deterministic=ordered)
