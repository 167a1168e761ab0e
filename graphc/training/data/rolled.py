"""Plans that compute elements from row numbers alone, so that a loop over them becomes part of a program.

Such a plan has two parts: an order (the same plan over row numbers, which the host runs in no time) and a JAX function
from the numbers of an element to its leaves, through arrays on the device.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax as _jax
import jax.numpy as jnp
import numpy as np

from graphc.compiler.base.errors import GraphcError
from graphc.compiler.function import TensorSpec
from graphc.training.data.elements import Row
from graphc.training.data.iterator import next_run
from graphc.training.data.memory import Slices
from graphc.training.data.nodes.batching import Batch
from graphc.training.data.nodes.counting import Repeat, Shard, Skip, Take, Zip
from graphc.training.data.nodes.maps import Map
from graphc.training.data.nodes.origins import Gather, Numbers
from graphc.training.data.nodes.prefetching import Prefetch
from graphc.training.data.nodes.shuffling import Shuffle
from graphc.training.data.plan import Epoch, Node, replaced, walk
from graphc.training.data.sources import INFINITE

__all__ = ["NotRolled", "Rolled"]

jax: Any = _jax  # its functions are only partly annotated

_MOST_NUMBERS = 2**28


class NotRolled(GraphcError):
    """The reason why a plan cannot be part of a compiled program."""


@dataclass
class Rolled:
    """A plan in two parts.

    Attributes:
      order: the plan over row numbers.
      plan: the plan.
      columns: the arrays that rows are taken from.
      shapes: the shapes of the numbers of an element; if the last element differs, those of the others and of the last.
      length: the number of elements of the first shapes.
    """

    plan: Node
    order: Node
    columns: list[Any]
    shapes: list[Sequence[tuple[int, ...]]]
    length: int

    @classmethod
    def of(cls, plan: Node) -> Rolled:
        """Splits a plan into its parts.

        Raises:
          NotRolled: the plan cannot be split; the message says why.
        """
        order = _order(plan)
        if plan.cardinality is None or plan.cardinality == INFINITE:
            raise NotRolled("it does not end")
        columns = [column for node in walk(plan) if isinstance(node, Gather) for column in _columns(node)]
        found = _elements(order, 0)
        shapes = [[np.shape(leaf) for leaf in row] for row in found]
        if not found or any(shape != shapes[0] for shape in shapes[:-1]):
            raise NotRolled("it has no elements" if not found else "its elements differ in shape before the last")
        uneven = len(found) > 1 and shapes[-1] != shapes[0]
        return cls(plan, order, columns, [shapes[0], *([shapes[-1]] if uneven else [])], len(found) - uneven)

    @property
    def is_random(self) -> bool:
        """True if each pass has a different order."""
        return any(getattr(node, "reshuffle_each_iteration", False) for node in walk(self.order))

    def numbers(self) -> list[Any]:
        """Returns the row numbers of the elements of the next pass, and those of the last element if it differs."""
        return self._numbers(next_run(self.order))

    def types(self) -> list[TensorSpec]:
        """Returns the types of :meth:`numbers`."""
        return [TensorSpec(array.shape, array.dtype) for array in self._numbers(0)]

    def _numbers(self, run: int) -> list[Any]:
        found = _elements(self.order, run)
        packed = [np.concatenate([np.ravel(leaf) for leaf in row]).astype(np.int32) for row in found]
        return [np.stack(packed[: self.length]), *packed[self.length :]]

    def leaves(self, columns: Sequence[Any], numbers: Any, last: bool = False) -> Row:
        """Computes an element from its numbers with JAX."""
        parts: list[Any] = []
        start = 0
        for shape in self.shapes[-1 if last else 0]:
            size = int(np.prod(shape))
            parts.append(numbers[start : start + size].reshape(shape))
            start += size
        return _leaves(self.plan, iter(columns), iter(parts), 0)


def _elements(order: Node, run: int) -> list[Row]:
    rows = order.open(Epoch(run))
    found = list(rows)
    if sum(np.size(leaf) for row in found for leaf in row) > _MOST_NUMBERS:
        raise NotRolled(f"it has more than {_MOST_NUMBERS} rows")
    return found


def _columns(node: Gather) -> list[Any]:
    source = node.source
    if not isinstance(source, Slices):
        raise NotRolled(f"{source} is not in memory")
    if any(column.dtype.kind == "O" for column in source.columns):
        raise NotRolled("it has strings, which no compiled program holds")
    return source.on_device()


def _order(node: Node) -> Node:
    """Returns the plan over row numbers."""
    if isinstance(node, Gather):
        _columns(node)
        return _order(node.numbers)
    if isinstance(node, Map):
        if node.function.mode not in ("blocks", "rows"):
            raise NotRolled(f"{node.function.name} is called for each element: {node.function.reason}")
        if node.function.is_method:
            raise NotRolled(f"{node.function.name} is a compiled method, whose object can change")
        return _order(node.source)
    if isinstance(node, Prefetch):
        return _order(node.source)
    if isinstance(node, Numbers | Take | Skip | Repeat | Shard | Shuffle | Batch | Zip):
        return replaced(node, _order)
    raise NotRolled(f"{node} chooses or makes elements by their values, or keeps some of them")


def _leaves(node: Any, columns: Iterator[Any], numbers: Iterator[Any], batches: int) -> Row:
    """Returns the leaves of an element of a node, which may be inside several batches."""
    if isinstance(node, Gather):
        found = next(numbers)
        return tuple([jnp.take(next(columns), found, axis=0, mode="clip") for _ in _columns(node)])
    if isinstance(node, Numbers):
        return (next(numbers).astype(node.dtype),)
    if isinstance(node, Zip):
        return tuple([leaf for part in node.parts for leaf in _leaves(part, columns, numbers, batches)])
    inner = _leaves(node.source, columns, numbers, batches + isinstance(node, Batch))
    if not isinstance(node, Map):
        return inner
    compute: Callable[..., Row] = node.function.for_types(inner) if not batches else node.function.compute
    for _ in range(batches):
        compute = jax.vmap(compute)
    return compute(*inner)
