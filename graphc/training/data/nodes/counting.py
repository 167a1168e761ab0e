"""Nodes that select and repeat rows: take, skip, repeat, shard, concatenate, zip."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.base.nest import Structure
from graphc.compiler.function import TensorSpec
from graphc.training.data.elements import Block, Row, described, flatten, rows_of, size_of, unflatten
from graphc.training.data.plan import Epoch, NodeReader, PlanNode, full_block
from graphc.training.data.sources import INFINITE, Cardinality, State


class _Take(NodeReader):
    counters = ("left",)

    def __init__(self, rows: NodeReader, count: float) -> None:
        super().__init__(rows)
        self.left = count

    def __next__(self) -> Row:
        if self.left <= 0:
            raise StopIteration
        row = next(self.input)
        self.left -= 1
        return row

    def block(self, count: int) -> Block | None:
        rows = self.input.block(min(count, int(self.left))) if self.left > 0 else None
        self.left -= 0 if rows is None else size_of(rows)
        return rows


@dataclass(frozen=True, eq=False)
class Take(PlanNode):
    """The first elements."""

    word = "take"
    keeps_blocks = True
    source: PlanNode
    count: int

    @cached_property
    def cardinality(self) -> Cardinality:
        length = self.input.cardinality
        return None if length is None else min(length, self.count)

    def open(self, epoch: Epoch) -> NodeReader:
        return _Take(self.input.open(epoch), self.count)


class _Skip(NodeReader):
    counters = ("left",)

    def __init__(self, rows: NodeReader, count: float) -> None:
        super().__init__(rows)
        self.left = count

    def _skip(self) -> None:
        while self.left > 0:
            row = next(self.input, None)
            self.left = self.left - 1 if row is not None else 0

    def __next__(self) -> Row:
        if self.left:
            self._skip()
        return next(self.input)

    def block(self, count: int) -> Block | None:
        if self.left:
            self._skip()
        return self.input.block(count)


@dataclass(frozen=True, eq=False)
class Skip(PlanNode):
    """All elements but the first ones."""

    word = "skip"
    keeps_blocks = True
    source: PlanNode
    count: float

    @cached_property
    def cardinality(self) -> Cardinality:
        length = self.input.cardinality
        return None if length is None else INFINITE if length == INFINITE else max(length - self.count, 0)

    def open(self, epoch: Epoch) -> NodeReader:
        return _Skip(self.input.open(epoch), self.count)


class _Repeat(NodeReader):
    counters = ("number", "gave")

    def __init__(self, node: Repeat, epoch: Epoch) -> None:
        self._node, self._epoch, self.number, self.gave = node, epoch, 0, False
        super().__init__(node.input.open(epoch.inner(0)))

    def _again(self) -> bool:
        """Opens the input once more; returns False if the repetitions are over."""
        self.input.close()
        if self.number + 1 >= self._node.count or not self.gave:
            return False
        self.number, self.gave = self.number + 1, False
        self.inputs[0] = self._node.input.open(self._epoch.inner(self.number))
        return True

    def __next__(self) -> Row:
        while True:
            for row in self.inputs[0]:
                self.gave = True
                return row
            if not self._again():
                raise StopIteration

    def block(self, count: int) -> Block | None:
        while (rows := self.input.block(count)) is None:
            if not self._again():
                return None
        self.gave = True
        return rows

    def restore(self, state: State) -> None:
        self.input.close()
        self.inputs[0] = self._node.input.open(self._epoch.inner(state["number"]))
        super().restore(state)


@dataclass(frozen=True, eq=False)
class Repeat(PlanNode):
    """The elements several times; ``count`` may be infinite."""

    word = "repeat"
    keeps_blocks = True
    source: PlanNode
    count: float

    @cached_property
    def cardinality(self) -> Cardinality:
        length = self.input.cardinality
        if length == 0 or self.count == 0:
            return 0
        return None if length is None else length * self.count

    def open(self, epoch: Epoch) -> NodeReader:
        return _Repeat(self, epoch) if self.count else _Take(self.input.open(epoch), 0)

    def __str__(self) -> str:
        return "repeat()" if self.count == INFINITE else f"repeat({self.count})"


class _Shard(NodeReader):
    def __init__(self, rows: NodeReader, num_shards: int, index: int) -> None:
        super().__init__(rows)
        self._num_shards, self._index = num_shards, index

    def __next__(self) -> Row:
        for _ in range(self._index):
            next(self.input)
        row = next(self.input)
        for _ in range(self._num_shards - self._index - 1):
            next(self.input, None)
        return row

    def block(self, count: int) -> Block | None:
        rows = full_block(self.input, count * self._num_shards)
        if rows is None or size_of(rows) <= self._index:
            return None
        return tuple([column[self._index :: self._num_shards] for column in rows])


@dataclass(frozen=True, eq=False)
class Shard(PlanNode):
    """Every ``num_shards``-th element, starting at ``index``."""

    word = "shard"
    keeps_blocks = True
    source: PlanNode
    num_shards: int
    index: int

    @cached_property
    def cardinality(self) -> Cardinality:
        length = self.input.cardinality
        if length is None or length == INFINITE:
            return length
        return max(0, math.ceil((length - self.index) / self.num_shards))

    def open(self, epoch: Epoch) -> NodeReader:
        return _Shard(self.input.open(epoch), self.num_shards, self.index)


class _Concatenated(NodeReader):
    counters = ("number",)

    def __init__(self, *inputs: NodeReader) -> None:
        super().__init__(*inputs)
        self.number = 0

    def __next__(self) -> Row:
        while self.number < len(self.inputs):
            for row in self.inputs[self.number]:
                return row
            self.number += 1
        raise StopIteration

    def block(self, count: int) -> Block | None:
        while self.number < len(self.inputs):
            rows = self.inputs[self.number].block(count)
            if rows is not None:
                return rows
            self.number += 1
        return None


@dataclass(frozen=True, eq=False)
class Concatenate(PlanNode):
    """The elements of one dataset, followed by those of another."""

    word = "concatenate"
    keeps_blocks = True
    parts: tuple[PlanNode, ...]

    @cached_property
    def spec(self) -> Any:
        return common_spec([part.spec for part in self.parts], "concatenate")

    @cached_property
    def cardinality(self) -> Cardinality:
        total = 0.0
        for part in self.parts:
            if part.cardinality is None:
                return INFINITE if any(part.cardinality == INFINITE for part in self.parts) else None
            total += part.cardinality
        return total if total == INFINITE else int(total)

    @cached_property
    def columnar(self) -> bool:
        return super().columnar and self.spec == self.parts[0].spec

    def open(self, epoch: Epoch) -> NodeReader:
        return _Concatenated(*[part.open(epoch) for part in self.parts])

    def __str__(self) -> str:
        return "concatenate"


def common_spec(specs: list[Any], use: str) -> Any:
    """Returns the common spec of elements."""
    flat = [flatten(spec) for spec in specs]
    first, structure = flat[0]
    for number, (leaves, other) in enumerate(flat):
        same = other == structure and all(
            getattr(a, "dtype", None) == getattr(b, "dtype", None) for a, b in zip(first, leaves, strict=True)
        )
        if not same:
            first_one, other = described(specs[0]), described(specs[number])
            raise InvalidArgumentError(
                f"{use}: dataset 0 has the elements {first_one}, and dataset {number} {other}"
            ).here()
    return unflatten(structure, [_common(column) for column in zip(*[leaves for leaves, _ in flat], strict=True)])


def _common(leaves: tuple[Any, ...]) -> Any:
    first = leaves[0]
    if all(leaf == first for leaf in leaves):
        return first
    shapes = [leaf.shape for leaf in leaves]
    if any(shape is None or len(shape) != len(shapes[0]) for shape in shapes):
        return TensorSpec(None, first.dtype)
    sizes = [axis[0] if len(set(axis)) == 1 else None for axis in zip(*shapes, strict=True)]
    return TensorSpec(sizes, first.dtype)


class _Zipped(NodeReader):
    def __next__(self) -> Row:
        return tuple([leaf for rows in self.inputs for leaf in next(rows)])

    def block(self, count: int) -> Block | None:
        taken = [full_block(rows, count) for rows in self.inputs]
        blocks = [block for block in taken if block is not None]
        if len(blocks) < len(taken):
            return None
        shortest = min(map(size_of, blocks))
        return tuple([column for block in blocks for column in rows_of(block, 0, shortest)])


@dataclass(frozen=True, eq=False)
class Zip(PlanNode):
    """Tuples with an element from each of several datasets; ends with the shortest."""

    word = "zip"
    keeps_blocks = True
    parts: tuple[PlanNode, ...]
    structure: Structure

    @cached_property
    def spec(self) -> Any:
        return unflatten(self.structure, [part.spec for part in self.parts])

    @cached_property
    def cardinality(self) -> Cardinality:
        lengths = [part.cardinality for part in self.parts if part.cardinality != INFINITE]
        certain = [length for length in lengths if length is not None]
        return (min(certain) if len(certain) == len(lengths) else None) if lengths else INFINITE

    def open(self, epoch: Epoch) -> NodeReader:
        return _Zipped(*[part.open(epoch) for part in self.parts])

    def __str__(self) -> str:
        return "zip"
