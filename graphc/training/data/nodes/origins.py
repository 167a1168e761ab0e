"""The nodes that a pipeline starts from: numbers, rows gathered by number, and sources."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from graphc.compiler.core import as_dtype
from graphc.compiler.function import TensorSpec
from graphc.training.data.buffered import BufferedRows
from graphc.training.data.elements import Block, Row, flatten, host_leaf
from graphc.training.data.plan import Epoch, Node, Rows
from graphc.training.data.sources import INFINITE, Cardinality, FileSource, RowSource, Source, SourceIterator, State

__all__ = ["Gather", "Numbers", "RandomNumbers", "Read"]


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
class Numbers(Node):
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

    def open(self, epoch: Epoch) -> Rows:
        return _Numbers(self)

    def __str__(self) -> str:
        stop = self.start + self.length * self.step
        return f"range({self.start}, {stop}, {self.step})" if self.step != 1 else f"range({self.start}, {stop})"


class _Gathered(BufferedRows):
    def __init__(self, node: Gather, rows: Rows) -> None:
        super().__init__(rows, ahead=node.ahead)
        self._source = node.source
        self._take_columns: Callable[[Any], Block] | None = getattr(node.source, "take_columns", None)

    def read(self, count: int) -> Block | None:
        found = self.input.block(count)
        if found is None:
            return None
        if self._take_columns is not None:
            return self._take_columns(found[0])
        return tuple(flatten(self._source.take_rows(found[0]))[0])

    def block(self, count: int) -> Block | None:
        # Of arrays in memory several small batches are read at once, in the time of one.
        if self._take_columns is not None and self._place == self._size and 2 * count <= self.ahead:
            self._read_more(self.ahead // count * count)
        return super().block(count)


@dataclass(frozen=True, eq=False)
class Gather(Node):
    """Rows of a source, selected by the row numbers that the input returns."""

    word = "rows"
    source: RowSource
    numbers: Node

    @cached_property
    def spec(self) -> Any:
        return self.source.spec

    @cached_property
    def columnar(self) -> bool:
        return True

    def open(self, epoch: Epoch) -> Rows:
        return _Gathered(self, self.numbers.open(epoch))

    def __str__(self) -> str:
        return f"{self.source}"


class _Read(Rows):
    def __init__(self, iterator: SourceIterator) -> None:
        super().__init__()
        self._iterator = iterator

    def __next__(self) -> Row:
        return tuple([host_leaf(leaf) for leaf in flatten(next(self._iterator))[0]])

    def block(self, count: int) -> Block | None:
        found = self._iterator.read_many(count)
        return None if found is None else tuple([_canonical(leaf) for leaf in flatten(found)[0]])

    def state(self) -> State:
        return self._iterator.state()

    def restore(self, state: State) -> None:
        self._iterator.restore(state)

    def close(self) -> None:
        self._iterator.close()


def _canonical(column: Any) -> Any:
    return column if column.dtype == object else host_leaf(column)


@dataclass(frozen=True, eq=False)
class Read(Node):
    """The elements of a source, in its order."""

    word = "source"
    slow = True
    source: Source

    @cached_property
    def spec(self) -> Any:
        return self.source.spec

    @cached_property
    def cardinality(self) -> Cardinality:
        return self.source.cardinality

    @cached_property
    def columnar(self) -> bool:
        return isinstance(self.source, FileSource)

    def open(self, epoch: Epoch) -> Rows:
        return _Read(self.source.open())

    def __str__(self) -> str:
        return f"{self.source}"


class _RandomNumbers(Rows):
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
class RandomNumbers(Node):
    """Endless random 32-bit integers."""

    word = "random"
    seed: int
    rerandomize: bool = False
    dtype: Any = field(default_factory=lambda: as_dtype(np.uint32), repr=False)

    @cached_property
    def spec(self) -> Any:
        return TensorSpec((), self.dtype)

    @cached_property
    def cardinality(self) -> Cardinality:
        return INFINITE

    def open(self, epoch: Epoch) -> Rows:
        random = epoch.random(self.seed) if self.rerandomize else Epoch().random(self.seed)
        return _RandomNumbers(random, self.dtype)
