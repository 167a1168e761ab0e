"""Nodes with users' functions of elements: map, filter, take_while, scan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphc.training.data.buffered import Ahead, BufferedRows, full_block
from graphc.training.data.elements import Block, Row, row_of, size_of, stacked
from graphc.training.data.functions import UserFunction
from graphc.training.data.plan import Epoch, Node, Rows
from graphc.training.data.sources import INFINITE, Cardinality

__all__ = ["Filter", "Map", "Noted", "TakeWhile"]


class Noted(Rows):
    """Rows that a user's function returns one by one; a note on its exceptions names the element."""

    counters = ("number",)

    def __init__(self, function: UserFunction, *inputs: Rows) -> None:
        super().__init__(*inputs)
        self.function, self.number = function.fresh(), 0

    def note(self, error: BaseException, number: int | None = None) -> None:
        """Adds a note to an exception with the transformation and the element; the last element if none is given."""
        add_note(error, self.function, self.number - 1 if number is None else number)


def add_note(error: BaseException, function: UserFunction, number: int) -> None:
    """Adds a note to a function's exception that names the transformation and the element."""
    where = f"\n  at {function.location}" if function.location else ""
    error.add_note(f"in {function.use}({function.name}) of a dataset, element {number}{where}")


class _Mapped(Noted):
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
        found = full_block(self.input, count)
        if found is None:
            return None
        self.number += size_of(found)
        return self.function.block(found)


class _InBlocks(BufferedRows):
    """The results of a function over blocks of rows. If a block fails, its rows run singly up to the one that fails."""

    counters = ("number",)

    def __init__(self, function: UserFunction, rows: Rows, ahead: int) -> None:
        super().__init__(Ahead(rows, ahead, full=True) if function.takes_strings else rows, ahead=ahead)
        self._function = function.fresh()
        self.number = self._singly = 0

    def made(self, count: int) -> tuple[Block, Block] | None:
        """Returns some rows and the function's result for each; None at the end."""
        rows: Any = self.input
        found = rows.block(1 if self._singly else count) if self._function.takes_strings else full_block(rows, count)
        if found is None:
            return None
        size = size_of(found)
        if not self._singly:
            try:
                made = self._function.block(found, self.ahead if self._function.takes_strings else 0)
                self.number += size
                return found, made
            except Exception:
                if not self._function.takes_strings:
                    raise
                rows.back(size)
                self._singly, found = size, rows.block(1)
        self._singly -= 1
        self.number += 1
        try:
            return found, stacked([self._function.row(row_of(found, 0))])
        except Exception as error:
            add_note(error, self._function, self.number - 1)
            raise


class _MappedBlocks(_InBlocks):
    def read(self, count: int) -> Block | None:
        found = self.made(count)
        return None if found is None else found[1]


@dataclass(frozen=True, eq=False)
class Map(Node):
    """A function applied to each element."""

    word = "map"
    source: Node
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

    def open(self, epoch: Epoch) -> Rows:
        rows = self.input.open(epoch)
        if self.columnar:
            return _MappedBlocks(self.function, rows, self.ahead)
        if self.workers:
            from graphc.training.data.nodes.parallel import MappedInProcesses

            ordered = self.deterministic is not False
            return MappedInProcesses(self.function, self.input.spec, rows, self.workers, ordered)
        if self.function.mode in ("python", "rows") and (self.num_parallel_calls or 1) > 1:
            from graphc.training.data.nodes.parallel import MappedInThreads

            return MappedInThreads(self.function, rows, self.num_parallel_calls or 1, self.deterministic is not False)
        from graphc.training.data.nodes.at_once import mapped_batches

        return mapped_batches(self, epoch) or _Mapped(self.function, rows)


class _Filtered(Noted):
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
        while (found := self.made(count)) is not None:
            rows, values = found
            kept = np.asarray(self._function.single(values, 1))
            if kept.all():
                return rows
            if kept.any():
                return tuple([np.asarray(column)[kept] for column in rows])
        return None


@dataclass(frozen=True, eq=False)
class Filter(Node):
    """The elements for which a function returns True."""

    word = "filter"
    source: Node
    function: UserFunction

    @cached_property
    def slow(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self.function.mode == "python"

    @cached_property
    def cardinality(self) -> Cardinality:
        return 0 if self.input.cardinality == 0 else None

    @cached_property
    def columnar(self) -> bool:
        # An endless dataset may have no further match, so nothing may be read ahead.
        return self._in_blocks and self.input.cardinality != INFINITE

    @property
    def _in_blocks(self) -> bool:
        return self.input.columnar and self.function.mode == "blocks"

    def open(self, epoch: Epoch) -> Rows:
        rows = self.input.open(epoch)
        if self._in_blocks:
            return _FilteredBlocks(self.function, rows, self.ahead)
        return _Filtered(self.function, rows)


class _TakenWhile(Noted):
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
class TakeWhile(Node):
    """The elements before the first one for which a function returns False."""

    word = "take_while"
    source: Node
    function: UserFunction

    @cached_property
    def cardinality(self) -> Cardinality:
        return 0 if self.input.cardinality == 0 else None

    def open(self, epoch: Epoch) -> Rows:
        return _TakenWhile(self.function, self.input.open(epoch))
