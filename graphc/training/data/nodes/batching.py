"""Nodes of batches: batch, padded_batch, unbatch, rebatch."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import StringTensor, Tensor, Variable, as_dtype
from graphc.compiler.function import TensorSpec
from graphc.training.data.elements import Block, Row, flatten, host_leaf, joined, row_of, rows_of, size_of, unflatten
from graphc.training.data.plan import Epoch, NodeReader, PlanNode, full_block
from graphc.training.data.sources import INFINITE, Cardinality, State


def batches(count: Cardinality, size: int, drop_remainder: bool) -> Cardinality:
    """Returns the number of batches for a number of elements."""
    if count is None or count == INFINITE:
        return count
    return int(count) // size if drop_remainder else math.ceil(count / size)


class _Batched(NodeReader):
    def __init__(self, node: Batch, rows: NodeReader) -> None:
        super().__init__(rows)
        self._node = node

    def __next__(self) -> Row:
        batch = full_block(self.input, self._node.batch_size)
        if batch is None or (self._node.drop_remainder and size_of(batch) < self._node.batch_size):
            raise StopIteration
        return batch


@dataclass(frozen=True, eq=False)
class Batch(PlanNode):
    """A number of consecutive elements, stacked."""

    word = "batch"
    source: PlanNode
    batch_size: int
    drop_remainder: bool

    @cached_property
    def spec(self) -> Any:
        return batched_spec(self.input.spec, self.batch_size, self.input.cardinality, self.drop_remainder)

    @cached_property
    def cardinality(self) -> Cardinality:
        return batches(self.input.cardinality, self.batch_size, self.drop_remainder)

    def open(self, epoch: Epoch) -> NodeReader:
        from graphc.training.data.nodes.maps import batched_maps

        return batched_maps(self, epoch) or _Batched(self, self.source.open(epoch))


def batched_spec(spec: Any, size: int, count: Cardinality, drop_remainder: bool) -> Any:
    """Returns the spec of batches; their size is known if no batch is smaller."""
    whole = drop_remainder or count == INFINITE
    leaves, structure = flatten(spec)
    return unflatten(
        structure,
        [
            TensorSpec(None if leaf.shape is None else (size if whole else None, *leaf.shape), leaf.dtype)
            for leaf in leaves
        ],
    )


class _PaddedBatches(NodeReader):
    def __init__(self, node: PaddedBatch, rows: NodeReader) -> None:
        super().__init__(rows)
        self._node = node

    def __next__(self) -> Row:
        rows: list[Row] = []
        for row in self.input:
            rows.append(row)
            if len(rows) == self._node.batch_size:
                break
        if not rows or (self._node.drop_remainder and len(rows) < self._node.batch_size):
            raise StopIteration
        return padded(rows, self._node.shapes, self._node.values)


@dataclass(frozen=True, eq=False)
class PaddedBatch(PlanNode):
    """A number of consecutive elements, padded to one shape."""

    word = "padded_batch"
    source: PlanNode
    batch_size: int
    drop_remainder: bool
    shapes: tuple[Any, ...]  # of each leaf, with None for the size of the largest; None for all sizes of it
    values: tuple[Any, ...]

    @cached_property
    def spec(self) -> Any:
        leaves, structure = flatten(self.input.spec)
        shaped = [
            TensorSpec(leaf.shape and (None,) * len(leaf.shape) if shape is None else shape, leaf.dtype)
            for leaf, shape in zip(leaves, self.shapes, strict=True)
        ]
        return batched_spec(unflatten(structure, shaped), self.batch_size, self.input.cardinality, self.drop_remainder)

    @cached_property
    def cardinality(self) -> Cardinality:
        return batches(self.input.cardinality, self.batch_size, self.drop_remainder)

    def open(self, epoch: Epoch) -> NodeReader:
        return _PaddedBatches(self, self.input.open(epoch))


def padded(rows: Sequence[Row], shapes: Sequence[Any], values: Sequence[Any]) -> Row:
    """Stacks rows into a batch, with each leaf padded to the largest or to a given shape."""
    columns: list[Any] = []
    for index, (leaves, shape, value) in enumerate(zip(zip(*rows, strict=True), shapes, values, strict=True)):
        dimensions = [np.shape(leaf) for leaf in leaves]
        rank = len(dimensions[0] if shape is None else shape)
        for number, sizes in enumerate(dimensions):
            fits = len(sizes) == rank and all(
                wanted is None or size <= wanted for size, wanted in zip(sizes, shape or (None,) * rank, strict=True)
            )
            if not fits:
                raise InvalidArgumentError(
                    f"padded_batch: leaf {index} of element {number} of the batch has the shape {sizes}, which cannot "
                    f"be padded to {dimensions[0] if shape is None else tuple(shape)}"
                ).here()
        largest = [max(axis) for axis in zip(*dimensions, strict=True)]
        whole = [
            most if wanted is None else wanted for most, wanted in zip(largest, shape or [None] * rank, strict=True)
        ]
        first = leaves[0]
        dtype = object if isinstance(first, bytes) else first.dtype
        column = np.full((len(rows), *whole), value, dtype)
        for number, leaf in enumerate(leaves):
            column[(number, *map(slice, dimensions[number]))] = leaf
        columns.append(column)
    return tuple(columns)


def filling(spec: Any, padding: Any) -> tuple[Any, ...]:
    """Returns the padding value of each leaf: zero and the empty string by default."""
    leaves, structure = flatten(spec)
    if padding is None:
        return tuple([b"" if leaf.of_strings else as_dtype(leaf.dtype).type(0) for leaf in leaves])
    values, other = flatten(padding)
    if other != structure and len(values) == 1:
        values = values * len(leaves)
    values = [host_leaf(value) if isinstance(value, Tensor | Variable | StringTensor) else value for value in values]
    values = [b"" if leaf.of_strings and value is None else value for leaf, value in zip(leaves, values, strict=True)]
    return tuple([0 if value is None else value.encode() if isinstance(value, str) else value for value in values])


class _Unbatched(NodeReader):
    counters = ("place",)

    def __init__(self, rows: NodeReader) -> None:
        super().__init__(rows)
        self.place = 0
        self._batch: Block | None = None
        self._before: State | None = None

    def _load(self) -> bool:
        self._before = self.input.state()
        row = next(self.input, None)
        self._batch = None if row is None else tuple(map(np.asarray, row))
        sizes = {column.shape[:1] for column in self._batch or ()}
        if len(sizes) > 1 or () in sizes:
            shapes = ", ".join(str(column.shape) for column in self._batch or ())
            remedy = "use it after batch, or give them the same number of rows with map"
            problem = (
                f"unbatch: the leaves of an element must have the same number of rows, but have the shapes {shapes}"
            )
            raise InvalidArgumentError(f"{problem}; {remedy}").here()
        return self._batch is not None

    def __next__(self) -> Row:
        while self._batch is None or self.place >= size_of(self._batch):
            if not self._load():
                raise StopIteration
            self.place = 0
        self.place += 1
        return row_of(self._batch, self.place - 1)

    def state(self) -> State:
        if self._batch is None or self._before is None:
            return super().state()
        return {"place": self.place, "inputs": [self._before], "open": True}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._batch = None
        if state.get("open"):
            self._load()


@dataclass(frozen=True, eq=False)
class Unbatch(PlanNode):
    """The rows of each element, one by one."""

    word = "unbatch"
    source: PlanNode

    @cached_property
    def spec(self) -> Any:
        leaves, structure = flatten(self.input.spec)
        return unflatten(structure, [TensorSpec(leaf.shape and leaf.shape[1:], leaf.dtype) for leaf in leaves])

    @cached_property
    def cardinality(self) -> Cardinality:
        total, sizes = self.input.cardinality, {leaf.shape and leaf.shape[0] for leaf in flatten(self.input.spec)[0]}
        size = sizes.pop() if len(sizes) == 1 else None
        return 0 if total == 0 else None if total is None or size is None else total * size

    def open(self, epoch: Epoch) -> NodeReader:
        return _Unbatched(self.input.open(epoch))


class _Rebatched(NodeReader):
    counters = ("number",)

    def __init__(self, node: Rebatch, rows: NodeReader) -> None:
        super().__init__(rows)
        self._node, self.number = node, 0
        self._held: deque[Block] = deque()
        self._marks: deque[State] = deque()
        self._used = 0

    def _read(self) -> bool:
        mark = self.input.state()
        row = next(self.input, None)
        if row is None:
            return False
        self._held.append(tuple(map(np.asarray, row)))
        self._marks.append(mark)
        return True

    def __next__(self) -> Row:
        sizes = self._node.sizes
        size = sizes[self.number % len(sizes)]
        while sum(map(size_of, self._held)) - self._used < size and self._read():
            pass
        parts: list[Block] = []
        left = size
        while left and self._held:
            part = rows_of(self._held[0], self._used, self._used + left)
            self._used, left = self._used + size_of(part), left - size_of(part)
            parts += [part] if size_of(part) else []
            if self._used >= size_of(self._held[0]):
                self._held.popleft()
                self._marks.popleft()
                self._used = 0
        if not parts or (left and self._node.drop_remainder):
            raise StopIteration
        self.number += 1
        return joined(parts)

    def state(self) -> State:
        inner = [self._marks[0]] if self._marks else [self.input.state()]
        return {"number": self.number, "inputs": inner, "used": self._used}

    def restore(self, state: State) -> None:
        super().restore(state)
        self._held.clear()
        self._marks.clear()
        self._used = state["used"]


@dataclass(frozen=True, eq=False)
class Rebatch(PlanNode):
    """Batches of other sizes, which are used in turn."""

    word = "rebatch"
    changes_count = True
    source: PlanNode
    sizes: tuple[int, ...]
    drop_remainder: bool

    @cached_property
    def spec(self) -> Any:
        leaves, structure = flatten(self.input.spec)
        size = self.sizes[0] if self.drop_remainder and len(set(self.sizes)) == 1 else None
        return unflatten(structure, [TensorSpec(leaf.shape and (size, *leaf.shape[1:]), leaf.dtype) for leaf in leaves])

    def open(self, epoch: Epoch) -> NodeReader:
        return _Rebatched(self, self.input.open(epoch))
