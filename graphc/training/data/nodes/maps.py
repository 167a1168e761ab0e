"""Nodes with users' functions of elements: map, filter, take_while.

A map before or after small batches runs as one program for several of them; it reads no further ahead than the
available rows (see :attr:`graphc.data.plan.PlanNode.columnar`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphc.compiler.function import TensorSpec
from graphc.training.data.elements import Block, Row, flatten, row_bytes, row_of, size_of, stacked
from graphc.training.data.functions import UserFunction
from graphc.training.data.nodes.batching import Batch
from graphc.training.data.plan import Ahead, BufferedRows, Epoch, NodeReader, PlanNode, full_block
from graphc.training.data.sources import INFINITE, State


class NamedRows(NodeReader):
    """Rows that a user's function returns one by one; a note on its exceptions names the element."""

    counters = ("number",)

    def __init__(self, function: UserFunction, *inputs: NodeReader) -> None:
        super().__init__(*inputs)
        self.function, self.number = function.fresh(), 0

    def note(self, error: BaseException, number: int | None = None) -> None:
        """Adds a note to an exception with the transformation and the element; the last element if none is given."""
        add_note(error, self.function, self.number - 1 if number is None else number)


def add_note(error: BaseException, function: UserFunction, number: int) -> None:
    """Adds a note to a function's exception that names the transformation and the element."""
    where = f"\n  at {function.location}" if function.location else ""
    error.add_note(f"in {function.use}({function.name}) of a dataset, element {number}{where}")


class _Mapped(NamedRows):
    def __next__(self) -> Row:
        row = next(self.input)
        self.number += 1
        try:
            return self.function.row(row)
        except Exception as error:
            self.note(error)
            raise

    def block(self, count: int) -> Block | None:
        if self.function.mode != "blocks" or self.function.takes_strings:
            return super().block(count)
        rows = full_block(self.input, count)
        if rows is None:
            return None
        self.number += size_of(rows)
        return self.function.block(rows)


class _InBlocks(BufferedRows):
    """The results of a function over blocks of rows. If a block fails, its rows run singly up to the one that fails."""

    counters = ("number",)

    def __init__(self, function: UserFunction, rows: NodeReader, ahead: int) -> None:
        super().__init__(Ahead(rows, ahead, full=True) if function.takes_strings else rows, ahead=ahead)
        self._function = function.fresh()
        self.number = self._singly = 0

    def made(self, count: int) -> tuple[Block, Block] | None:
        """Returns some rows and the function's result for each; None at the end."""
        rows: Any = self.input
        taken = rows.block(1 if self._singly else count) if self._function.takes_strings else full_block(rows, count)
        if taken is None:
            return None
        size = size_of(taken)
        if not self._singly:
            try:
                results = self._function.block(taken, self.ahead if self._function.takes_strings else 0)
                self.number += size
                return taken, results
            except Exception:
                if not self._function.takes_strings:
                    raise
                rows.back(size)
                self._singly, taken = size, rows.block(1)
        self._singly -= 1
        self.number += 1
        try:
            return taken, stacked([self._function.row(row_of(taken, 0))])
        except Exception as error:
            add_note(error, self._function, self.number - 1)
            raise


class _MappedBlocks(_InBlocks):
    def read(self, count: int) -> Block | None:
        pair = self.made(count)
        return None if pair is None else pair[1]


@dataclass(frozen=True, eq=False)
class Map(PlanNode):
    """A function applied to each element."""

    word = "map"
    source: PlanNode
    function: UserFunction
    num_parallel_calls: int | None = None
    deterministic: bool | None = None
    workers: int | None = None

    @cached_property
    def spec(self) -> Any:
        return self.function.spec

    @cached_property
    def slow(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.function.mode == "python"

    @cached_property
    def columnar(self) -> bool:
        return self.input.columnar and self.function.mode == "blocks"

    def open(self, epoch: Epoch) -> NodeReader:
        rows = self.input.open(epoch)
        if self.columnar:
            return _MappedBlocks(self.function, rows, self.ahead)
        if self.workers:
            from graphc.training.data.nodes.threads import MappedInProcesses

            ordered = self.deterministic is not False
            return MappedInProcesses(self.function, self.input.spec, rows, self.workers, ordered)
        if self.function.mode in ("python", "rows") and (self.num_parallel_calls or 1) > 1:
            from graphc.training.data.nodes.threads import MappedInThreads

            return MappedInThreads(self.function, rows, self.num_parallel_calls or 1, self.deterministic is not False)
        return mapped_batches(self, epoch) or _Mapped(self.function, rows)


class _Filtered(NamedRows):
    def __next__(self) -> Row:
        while True:
            row = next(self.input)
            self.number += 1
            try:
                if self.function.value(row):
                    return row
            except Exception as error:
                self.note(error)
                raise


class _FilteredBlocks(_InBlocks):
    def read(self, count: int) -> Block | None:
        while (pair := self.made(count)) is not None:
            rows, values = pair
            mask = np.asarray(self._function.single(values, 1))
            if mask.all():
                return rows
            if mask.any():
                return tuple([np.asarray(column)[mask] for column in rows])
        return None


@dataclass(frozen=True, eq=False)
class Filter(PlanNode):
    """The elements for which a function returns True."""

    word = "filter"
    changes_count = True
    source: PlanNode
    function: UserFunction

    @cached_property
    def slow(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.function.mode == "python"

    @cached_property
    def columnar(self) -> bool:
        # An endless dataset may have no further match, so nothing may be read ahead.
        return self._in_blocks and self.input.cardinality != INFINITE

    @property
    def _in_blocks(self) -> bool:
        return self.input.columnar and self.function.mode == "blocks"

    def open(self, epoch: Epoch) -> NodeReader:
        rows = self.input.open(epoch)
        if self._in_blocks:
            return _FilteredBlocks(self.function, rows, self.ahead)
        return _Filtered(self.function, rows)


class _TakenWhile(NamedRows):
    counters = ("number", "ended")
    ended = False

    def __next__(self) -> Row:
        if self.ended:
            raise StopIteration
        row = next(self.input)
        self.number += 1
        try:
            self.ended = not self.function.value(row)
        except Exception as error:
            self.note(error)
            raise
        return self.__next__() if self.ended else row


@dataclass(frozen=True, eq=False)
class TakeWhile(PlanNode):
    """The elements before the first one for which a function returns False."""

    word = "take_while"
    changes_count = True
    source: PlanNode
    function: UserFunction

    def open(self, epoch: Epoch) -> NodeReader:
        return _TakenWhile(self.function, self.input.open(epoch))


_BATCHES_AT_ONCE, _BYTES_AT_ONCE = 16, 2**18


def batched_maps(node: Batch, epoch: Epoch) -> NodeReader | None:
    """Returns batches of a program's results for rows; None if making several at once does not pay."""
    inner = node.source
    if not isinstance(inner, Map) or inner.function.mode != "blocks" or inner.workers:
        return None
    at_once = _at_once(inner.spec, node.batch_size)
    return _MappedRows(node, inner.function, inner.source, epoch, at_once) if at_once > 1 else None


def mapped_batches(node: Map, epoch: Epoch) -> NodeReader | None:
    """Returns a program's results for batches; None if making several at once does not pay."""
    inner = node.source
    if not isinstance(inner, Batch) or node.workers or node.function.mode not in ("blocks", "rows"):
        return None
    leaves, at_once = flatten(inner.source.spec)[0], _at_once(inner.source.spec, inner.batch_size)
    if at_once < 2 or not all(
        isinstance(leaf, TensorSpec) and leaf.shape is not None and None not in leaf.shape for leaf in leaves
    ):
        return None
    if not node.function.takes(tuple([(inner.batch_size, *leaf.shape) for leaf in leaves])):
        return None
    return _MappedBatches(inner, node.function, inner.source, epoch, at_once)


def _at_once(spec: Any, size: int) -> int:
    return min(_BATCHES_AT_ONCE, _BYTES_AT_ONCE // (size * row_bytes(spec)))


class _AtOnce(NodeReader):
    """Batches, several of which are made at once by a function that makes the rows, or is called for each batch."""

    counters = ("number",)

    def __init__(self, node: Batch, function: UserFunction, source: PlanNode, epoch: Epoch, at_once: int) -> None:
        self._rows = source.open(epoch)
        size = node.batch_size
        super().__init__(Ahead(self._rows, size, full=source.columnar))
        self._node, self._function, self._is_columnar = node, function.fresh(), source.columnar
        self._size, self._at_once = size, at_once
        self.number = self._singly = 0
        self._ready: list[Row] = []
        self._mark: State | None = None
        self._count = 0

    def __next__(self) -> Row:
        if not self._ready:
            self._mark = super().state()
            self._ready = self._made()[::-1]
            self._count = len(self._ready)
        return self._ready.pop()

    def _made(self) -> list[Row]:
        rows: Any = self.input
        reads_on = self._is_columnar or self._rows.is_ready
        there = rows.filled(self._size * (self._at_once if reads_on else 1), self._size)
        if not there or (self._node.drop_remainder and there < self._size):
            raise StopIteration
        count = 1 << max(1, min(there // self._size, self._at_once)).bit_length() - 1  # few sizes, so few programs
        if count > 1 and not self._singly:
            taken = self._taken(self._size * count)
            try:
                return self.several(taken)
            except Exception:
                if not self._function.takes_strings:
                    raise
                self.back(self._size * count)
                self._singly = count
        self._singly -= 1 if self._singly else 0
        return [self.one(self._taken(self._size))]

    def _taken(self, count: int) -> Block:
        rows: Any = self.input
        taken = rows.block(count)
        self.number += size_of(taken)
        return taken

    def back(self, count: int) -> None:
        """Puts back rows, to read them again."""
        rows: Any = self.input
        rows.back(count)
        self.number -= count

    def several(self, rows: Block) -> list[Row]:
        """Returns the batches of these rows."""
        raise NotImplementedError

    def one(self, input_block: Block) -> Row:
        """Returns one batch, which may be smaller."""
        raise NotImplementedError

    def state(self) -> State:
        """Returns the position before the batches that were made at once, and the number of them that were returned."""
        if not self._ready or self._mark is None:
            return super().state()
        return {**self._mark, "given": self._count - len(self._ready)}

    def restore(self, state: State) -> None:
        """Moves to a position."""
        super().restore(state)
        self._ready.clear()
        for _ in range(state.get("given", 0)):
            next(self)


class _MappedRows(_AtOnce):
    """Batches of a function's results for rows."""

    def several(self, rows: Block) -> list[Row]:
        return self._function.split(rows, self._size)

    def one(self, input_block: Block) -> Row:
        try:
            return self._function.block(input_block, self._size if self._function.takes_strings else 0)
        except Exception:
            if not self._function.takes_strings:
                raise
        results: list[Row] = []
        try:
            for row in self._function.each(input_block):
                results.append(row)  # noqa: PERF402  keeps the rows before an error
        except Exception as error:
            self.back(size_of(input_block) - len(results) - 1)
            add_note(error, self._function, self.number - 1)
            raise
        return stacked(results)


class _MappedBatches(_AtOnce):
    """The results of a function that is called with batches."""

    def several(self, rows: Block) -> list[Row]:
        return self._function.split(
            tuple([np.asarray(column).reshape(-1, self._size, *column.shape[1:]) for column in rows])
        )

    def one(self, input_block: Block) -> Row:
        try:
            return self._function.row(input_block)
        except Exception as error:
            add_note(error, self._function, (self.number - 1) // self._size)
            raise
