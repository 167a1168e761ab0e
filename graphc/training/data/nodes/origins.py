"""The nodes that a pipeline starts from: numbers, rows gathered by number, sources, and their division."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import jax
import numpy as np

from graphc.compiler.core import as_dtype
from graphc.compiler.function import TensorSpec
from graphc.training.data.elements import Block, Row, flatten, host_leaf, rows_of, size_of, unflatten
from graphc.training.data.late import LateSeed
from graphc.training.data.nodes.batching import Batch
from graphc.training.data.nodes.maps import Map
from graphc.training.data.plan import BufferedRows, Epoch, NodeReader, PlanNode, full_block
from graphc.training.data.sources import (
    INFINITE,
    Cardinality,
    ChunkSource,
    FileSource,
    RowSource,
    SourceIterator,
    State,
)

_arange: Any = np.arange


class _Numbers(BufferedRows):
    counters = ("at",)

    def __init__(self, node: Numbers) -> None:
        super().__init__(ahead=1024)
        self._node, self.at = node, 0

    def read(self, count: int) -> Block | None:
        node = self._node
        stop: Any = min(self.at + count, node.length)
        if self.at >= stop:
            return None
        first, self.at = node.start + self.at * node.step, stop
        return (_arange(first, node.start + stop * node.step, node.step, node.dtype),)


@dataclass(frozen=True, eq=False)
class Numbers(PlanNode):
    """A range of numbers."""

    word = "range"
    start: int
    length: float
    step: int = 1
    dtype: Any = "int64"

    @cached_property
    def spec(self) -> Any:
        return TensorSpec((), self.dtype)

    @cached_property
    def cardinality(self) -> Cardinality:
        return self.length

    @cached_property
    def columnar(self) -> bool:
        return True

    def open(self, epoch: Epoch) -> NodeReader:
        return _Numbers(self)

    def __str__(self) -> str:
        stop = self.start + self.length * self.step
        return f"range({self.start}, {stop}, {self.step})" if self.step != 1 else f"range({self.start}, {stop})"


class _Gathered(BufferedRows):
    def __init__(self, node: Gather, rows: NodeReader) -> None:
        super().__init__(rows, ahead=node.ahead)
        self._source = node.source
        self._take_columns: Callable[[Any], Block] | None = getattr(node.source, "take_columns", None)

    def read(self, count: int) -> Block | None:
        numbers = self.input.block(count)
        if numbers is None:
            return None
        if self._take_columns is not None:
            return self._take_columns(numbers[0])
        return tuple(flatten(self._source.take_rows(numbers[0]))[0])

    def block(self, count: int) -> Block | None:
        # Of arrays in memory several small batches are read at once, in the time of one.
        if self._take_columns is not None and self._place == self._size and 2 * count <= self.ahead:
            self._read_more(self.ahead // count * count)
        return super().block(count)


@dataclass(frozen=True, eq=False)
class Gather(PlanNode):
    """Rows of a source, selected by the row numbers that the input returns."""

    word = "rows"
    source: RowSource
    numbers: PlanNode

    @cached_property
    def spec(self) -> Any:
        return self.source.spec

    @cached_property
    def columnar(self) -> bool:
        return True

    def open(self, epoch: Epoch) -> NodeReader:
        return _Gathered(self, self.numbers.open(epoch))

    def __str__(self) -> str:
        return f"{self.source}"


class _Read(NodeReader):
    def __init__(self, iterator: SourceIterator) -> None:
        super().__init__()
        self._iterator = iterator

    def __next__(self) -> Row:
        return tuple([host_leaf(leaf) for leaf in flatten(next(self._iterator))[0]])

    def block(self, count: int) -> Block | None:
        batch = self._iterator.read_many(count)
        return None if batch is None else tuple([_canonical(leaf) for leaf in flatten(batch)[0]])

    def state(self) -> State:
        return self._iterator.state()

    def restore(self, state: State) -> None:
        self._iterator.restore(state)

    def close(self) -> None:
        self._iterator.close()


def _canonical(column: Any) -> Any:
    return column if column.dtype == object else host_leaf(column)


@dataclass(frozen=True, eq=False)
class Read(PlanNode):
    """The elements of a source, in its order."""

    word = "source"
    slow = True
    source: ChunkSource

    @cached_property
    def spec(self) -> Any:
        return self.source.spec

    @cached_property
    def cardinality(self) -> Cardinality:
        return self.source.cardinality

    @cached_property
    def columnar(self) -> bool:
        return isinstance(self.source, FileSource)

    def open(self, epoch: Epoch) -> NodeReader:
        return _Read(self.source.open())

    def __str__(self) -> str:
        return f"{self.source}"


class _RandomNumbers(NodeReader):
    counters = ("given",)

    def __init__(self, random: np.random.Generator, dtype: Any) -> None:
        super().__init__()
        self._random, self._dtype, self._start, self.given = random, dtype, random.bit_generator.state, 0

    def __next__(self) -> Row:
        self.given += 1
        return (self._draw(1)[0],)

    def block(self, count: int) -> Block | None:
        self.given += count
        return (self._draw(count),)

    def _draw(self, count: int) -> Any:
        return (self._random.random(count) * 2.0**32).astype(np.uint64).astype(self._dtype)

    def state(self) -> State:
        return {"random": self._random.bit_generator.state, **super().state()}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._random.bit_generator.state = state["random"]


@dataclass(frozen=True, eq=False)
class RandomNumbers(PlanNode):
    """Endless random 32-bit integers."""

    word = "random"
    seed: int | LateSeed
    rerandomize: bool = False
    dtype: Any = field(default_factory=lambda: as_dtype(np.uint32), repr=False)

    @cached_property
    def spec(self) -> Any:
        return TensorSpec((), self.dtype)

    @cached_property
    def cardinality(self) -> Cardinality:
        return INFINITE

    def open(self, epoch: Epoch) -> NodeReader:
        random = epoch.random(self.seed) if self.rerandomize else Epoch().random(self.seed)
        return _RandomNumbers(random, self.dtype)


# Batches that several processes share: each process has some rows of every batch.


def shared(plan: PlanNode) -> tuple[PlanNode, bool]:
    """Returns a plan of batches reduced to this process's part, and True if it could be reduced."""
    # This requires a job of several processes, whose number divides all batches.
    count = jax.process_count()
    shapes = [leaf.shape for leaf in flatten(plan.spec)[0]]
    even = all(shape and shape[0] is not None and shape[0] % count == 0 for shape in shapes)
    return (ShareBatches(plan, count, jax.process_index()), True) if count > 1 and even else (plan, False)


class _Parts(NodeReader):
    """The rows of one process, from each element of a node of batches."""

    def __init__(self, node: ShareBatches, rows: NodeReader) -> None:
        super().__init__(rows)
        self._node = node

    def __next__(self) -> Row:
        batch = next(self.input)
        return rows_of(batch, *part_of(size_of(batch), self._node.processes, self._node.process))


class _PartsOfNumbers(NodeReader):
    """The rows of one process of each batch: only their numbers are read, and only their maps are computed."""

    def __init__(self, node: ShareBatches, batch: Batch, rows: NodeReader, gather: Gather, maps: list[Map]) -> None:
        super().__init__(rows)
        self._node, self._batch, self._gather, self._maps = node, batch, gather, maps

    def __next__(self) -> Row:
        numbers = full_block(self.input, self._batch.batch_size)
        if numbers is None or (self._batch.drop_remainder and size_of(numbers) < self._batch.batch_size):
            raise StopIteration
        start, stop = part_of(size_of(numbers), self._node.processes, self._node.process)
        part: Block = tuple(flatten(self._gather.source.take_rows(numbers[0][start:stop]))[0])
        for map in self._maps:
            part = map.function.block(part)
        return part


@dataclass(frozen=True, eq=False)
class ShareBatches(PlanNode):
    """The rows of one process, from each batch."""

    word = "shard_batches"
    source: PlanNode
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

    def open(self, epoch: Epoch) -> NodeReader:
        batch = self.source
        inner, maps = batch.inputs[0] if isinstance(batch, Batch) else batch, list[Map]()
        while isinstance(inner, Map) and inner.columnar:
            maps.insert(0, inner)
            inner = inner.source
        if isinstance(batch, Batch) and isinstance(inner, Gather):
            return _PartsOfNumbers(self, batch, inner.numbers.open(epoch), inner, maps)
        return _Parts(self, batch.open(epoch))


def part_of(count: int, parts: int, index: int) -> tuple[int, int]:
    """Returns where one of several contiguous, even parts of some rows starts and ends: (0, 3), (3, 6), (6, 8) of 8."""
    # Rows are numbered over the whole dataset, and the processes divide each batch. So all processes take the same
    # number of steps, the batches equal those of a single process, and a position means the same for any number of
    # processes.
    size, more = divmod(count, parts)
    start = index * size + min(index, more)
    return start, start + size + (index < more)
