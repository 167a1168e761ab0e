"""Shuffles: each element is drawn at random from a buffer.

The order depends only on the seed and the epoch, so a position is a count: to restore it, the shuffle draws again. A
plan shuffles row numbers where it can (see :mod:`graphc.data.passes`), so that this costs almost nothing.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from graphc.compiler.function import TensorSpec
from graphc.training.data.buffered import full_block
from graphc.training.data.elements import Block, Row, size_of
from graphc.training.data.late import LateSeed, Runs
from graphc.training.data.plan import Epoch, Node, Rows
from graphc.training.data.sources import State

__all__ = ["Shuffle"]

_SKIPPED_AT_ONCE = 4096


class _Shuffled(Rows):
    def __init__(self, node: Shuffle, rows: Rows, random: np.random.Generator) -> None:
        super().__init__(rows)
        self._size, self._random = node.buffer_size, random
        self._given = 0
        self._filled = False
        self._rest: list[Any] | None = None
        self._buffer: Any = []

    def _drain(self, left: Any) -> None:
        order = self._random.permutation(len(left))
        self._rest = [left[place] for place in order[::-1].tolist()] if isinstance(left, list) else left[order]
        self._buffer = None

    def state(self) -> State:
        return {"given": self._given}

    def restore(self, state: State) -> None:
        self._skip(state["given"])

    def _skip(self, count: int) -> None:
        for _ in range(count):
            next(self)


class _ShuffledRows(_Shuffled):
    """Rows of any kind, one by one."""

    def __next__(self) -> Row:
        if not self._filled:
            self._buffer = list(itertools.islice(self.input, self._size))
            self._filled = True
            if len(self._buffer) < self._size:
                self._drain(self._buffer)
        if self._rest is None:
            for row in self.input:
                slot = int(self._random.random() * self._size)
                found, self._buffer[slot] = self._buffer[slot], row
                self._given += 1
                return found
            self._drain(self._buffer)
        assert self._rest is not None
        if not self._rest:
            raise StopIteration
        self._given += 1
        return self._rest.pop()


class _ShuffledNumbers(_Shuffled):
    """A column of numbers, in blocks; the same order as for rows."""

    def __next__(self) -> Row:
        found = self.block(1)
        if found is None:
            raise StopIteration
        return (found[0][0],)

    def block(self, count: int) -> Block | None:
        if not self._filled:
            found = full_block(self.input, self._size)
            self._buffer = np.empty(0, int) if found is None else np.array(found[0])
            self._filled = True
            if len(self._buffer) < self._size:
                self._drain(self._buffer)
        if self._rest is None:
            found = full_block(self.input, count)
            if found is not None:
                self._given += size_of(found)
                return (self._exchanged(found[0]),)
            self._drain(self._buffer)
        rest: Any = self._rest
        given, self._rest = rest[:count], rest[count:]
        self._given += len(given)
        return (given,) if len(given) else None

    def _exchanged(self, incoming: Any) -> Any:
        """Puts numbers into the buffer one after the other, and returns the numbers that they replace.

        A slot that is drawn twice returns, the second time, the number put there before.
        """
        slots = (self._random.random(len(incoming)) * self._size).astype(np.int64)
        order = np.argsort(slots, kind="stable")
        again = slots[order[1:]] == slots[order[:-1]]
        found = self._buffer[slots]
        found[order[1:][again]] = incoming[order[:-1][again]]
        self._buffer[slots] = incoming
        return found

    def _skip(self, count: int) -> None:
        while count:
            found = self.block(min(count, _SKIPPED_AT_ONCE))
            if found is None:
                return
            count -= size_of(found)


@dataclass(frozen=True, eq=False)
class Shuffle(Node):
    """The elements in random order.

    Attributes:
      buffer_size: the number of elements that the next one is drawn from.
      seed: the seed of the order.
      reshuffle_each_iteration: whether each pass has a different order.
      runs: counts how often a dataset with this shuffle was iterated.
    """

    word = "shuffle"
    source: Node
    buffer_size: int
    seed: int | LateSeed
    reshuffle_each_iteration: bool = True
    runs: Iterator[int] = field(default_factory=Runs, repr=False)

    @cached_property
    def columnar(self) -> bool:
        spec = self.input.spec
        return self.input.columnar and isinstance(spec, TensorSpec) and spec.shape == () and not spec.of_strings

    def open(self, epoch: Epoch) -> Rows:
        random = epoch.random(self.seed) if self.reshuffle_each_iteration else Epoch().random(self.seed)
        rows = self.input.open(epoch)
        return (_ShuffledNumbers if self.columnar else _ShuffledRows)(self, rows, random)
