"""Several small batches at once: a map before or after a batch runs as one program for several batches.

It reads no further ahead than the available rows; see :attr:`graphc.data.plan.Node.columnar`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphc.compiler.function import TensorSpec
from graphc.training.data.buffered import Ahead
from graphc.training.data.elements import Block, Row, flatten, row_bytes, size_of, stacked
from graphc.training.data.functions import UserFunction
from graphc.training.data.nodes.batching import Batch
from graphc.training.data.nodes.maps import Map, add_note
from graphc.training.data.plan import Epoch, Node, Rows
from graphc.training.data.sources import State

__all__ = ["batched_maps", "mapped_batches"]

_BATCHES_AT_ONCE, _BYTES_AT_ONCE = 16, 2**18


def batched_maps(node: Batch, epoch: Epoch) -> Rows | None:
    """Returns batches of a program's results for rows; None if making several at once does not pay."""
    inner = node.source
    if not isinstance(inner, Map) or inner.function.mode != "blocks" or inner.workers:
        return None
    at_once = _at_once(inner.spec, node.batch_size)
    return _MappedRows(node, inner.function, inner.source, epoch, at_once) if at_once > 1 else None


def mapped_batches(node: Map, epoch: Epoch) -> Rows | None:
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


class _AtOnce(Rows):
    """Batches, several of which are made at once.

    Args:
      node: the batches.
      function: the function that makes the rows, or is called for each batch.
      source: the rows that it reads.
      epoch: the epoch of the rows.
      at_once: the maximum number of batches to make at once.
    """

    counters = ("number",)

    def __init__(self, node: Batch, function: UserFunction, source: Node, epoch: Epoch, at_once: int) -> None:
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
            found = self._taken(self._size * count)
            try:
                return self.several(found)
            except Exception:
                if not self._function.takes_strings:
                    raise
                self.back(self._size * count)
                self._singly = count
        self._singly -= 1 if self._singly else 0
        return [self.one(self._taken(self._size))]

    def _taken(self, count: int) -> Block:
        rows: Any = self.input
        found = rows.block(count)
        self.number += size_of(found)
        return found

    def back(self, count: int) -> None:
        """Puts back rows, to read them again."""
        rows: Any = self.input
        rows.back(count)
        self.number -= count

    def several(self, found: Block) -> list[Row]:
        """Returns the batches of these rows."""
        raise NotImplementedError

    def one(self, found: Block) -> Row:
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

    def several(self, found: Block) -> list[Row]:
        return self._function.split(found, self._size)

    def one(self, found: Block) -> Row:
        try:
            return self._function.block(found, self._size if self._function.takes_strings else 0)
        except Exception:
            if not self._function.takes_strings:
                raise
        made: list[Row] = []
        try:
            for row in self._function.each(found):
                made.append(row)  # noqa: PERF402  keeps the rows before an error
        except Exception as error:
            self.back(size_of(found) - len(made) - 1)
            add_note(error, self._function, self.number - 1)
            raise
        return stacked(made)


class _MappedBatches(_AtOnce):
    """The results of a function that is called with batches."""

    def several(self, found: Block) -> list[Row]:
        return self._function.split(
            tuple([np.asarray(column).reshape(-1, self._size, *column.shape[1:]) for column in found])
        )

    def one(self, found: Block) -> Row:
        try:
            return self._function.row(found)
        except Exception as error:
            add_note(error, self._function, (self.number - 1) // self._size)
            raise
