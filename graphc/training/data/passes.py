"""Passes: they turn a plan into a faster one with the same elements; and the options that control them."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from graphc.training.data.nodes.batching import Batch, PaddedBatch, Rebatch
from graphc.training.data.nodes.buffers import Shuffle
from graphc.training.data.nodes.counting import Repeat, Shard, Skip, Take
from graphc.training.data.nodes.maps import Map
from graphc.training.data.nodes.origins import Gather, Numbers
from graphc.training.data.nodes.threads import Prefetch
from graphc.training.data.plan import Node, improved, register_improvements, replaced, walk
from graphc.training.data.sources import INFINITE

__all__ = ["Options", "ThreadingOptions", "add_prefetch", "apply_options", "fuse_maps", "optimized", "push_down"]


@dataclass
class ThreadingOptions:
    """The threads of a pipeline.

    Attributes:
      private_threadpool_size: the maximum number of threads of one transformation; None for what it asks for.
    """

    private_threadpool_size: int | None = None


@dataclass
class Options:
    """The options of a pipeline (TensorFlow's ``tf.data.Options``).

    Attributes:
      deterministic: False lets parallel maps return elements as they finish, unless a map sets its own.
      optimize: whether passes optimize the plan, which does not change the elements.
      prefetch: whether a thread reads two elements ahead where the pipeline reads files or runs Python.
      threading: the threads.

    Example:
      >>> import graphc as gx
      >>> options = gx.data.Options()
      >>> options.prefetch = False
      >>> gx.data.Dataset.range(3).with_options(options).options().prefetch
      False
    """

    deterministic: bool | None = None
    optimize: bool = True
    prefetch: bool = True
    threading: ThreadingOptions = field(default_factory=ThreadingOptions)


def apply_options(node: Node, options: Options) -> Node:
    """Returns a plan whose maps use the threads and the order of the options."""
    node = replaced(node, lambda inner: apply_options(inner, options))
    if not isinstance(node, Map) or node.num_parallel_calls is None:
        return node
    most = options.threading.private_threadpool_size or node.num_parallel_calls
    ordered = options.deterministic if node.deterministic is None else node.deterministic
    return dataclasses.replace(node, num_parallel_calls=min(node.num_parallel_calls, most), deterministic=ordered)


_ORDERING = (Take, Skip, Shard, Repeat, Shuffle)


def push_down(node: Node) -> Node:
    """Returns a plan that maps after selecting elements where maps are pure, and whose sources read only these."""
    node = replaced(node, push_down)
    return _below(node) if isinstance(node, _ORDERING) else node


def _below(node: Any) -> Node:
    inner = node.source
    if isinstance(inner, Map) and inner.function.mode == "blocks":
        return dataclasses.replace(inner, source=_below(dataclasses.replace(node, source=inner.source)))
    if isinstance(inner, Gather):
        return dataclasses.replace(inner, numbers=_below(dataclasses.replace(node, source=inner.numbers)))
    return _fewer(node, inner) if isinstance(inner, Numbers) and inner.length != INFINITE else node


def _fewer(node: Any, numbers: Numbers) -> Node:
    """Selects some of a range of numbers, as a smaller range."""
    start, length, step = numbers.start, int(numbers.length), numbers.step
    if isinstance(node, Take):
        return dataclasses.replace(numbers, length=int(min(length, node.count)))
    if isinstance(node, Skip):
        skipped = int(min(length, node.count))
        return dataclasses.replace(numbers, start=start + skipped * step, length=length - skipped)
    if isinstance(node, Shard):
        left = max(0, -(-(length - node.index) // node.num_shards))
        return dataclasses.replace(numbers, start=start + node.index * step, length=left, step=step * node.num_shards)
    return node


def fuse_maps(node: Node) -> Node:
    """Returns a plan in which consecutive functions that only compute are one function."""
    node = replaced(node, fuse_maps)
    if not isinstance(node, Map) or not isinstance(node.source, Map):
        return node
    first, second = node.source.function, node.function
    if first.mode != "blocks" or second.mode != "blocks" or second.takes_strings:
        return node
    return Map(node.source.source, second.after(first))


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


register_improvements(push_down, fuse_maps)


def optimized(plan: Node, options: Options) -> Node:
    """Returns the plan to run."""
    plan = apply_options(plan, options)
    if options.optimize:
        plan = improved(plan)
    return add_prefetch(plan) if options.prefetch else plan
