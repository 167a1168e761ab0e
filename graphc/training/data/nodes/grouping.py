"""Nodes that group elements: windows, and groups by a key."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from graphc.compiler.base import logs
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.function import TensorSpec
from graphc.training.data.elements import DatasetSpec, Row, flatten, unflatten
from graphc.training.data.functions import UserFunction, inside_of_a_function
from graphc.training.data.late import LateSeed
from graphc.training.data.nodes.maps import NamedRows
from graphc.training.data.nodes.mixing import plan_in
from graphc.training.data.plan import Epoch, NodeReader, PlanNode
from graphc.training.data.sources import INFINITE, Cardinality, State

# Nodes that depend on earlier elements: scan, unique, rejection_resample; and one that skips elements with errors.

# Rows whose position is their count: to restore it, they are read again from the start.


class Replayed(NodeReader):
    """Rows whose state is too large to save, such as all elements seen so far: restoring reads them again."""

    def __init__(self, *inputs: NodeReader) -> None:
        super().__init__(*inputs)
        self.given = 0

    @abstractmethod
    def read(self) -> Row:
        """Returns the next row."""

    def __next__(self) -> Row:
        row = self.read()
        self.given += 1
        return row

    def state(self) -> State:
        return {"given": self.given}

    def restore(self, state: State) -> None:
        for _ in range(state["given"]):
            next(self)


class LookingBack(NodeReader):
    """Rows that hold some of the last rows of their input: their position is the one before the first of these."""

    def __init__(self, rows: NodeReader) -> None:
        super().__init__(rows)
        self.held: deque[Any] = deque()
        self._marks: deque[State] = deque()

    def hold(self) -> bool:
        """Reads one more row; returns False at the end."""
        mark = self.input.state()
        row = next(self.input, None)
        if row is None:
            return False
        self.held.append(row)
        self._marks.append(mark)
        return True

    def let_go(self) -> None:
        """Forgets the first row."""
        self.held.popleft()
        self._marks.popleft()

    def state(self) -> State:
        if not self._marks:
            return super().state()
        return {**super().state(), "inputs": [self._marks[0]]}


class _Scanned(NamedRows):
    counters = ("number", "carry")

    def __init__(self, node: Scan, rows: NodeReader) -> None:
        super().__init__(node.function, rows)
        self._initial, self.carry = node.initial, list(node.initial)

    def __next__(self) -> Row:
        row = next(self.input)
        self.number += 1
        try:
            outputs = self.function.row((*self.carry, *row))
        except Exception as error:
            self.note(error)
            raise
        self.carry = list(outputs[: len(self.carry)])
        return outputs[len(self.carry) :]

    def state(self) -> State:
        return {**super().state(), "carry": [_listed(leaf) for leaf in self.carry]}

    def restore(self, state: State) -> None:
        super().restore(state)
        pairs = zip(self.carry, self._initial, strict=True)
        self.carry = [_unlisted(value, np.asarray(leaf).dtype) for value, leaf in pairs]


def _decoded(item: bytes) -> str:
    return item.decode("latin-1")


def _encoded(item: str) -> bytes:
    return item.encode("latin-1")


_texts: Any = np.vectorize(_decoded, otypes=[object])
_bytes: Any = np.vectorize(_encoded, otypes=[object])


def _listed(leaf: Any) -> Any:
    """Converts a leaf to a JSON value; strings become text with one character per byte."""
    if isinstance(leaf, bytes):
        return _decoded(leaf)
    array = np.asarray(leaf)
    return (_texts(array) if array.dtype == object else array).tolist()


def _unlisted(value: Any, dtype: Any) -> Any:
    return _bytes(np.asarray(value, object))[()] if dtype.kind in "OS" else np.asarray(value, dtype)[()]


@dataclass(frozen=True, eq=False)
class Scan(PlanNode):
    """A function applied to each element and to a state, which it updates."""

    word = "scan"
    source: PlanNode
    initial: Row
    function: UserFunction  # maps a state and an element to the next state and an element

    @cached_property
    def spec(self) -> Any:
        return self.function.spec[1]

    def open(self, epoch: Epoch) -> NodeReader:
        return _Scanned(self, self.input.open(epoch))

    def __str__(self) -> str:
        return f"scan(function={self.function})"


class _Unique(Replayed):
    def __init__(self, rows: NodeReader) -> None:
        super().__init__(rows)
        self._seen: set[Any] = set()

    def read(self) -> Row:
        while True:
            row = next(self.input)
            key = tuple([leaf if isinstance(leaf, bytes) else _key(leaf) for leaf in row])
            if key not in self._seen:
                self._seen.add(key)
                return row


def _key(leaf: Any) -> Any:
    array = np.asarray(leaf)
    return (array.shape, array.tobytes() if array.dtype.kind != "O" else tuple(array.flat))


@dataclass(frozen=True, eq=False)
class UniqueElements(PlanNode):
    """The elements that did not come before."""

    word = "unique"
    changes_count = True
    source: PlanNode

    def open(self, epoch: Epoch) -> NodeReader:
        return _Unique(self.input.open(epoch))


class _Resampled(Replayed):
    def __init__(self, node: RejectionResample, rows: NodeReader, random: np.random.Generator) -> None:
        super().__init__(rows)
        self._node, self._random = node, random
        self._target = np.asarray(node.target)
        self._counts = np.ones(len(node.target)) if node.initial is None else np.asarray(node.initial)

    def read(self) -> Row:
        while True:
            row = next(self.input)
            label = self._node.function.value(row)
            if self._node.initial is None:
                self._counts[int(label)] += 1
            wanted = self._target / np.maximum(self._counts / self._counts.sum(), 1e-12)
            if self._random.random() * wanted.max() < wanted[int(label)]:
                return (label, *row)


@dataclass(frozen=True, eq=False)
class RejectionResample(PlanNode):
    """Pairs of a class and an element; elements are dropped so that the classes have the target frequencies."""

    word = "rejection_resample"
    changes_count = True
    source: PlanNode
    function: UserFunction
    target: tuple[float, ...]
    initial: tuple[float, ...] | None
    seed: int | LateSeed

    @cached_property
    def spec(self) -> Any:
        (leaf,) = flatten(self.function.spec)[0]
        return (TensorSpec((), leaf.dtype), self.input.spec)

    def open(self, epoch: Epoch) -> NodeReader:
        return _Resampled(self, self.input.open(epoch), Epoch().random(self.seed))


class _Ignored(NodeReader):
    counters = ("dropped",)

    def __init__(self, rows: NodeReader, log: bool) -> None:
        super().__init__(rows)
        self._log, self.dropped = log, 0

    def __next__(self) -> Row:
        while True:
            try:
                return next(self.input)
            except StopIteration:
                if self._log and self.dropped:
                    logs.logger().warning("ignore_errors dropped %d elements of a dataset", self.dropped)
                raise
            except Exception as error:
                self.dropped += 1
                if self._log:
                    notes = "; ".join(note.partition("\n")[0] for note in getattr(error, "__notes__", ()))
                    what = f"{type(error).__name__}: {error}" + (f" ({notes})" if notes else "")
                    logs.logger().warning("ignore_errors dropped element %d: %s", self.dropped, what)


@dataclass(frozen=True, eq=False)
class IgnoreErrors(PlanNode):
    """The elements that can be computed."""

    word = "ignore_errors"
    changes_count = True
    source: PlanNode
    log: bool

    def open(self, epoch: Epoch) -> NodeReader:
        return _Ignored(self.input.open(epoch), self.log)


class _HeldRows(NodeReader):
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
class Held(PlanNode):
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

    def open(self, epoch: Epoch) -> NodeReader:
        return _HeldRows(self.rows)


class _Windows(LookingBack):
    counters = ("skipped",)
    skipped = 0

    def __init__(self, node: Window, rows: NodeReader) -> None:
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
class Window(PlanNode):
    """Datasets of consecutive elements, one for each leaf. ``make``: a function from a plan to a dataset."""

    word = "window"
    source: PlanNode
    size: int
    shift: int
    stride: int
    drop_remainder: bool
    make: Callable[[PlanNode], Any] = field(repr=False)

    @cached_property
    def spec(self) -> Any:
        leaves, structure = flatten(self.input.spec)
        return unflatten(structure, [DatasetSpec(leaf) for leaf in leaves])

    @cached_property
    def cardinality(self) -> Cardinality:
        length, span = self.input.cardinality, (self.size - 1) * self.stride + 1
        if length is None or length == INFINITE:
            return length
        most = int(length) - span if self.drop_remainder else int(length) - 1
        return 0 if most < 0 else most // self.shift + 1

    def open(self, epoch: Epoch) -> NodeReader:
        return _Windows(self, self.input.open(epoch))


class _Grouped(Replayed):
    def __init__(self, node: GroupByWindow, rows: NodeReader, epoch: Epoch) -> None:
        super().__init__(rows)
        self._node, self._epoch = node, epoch
        self._groups: dict[int, list[Row]] = {}
        self._sizes: dict[int, int] = {}
        self._windows = 0
        self._open: NodeReader | None = None

    def read(self) -> Row:
        while True:
            for row in self._open or ():
                return row
            self._open = None
            pair = self._next_group()
            if pair is None:
                raise StopIteration
            key, rows = pair
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
        window: Any = self._node.window_size
        size = int(window if isinstance(window, int) else window(np.asarray(key)[()]))
        if size < 1:
            raise InvalidArgumentError(
                f"{self._node.word}: the window size for key {key} is {size}, expected 1 or more"
            ).at(self._node.key.location)
        return size


@dataclass(frozen=True, eq=False)
class GroupByWindow(PlanNode):
    """Groups of elements with the same key, each made into a dataset by a function."""

    word = "group_by_window"
    changes_count = True
    slow = True
    source: PlanNode
    key: UserFunction
    reduce: UserFunction
    window_size: Callable[[Any], Any] | int | None  # the elements in a group, or a function of the key
    make: Callable[[PlanNode], Any] = field(repr=False)

    @cached_property
    def spec(self) -> Any:
        rows = self.input.open(Epoch())
        row = next(rows, None)
        rows.close()
        group = self.make(Held(() if row is None else (row,), self.input.spec))
        return plan_in(self.reduce.function(np.asarray(0)[()], group), self.reduce).spec

    def open(self, epoch: Epoch) -> NodeReader:
        return _Grouped(self, self.input.open(epoch), epoch)
