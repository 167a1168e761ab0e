"""Plans: immutable trees of transformations, the rows that reading one makes, and rows that are read ahead.

A node is immutable. A run is a tree of :class:`NodeReader`, made by :meth:`PlanNode.open`, whose position is data. A
columnar node returns its rows in blocks cheaply, and may read ahead invisibly.
"""

from __future__ import annotations

import dataclasses
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Self, SupportsInt, cast

import numpy as np

from graphc.training.data.elements import Block, Row, joined, row_bytes, row_of, rows_of, size_of, stacked
from graphc.training.data.sources import Cardinality, State


@dataclass(frozen=True)
class Epoch:
    """The position of a pass among repeated passes over an input; with its seed it determines a shuffle's order."""

    run: int = 0  # how often the dataset was iterated before
    path: tuple[int, ...] = ()  # numbers: the pass in each ``repeat``, the element in each ``flat_map``, outside in

    def inner(self, number: int) -> Epoch:
        """Returns the epoch of a pass nested in this one, by its number."""
        return Epoch(self.run, (*self.path, number))

    def random(self, seed: SupportsInt) -> np.random.Generator:
        """Returns a random generator for a seed in this epoch."""
        return np.random.default_rng([int(seed), self.run, *self.path])


class NodeReader(ABC):
    """Reads the rows of a node once, from the start or from a position set by :meth:`restore`."""

    counters: ClassVar[tuple[str, ...]] = ()  # the attributes that make up the position, in addition to the inputs'

    def __init__(self, *inputs: NodeReader) -> None:
        self.inputs = list(inputs)

    @property
    def input(self) -> NodeReader:
        """The only input."""
        return self.inputs[0]

    def __iter__(self) -> Self:
        return self

    @abstractmethod
    def __next__(self) -> Row:
        """Returns the next row."""

    def block(self, count: int) -> Block | None:
        """Returns between one and ``count`` of the next rows as one block, or None if there are no more."""
        rows: list[Row] = []
        for row in self:
            rows.append(row)
            if len(rows) == count:
                break
        return stacked(rows) if rows else None

    @property
    def is_ready(self) -> bool:
        """True if :meth:`block` now returns many rows as fast as one, which columnar nodes always do."""
        return False

    def state(self) -> State:
        """Returns the position, which is small."""
        state: State = {name: getattr(self, name) for name in self.counters}
        if self.inputs:
            state["inputs"] = [rows.state() for rows in self.inputs]
        return state

    def restore(self, state: State) -> None:
        """Moves to a position of the same pipeline; called only right after opening."""
        for name in self.counters:
            setattr(self, name, state[name])
        for rows, inner in zip(self.inputs, state.get("inputs", ()), strict=True):
            rows.restore(inner)

    def close(self) -> None:
        """Releases threads, files and memory; a second call does nothing."""
        for rows in self.inputs:
            rows.close()


_AHEAD_BYTES, _AHEAD_ROWS = 2**20, 256


@dataclass(frozen=True, eq=False)
class PlanNode(ABC):
    """A transformation of a plan. Fields that are nodes are its inputs, other fields its attributes."""

    # ``columnar``: it returns blocks cheaply and may read ahead invisibly.
    word: ClassVar[str] = ""
    slow: ClassVar[bool] = False  # whether it runs Python code or reads files for each element
    keeps_blocks: ClassVar[bool] = False  # whether it is columnar where its inputs are
    changes_count: ClassVar[bool] = False  # whether only reading tells how many elements it gives

    @property
    def inputs(self) -> tuple[PlanNode, ...]:
        """The nodes that it reads, in order."""
        nodes: list[PlanNode] = []
        for field in dataclasses.fields(self):
            value: Any = getattr(self, field.name)
            items = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
            nodes += [item for item in items if isinstance(item, PlanNode)]
        return tuple(nodes)

    @property
    def input(self) -> PlanNode:
        """The first input."""
        return self.inputs[0]

    @cached_property
    def spec(self) -> Any:
        """The types of an element; by default the input's."""
        return self.input.spec

    @cached_property
    def cardinality(self) -> Cardinality:
        """The number of elements; by default the input's."""
        return None if self.changes_count and self.input.cardinality != 0 else self.input.cardinality

    @cached_property
    def columnar(self) -> bool:
        """See the class."""
        return self.keeps_blocks and all(node.columnar for node in self.inputs)

    @abstractmethod
    def open(self, epoch: Epoch) -> NodeReader:
        """Opens the node for reading."""

    @property
    def ahead(self) -> int:
        """Returns the number of rows to read at once where single rows are requested and reading ahead is invisible."""
        return max(1, min(_AHEAD_ROWS, _AHEAD_BYTES // row_bytes(self.spec)))

    def __str__(self) -> str:
        fields = [field for field in dataclasses.fields(self) if field.repr]
        values = {field.name: getattr(self, field.name) for field in fields}
        shown = [f"{name}={value!r}" for name, value in values.items() if value is not None and not _is_input(value)]
        return f"{self.word}({', '.join(shown)})"


def _is_input(value: Any) -> bool:
    items = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
    return any(isinstance(item, PlanNode) for item in items)


def replaced(node: PlanNode, change: Callable[[PlanNode], PlanNode]) -> PlanNode:
    """Returns a node with other inputs; the node itself if they are unchanged."""
    changes: dict[str, Any] = {}
    for field in dataclasses.fields(node):
        value: Any = getattr(node, field.name)
        if not _is_input(value):
            continue
        items = cast("tuple[Any, ...]", value) if isinstance(value, tuple) else (value,)
        new = tuple([change(item) if isinstance(item, PlanNode) else item for item in items])
        if any(a is not b for a, b in zip(new, items, strict=True)):
            changes[field.name] = new if isinstance(value, tuple) else new[0]
    return dataclasses.replace(node, **changes) if changes else node


def walk(node: PlanNode) -> Iterator[PlanNode]:
    """Yields the nodes of a plan, inputs first."""
    for inner in node.inputs:
        yield from walk(inner)
    yield node


_LEFT_OUT = re.compile(
    r"(?<=\bseed)=\d+|(?<=\bnum_parallel_calls)=\d+|(?<=\bworkers)=\d+|(?<=\bnum_shards)=\d+|(?<=\bindex)=\d+"
    r"|(?<=^prefetch)\(.*|(?<=')[^']*[/\\](?=[^']*')| at 0x[0-9a-fA-F]+"
)


def outline(plan: PlanNode) -> list[str]:
    """Returns the transformations that a position belongs to, each as text."""
    # Leaves out what may differ in another process: seeds, which a position holds itself, the numbers of threads and
    # processes and the index of this one, folders, and addresses.
    return [_LEFT_OUT.sub("", str(node)) for node in walk(plan) if node.word != "shard_batches"]


class BufferedRows(NodeReader):
    """Rows that are returned one by one from blocks; of single rows, ``ahead`` are read at once."""

    def __init__(self, *inputs: NodeReader, ahead: int) -> None:
        super().__init__(*inputs)
        self.ahead = ahead
        self._buffer: Block = ()
        self._place = self._size = 0
        self._marks: list[tuple[int, State]] = []  # where each read starts in the buffer, and the position before it

    @abstractmethod
    def read(self, count: int) -> Block | None:
        """Returns the next block, like :meth:`block`, beyond the rows that are already read."""

    def filled(self, count: int = 0, least: int = 1) -> int:
        """Returns the number of rows that are read ahead, after reading more if there are too few; 0 at the end.

        Args:
          count: the number of rows to read, if that many come at once.
        """
        while self._size - self._place < least and self._read_more(max(count, self.ahead, least)):
            pass
        return self._size - self._place

    def _read_more(self, count: int) -> bool:
        mark = super().state()
        block = self.read(count)
        if block is None:
            return False
        left = self._size - self._place
        buffer = tuple(map(np.asarray, block))
        earlier = self._marks[self._segment() :] if left else []
        self._marks = [*[(start - self._place, before) for start, before in earlier], (left, mark)]
        self._buffer = joined([rows_of(self._buffer, self._place), buffer]) if left else buffer
        self._place, self._size = 0, size_of(self._buffer)
        return True

    def _segment(self) -> int:
        """Returns the index of the read that gave the next row."""
        return max(number for number, (start, _) in enumerate(self._marks) if start <= self._place)

    def back(self, count: int) -> None:
        """Puts back the last rows that :meth:`block` returned, if :meth:`filled` had read them before."""
        self._place -= count

    def __next__(self) -> Row:
        if self._place == self._size and not self.filled():
            raise StopIteration
        self._place += 1
        return row_of(self._buffer, self._place - 1)

    def block(self, count: int) -> Block | None:
        """Returns the remaining rows that were read ahead, or the next block."""
        if self._place == self._size:
            self._forget()
            return self.read(count)
        start = self._place
        self._place = min(start + count, self._size)
        return rows_of(self._buffer, start, self._place)

    def _forget(self) -> None:
        self._buffer, self._place, self._size, self._marks = (), 0, 0, []

    def state(self) -> State:
        """Returns the position before the rows that were read ahead, and the number of them that are used."""
        if self._place == self._size:
            return {"at": super().state(), "used": 0}
        start, mark = self._marks[self._segment()]
        return {"at": mark, "used": self._place - start}

    def restore(self, state: State) -> None:
        """Moves to a position."""
        super().restore(state["at"])
        self._forget()
        left = state["used"]
        while left:
            block = self.read(left)
            left -= 0 if block is None else size_of(block)


class Ahead(BufferedRows):
    """Rows of any kind, read ahead in blocks invisibly. ``full``: whether to read on until there are ``ahead`` rows."""

    def __init__(self, rows: NodeReader, ahead: int, *, full: bool) -> None:
        super().__init__(rows, ahead=ahead)
        self._full = full

    def read(self, count: int) -> Block | None:
        """Returns the next block."""
        return full_block(self.input, count) if self._full else self.input.block(count)

    def block(self, count: int) -> Block | None:
        """Returns the remaining rows that were read ahead; reads more if there are none."""
        return super().block(count) if self.filled(count) else None


def full_block(rows: NodeReader, count: int) -> Block | None:
    """Returns the next ``count`` rows as a block; fewer only at the end, and None if there are none."""
    first = rows.block(count)
    if first is None or len(first[0]) == count:
        return first
    blocks, left = [first], count - size_of(first)
    while left:
        block = rows.block(left)
        if block is None:
            break
        blocks.append(block)
        left -= size_of(block)
    return joined(blocks)
