"""Pass that pushes selection and order down to the source: row numbers are shuffled, skipped and repeated, not rows."""

from __future__ import annotations

import dataclasses
from typing import Any

from graphc.training.data.nodes.counting import Repeat, Shard, Skip, Take
from graphc.training.data.nodes.maps import Map
from graphc.training.data.nodes.origins import Gather, Numbers
from graphc.training.data.nodes.shuffling import Shuffle
from graphc.training.data.plan import Node, replaced
from graphc.training.data.sources import INFINITE

__all__ = ["push_down"]

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
