"""Functions of the user's over elements: map, filter, take_while, scan."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphc.data.elements import Block, Row, size_of
from graphc.data.functions import UserFunction
from graphc.data.plan import BufferedRows, Epoch, Node, Rows, full_block
from graphc.data.sources import Cardinality

__all__ = ["Filter", "Map", "TakeWhile", "Told"]


class Told(Rows):
    """Rows that a user's function gives one by one; an exception of it is told with the place of the element."""

    counters = ("number",)

    def __init__(self, function: UserFunction, *inputs: Rows) -> None:
        super().__init__(*inputs)
        self.function, self.number = function.fresh(), 0

    def tell(self, error: BaseException, number: int | None = None) -> None:
        """Notes on an exception which transformation raised it, and at which element; the last one if none is given."""
        number = self.number - 1 if number is None else number
        where = f"\n  at {self.function.location}" if self.function.location else ""
        error.add_note(f"in {self.function.use}({self.function.name}) of a dataset, element {number}{where}")


class _Mapped(Told):
    def __next__(self) -> Row:
        row = next(self.input)
        self.number += 1
        try:
            return self.function.row(row)
        except Exception as error:
            self.tell(error)
            raise

    def block(self, count: int) -> Block | None:
        if self.function.mode != "blocks":
            return super().block(count)
        found = full_block(self.input, count)
        if found is None:
            return None
        self.number += size_of(found)
        return self.function.block(found)


class _MappedBlocks(BufferedRows):
    def __init__(self, function: UserFunction, rows: Rows, ahead: int) -> None:
        super().__init__(rows, ahead=ahead)
        self._function = function.fresh()

    def read(self, count: int) -> Block | None:
        found = full_block(self.input, count)
        return None if found is None else self._function.block(found)


@dataclass(frozen=True, eq=False)
class Map(Node):
    """What a function makes of each element."""

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
            from graphc.data.nodes.parallel import MappedInProcesses

            ordered = self.deterministic is not False
            return MappedInProcesses(self.function, self.input.spec, rows, self.workers, ordered)
        if self.function.mode in ("python", "rows") and (self.num_parallel_calls or 1) > 1:
            from graphc.data.nodes.parallel import MappedInThreads

            return MappedInThreads(self.function, rows, self.num_parallel_calls or 1, self.deterministic is not False)
        return _Mapped(self.function, rows)


class _Filtered(Told):
    def __next__(self) -> Row:
        while True:
            row = next(self.input)
            self.number += 1
            try:
                if self.function.value(row):
                    return row
            except Exception as error:
                self.tell(error)
                raise


class _FilteredBlocks(BufferedRows):
    def __init__(self, function: UserFunction, rows: Rows, ahead: int) -> None:
        super().__init__(rows, ahead=ahead)
        self._function = function.fresh()

    def read(self, count: int) -> Block | None:
        while (found := full_block(self.input, count)) is not None:
            kept = np.asarray(self._function.single(self._function.block(found), 1))
            if kept.all():
                return found
            if kept.any():
                return tuple([np.asarray(column)[kept] for column in found])
        return None


@dataclass(frozen=True, eq=False)
class Filter(Node):
    """The elements for which a function gives True."""

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
        return self.input.columnar and self.function.mode == "blocks"

    def open(self, epoch: Epoch) -> Rows:
        rows = self.input.open(epoch)
        if self.columnar:
            return _FilteredBlocks(self.function, rows, self.ahead)
        return _Filtered(self.function, rows)


class _TakenWhile(Told):
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
            self.tell(error)
            raise
        return self.__next__() if self.ended else row


@dataclass(frozen=True, eq=False)
class TakeWhile(Node):
    """The elements before the first for which a function gives False."""

    word = "take_while"
    source: Node
    function: UserFunction

    @cached_property
    def cardinality(self) -> Cardinality:
        return 0 if self.input.cardinality == 0 else None

    def open(self, epoch: Epoch) -> Rows:
        return _TakenWhile(self.function, self.input.open(epoch))
