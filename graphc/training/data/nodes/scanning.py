"""Nodes that depend on earlier elements: scan, unique, rejection_resample; and one that skips elements with errors."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphc.compiler.base import logs
from graphc.compiler.function import TensorSpec
from graphc.training.data.elements import Row, flatten
from graphc.training.data.functions import UserFunction
from graphc.training.data.late import LateSeed
from graphc.training.data.nodes.maps import Noted
from graphc.training.data.plan import Epoch, Node, Rows
from graphc.training.data.sources import Cardinality, State

__all__ = ["IgnoreErrors", "LookingBack", "RejectionResample", "Replayed", "Scan", "Unique"]

# Rows whose position is their count: to restore it, they are read again from the start.


class Replayed(Rows):
    """Rows whose state is too large to save, such as all elements seen so far: restoring reads them again."""

    def __init__(self, *inputs: Rows) -> None:
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


class LookingBack(Rows):
    """Rows that hold some of the last rows of their input: their position is the one before the first of these."""

    def __init__(self, rows: Rows) -> None:
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


class _Scanned(Noted):
    counters = ("number", "carry")

    def __init__(self, node: Scan, rows: Rows) -> None:
        super().__init__(node.function, rows)
        self._initial, self.carry = node.initial, list(node.initial)

    def __next__(self) -> Row:
        row = next(self.input)
        self.number += 1
        try:
            found = self.function.row((*self.carry, *row))
        except Exception as error:
            self.note(error)
            raise
        self.carry = list(found[: len(self.carry)])
        return found[len(self.carry) :]

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
class Scan(Node):
    """A function applied to each element and to a state, which it updates.

    Attributes:
      initial: the leaves of the first state.
      function: maps a state and an element to the next state and an element.
    """

    word = "scan"
    source: Node
    initial: Row
    function: UserFunction

    @cached_property
    def spec(self) -> Any:
        return self.function.spec[1]

    def open(self, epoch: Epoch) -> Rows:
        return _Scanned(self, self.input.open(epoch))

    def __str__(self) -> str:
        return f"scan(function={self.function})"


class _Unique(Replayed):
    def __init__(self, rows: Rows) -> None:
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
class Unique(Node):
    """The elements that did not come before."""

    word = "unique"
    source: Node

    @cached_property
    def cardinality(self) -> Cardinality:
        return 0 if self.input.cardinality == 0 else None

    def open(self, epoch: Epoch) -> Rows:
        return _Unique(self.input.open(epoch))


class _Resampled(Replayed):
    def __init__(self, node: RejectionResample, rows: Rows, random: np.random.Generator) -> None:
        super().__init__(rows)
        self._node, self._random = node, random
        self._target = np.asarray(node.target)
        self._counts = np.ones(len(node.target)) if node.initial is None else np.asarray(node.initial)

    def read(self) -> Row:
        while True:
            row = next(self.input)
            place = self._node.function.value(row)
            if self._node.initial is None:
                self._counts[int(place)] += 1
            wanted = self._target / np.maximum(self._counts / self._counts.sum(), 1e-12)
            if self._random.random() * wanted.max() < wanted[int(place)]:
                return (place, *row)


@dataclass(frozen=True, eq=False)
class RejectionResample(Node):
    """Pairs of a class and an element; elements are dropped so that the classes have the target frequencies."""

    word = "rejection_resample"
    source: Node
    function: UserFunction
    target: tuple[float, ...]
    initial: tuple[float, ...] | None
    seed: int | LateSeed

    @cached_property
    def spec(self) -> Any:
        (leaf,) = flatten(self.function.spec)[0]
        return (TensorSpec((), leaf.dtype), self.input.spec)

    @cached_property
    def cardinality(self) -> Cardinality:
        return 0 if self.input.cardinality == 0 else None

    def open(self, epoch: Epoch) -> Rows:
        return _Resampled(self, self.input.open(epoch), Epoch().random(self.seed))


class _Ignored(Rows):
    counters = ("dropped",)

    def __init__(self, rows: Rows, log: bool) -> None:
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
class IgnoreErrors(Node):
    """The elements that can be computed."""

    word = "ignore_errors"
    source: Node
    log: bool

    @cached_property
    def cardinality(self) -> Cardinality:
        return 0 if self.input.cardinality == 0 else None

    def open(self, epoch: Epoch) -> Rows:
        return _Ignored(self.input.open(epoch), self.log)
