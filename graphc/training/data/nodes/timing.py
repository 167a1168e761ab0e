"""Timing of each transformation."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from graphc.training.data.elements import Block, Row, size_of
from graphc.training.data.plan import Epoch, Node, Rows, replaced
from graphc.training.data.sources import Cardinality, State

__all__ = ["Record", "Timed", "timed"]


@dataclass
class Record:
    """The measurements of one node.

    Attributes:
      name: the node.
      seconds: the time that it took, including its inputs.
      elements: the number of rows that it produced.
      inputs: the measurements of its inputs.
    """

    name: str
    inputs: list[Record]
    seconds: float = 0.0
    elements: int = 0

    @property
    def own_seconds(self) -> float:
        """Returns the time without its inputs, or without waiting for a thread that reads them."""
        return max(0.0, self.seconds - sum(record.seconds for record in self.inputs))


class _TimedRows(Rows):
    def __init__(self, rows: Rows, record: Record) -> None:
        super().__init__(rows)
        self._record = record

    def __next__(self) -> Row:
        start = time.perf_counter()
        try:
            row = next(self.input)
            self._record.elements += 1
            return row
        finally:
            self._record.seconds += time.perf_counter() - start

    def block(self, count: int) -> Block | None:
        start = time.perf_counter()
        found = self.input.block(count)
        self._record.seconds += time.perf_counter() - start
        self._record.elements += 0 if found is None else size_of(found)
        return found

    def state(self) -> State:
        return self.input.state()

    def restore(self, state: State) -> None:
        self.input.restore(state)


@dataclass(frozen=True, eq=False)
class Timed(Node):
    """The same elements, with their time measured."""

    word = "timed"
    source: Node
    record: Record = field(repr=False)

    @cached_property
    def cardinality(self) -> Cardinality:
        return self.input.cardinality

    @cached_property
    def spec(self) -> Any:
        return self.input.spec

    @cached_property
    def columnar(self) -> bool:
        return self.input.columnar

    def open(self, epoch: Epoch) -> Rows:
        return _TimedRows(self.input.open(epoch), self.record)


def timed(node: Node) -> Timed:
    """Returns a plan that measures the time of each of its nodes."""
    inner: list[Record] = []

    def measured(child: Node) -> Node:
        found = timed(child)
        inner.append(found.record)
        return found

    name = str(node)
    node = replaced(node, measured)
    return Timed(node, Record(name, inner))
