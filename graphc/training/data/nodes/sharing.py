"""Batches that several processes share: each process has some rows of every batch."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax

from graphc.compiler.function import TensorSpec
from graphc.training.data.buffered import full_block
from graphc.training.data.elements import Block, Row, flatten, rows_of, size_of, unflatten
from graphc.training.data.nodes.batching import Batch
from graphc.training.data.nodes.maps import Map
from graphc.training.data.nodes.origins import Gather
from graphc.training.data.plan import Epoch, Node, Rows
from graphc.training.data.sharding import part_of

__all__ = ["ShareBatches", "shared"]


def shared(plan: Node) -> tuple[Node, bool]:
    """Returns a plan of batches reduced to this process's part, and True if it could be reduced.

    This requires a job of several processes, whose number divides all batches.
    """
    count = jax.process_count()
    shapes = [leaf.shape for leaf in flatten(plan.spec)[0]]
    even = all(shape and shape[0] is not None and shape[0] % count == 0 for shape in shapes)
    return (ShareBatches(plan, count, jax.process_index()), True) if count > 1 and even else (plan, False)


class _Parts(Rows):
    """The rows of one process, from each element of a node of batches."""

    def __init__(self, node: ShareBatches, rows: Rows) -> None:
        super().__init__(rows)
        self._node = node

    def __next__(self) -> Row:
        batch = next(self.input)
        return rows_of(batch, *part_of(size_of(batch), self._node.processes, self._node.process))


class _PartsOfNumbers(Rows):
    """The rows of one process of each batch: only their numbers are read, and only their maps are computed."""

    def __init__(self, node: ShareBatches, batch: Batch, rows: Rows, gather: Gather, maps: list[Map]) -> None:
        super().__init__(rows)
        self._node, self._batch, self._gather, self._maps = node, batch, gather, maps

    def __next__(self) -> Row:
        numbers = full_block(self.input, self._batch.batch_size)
        if numbers is None or (self._batch.drop_remainder and size_of(numbers) < self._batch.batch_size):
            raise StopIteration
        start, stop = part_of(size_of(numbers), self._node.processes, self._node.process)
        found: Block = tuple(flatten(self._gather.source.take_rows(numbers[0][start:stop]))[0])
        for map in self._maps:
            found = map.function.block(found)
        return found


@dataclass(frozen=True, eq=False)
class ShareBatches(Node):
    """The rows of one process, from each batch."""

    word = "shard_batches"
    source: Node
    processes: int
    process: int

    @cached_property
    def spec(self) -> Any:
        leaves, structure = flatten(self.input.spec)
        return unflatten(structure, [TensorSpec(self._shape(leaf), leaf.dtype) for leaf in leaves])

    def _shape(self, leaf: TensorSpec) -> Any:
        if leaf.shape is None:
            return None
        rows = leaf.shape[0]
        even = rows is not None and rows % self.processes == 0
        return (rows // self.processes if rows is not None and even else None, *leaf.shape[1:])

    def open(self, epoch: Epoch) -> Rows:
        batch = self.source
        inner, maps = batch.inputs[0] if isinstance(batch, Batch) else batch, list[Map]()
        while isinstance(inner, Map) and inner.columnar:
            maps.insert(0, inner)
            inner = inner.source
        if isinstance(batch, Batch) and isinstance(inner, Gather):
            return _PartsOfNumbers(self, batch, inner.numbers.open(epoch), inner, maps)
        return _Parts(self, batch.open(epoch))
