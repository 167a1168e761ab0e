"""Nodes that group elements: windows, and groups by a key."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from graphc.compiler.base import at
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.training.data.elements import DatasetSpec, Row, flatten, unflatten
from graphc.training.data.functions import UserFunction, inside_of_a_function
from graphc.training.data.nodes.mixing import plan_in
from graphc.training.data.nodes.scanning import LookingBack, Replayed
from graphc.training.data.plan import Epoch, Node, Rows
from graphc.training.data.sources import INFINITE, Cardinality

__all__ = ["GroupByWindow", "Held", "Window"]


class _HeldRows(Rows):
    counters = ("place",)

    def __init__(self, rows: tuple[Row, ...]) -> None:
        super().__init__()
        self._rows, self.place = rows, 0

    def __next__(self) -> Row:
        if self.place >= len(self._rows):
            raise StopIteration
        self.place += 1
        return self._rows[self.place - 1]


@dataclass(frozen=True, eq=False)
class Held(Node):
    """Rows that are already in memory."""

    word = "elements"
    rows: tuple[Row, ...] = field(repr=False)
    types: Any = field(repr=False)

    @cached_property
    def spec(self) -> Any:
        return self.types

    @cached_property
    def cardinality(self) -> Cardinality:
        return len(self.rows)

    def open(self, epoch: Epoch) -> Rows:
        return _HeldRows(self.rows)


class _Windows(LookingBack):
    counters = ("skipped",)
    skipped = 0

    def __init__(self, node: Window, rows: Rows) -> None:
        super().__init__(rows)
        self._node = node

    def __next__(self) -> Row:
        node = self._node
        while self.skipped:
            if next(self.input, None) is None:
                raise StopIteration
            self.skipped -= 1
        span = (node.size - 1) * node.stride + 1
        while len(self.held) < span and self.hold():
            pass
        if not self.held or (node.drop_remainder and len(self.held) < span):
            raise StopIteration
        rows = list(self.held)[: span : node.stride]
        for _ in range(min(node.shift, len(self.held))):
            self.let_go()
        self.skipped = max(0, node.shift - span)
        specs, _ = flatten(node.input.spec)
        return tuple(
            [
                node.make(Held(tuple([(leaf,) for leaf in leaves]), spec))
                for leaves, spec in zip(zip(*rows, strict=True), specs, strict=True)
            ]
        )


@dataclass(frozen=True, eq=False)
class Window(Node):
    """Datasets of consecutive elements, one for each leaf.

    Attributes:
      make: a function from a plan to a dataset.
    """

    word = "window"
    source: Node
    size: int
    shift: int
    stride: int
    drop_remainder: bool
    make: Callable[[Node], Any] = field(repr=False)

    @cached_property
    def spec(self) -> Any:
        leaves, structure = flatten(self.input.spec)
        return unflatten(structure, [DatasetSpec(leaf) for leaf in leaves])

    @cached_property
    def cardinality(self) -> Cardinality:
        found, span = self.input.cardinality, (self.size - 1) * self.stride + 1
        if found is None or found == INFINITE:
            return found
        most = int(found) - span if self.drop_remainder else int(found) - 1
        return 0 if most < 0 else most // self.shift + 1

    def open(self, epoch: Epoch) -> Rows:
        return _Windows(self, self.input.open(epoch))


class _Grouped(Replayed):
    def __init__(self, node: GroupByWindow, rows: Rows, epoch: Epoch) -> None:
        super().__init__(rows)
        self._node, self._epoch = node, epoch
        self._groups: dict[int, list[Row]] = {}
        self._sizes: dict[int, int] = {}
        self._windows = 0
        self._open: Rows | None = None

    def read(self) -> Row:
        while True:
            for row in self._open or ():
                return row
            self._open = None
            found = self._next_group()
            if found is None:
                raise StopIteration
            key, rows = found
            with inside_of_a_function():
                group = self._node.make(Held(tuple(rows), self._node.input.spec))
                plan = plan_in(self._node.reduce.function(np.asarray(key)[()], group), self._node.reduce)
            self._open = plan.open(self._epoch.inner(self._windows))
            self._windows += 1

    def _next_group(self) -> tuple[int, list[Row]] | None:
        """Returns the next full group, or a remaining one at the end."""
        for row in self.input:
            key = int(self._node.key.value(row))
            group = self._groups.setdefault(key, [])
            group.append(row)
            if key not in self._sizes:
                self._sizes[key] = self._size(key)
            if len(group) >= self._sizes[key]:
                return key, self._groups.pop(key)
        for key in sorted(self._groups):
            return key, self._groups.pop(key)
        return None

    def _size(self, key: int) -> int:
        found: Any = self._node.window_size
        size = int(found if isinstance(found, int) else found(np.asarray(key)[()]))
        if size < 1:
            error = InvalidArgumentError(
                f"{self._node.word}: the window size for key {key} is {size}, expected 1 or more"
            )
            raise at(error, self._node.key.location)
        return size


@dataclass(frozen=True, eq=False)
class GroupByWindow(Node):
    """Groups of elements with the same key, each made into a dataset by a function.

    Attributes:
      key: the key of an element, an int.
      reduce: a function from a key and a dataset of elements with that key to a dataset.
      window_size: the number of elements in a group, or a function from a key to that number.
      make: a function from a plan to a dataset.
    """

    word = "group_by_window"
    slow = True
    source: Node
    key: UserFunction
    reduce: UserFunction
    window_size: Callable[[Any], Any] | int | None
    make: Callable[[Node], Any] = field(repr=False)

    @cached_property
    def spec(self) -> Any:
        rows = self.input.open(Epoch())
        row = next(rows, None)
        rows.close()
        group = self.make(Held(() if row is None else (row,), self.input.spec))
        return plan_in(self.reduce.function(np.asarray(0)[()], group), self.reduce).spec

    @cached_property
    def cardinality(self) -> Cardinality:
        return 0 if self.input.cardinality == 0 else None

    def open(self, epoch: Epoch) -> Rows:
        return _Grouped(self, self.input.open(epoch), epoch)
