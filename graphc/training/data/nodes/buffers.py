"""Nodes that keep elements: shuffle buffers and caches."""

from __future__ import annotations

import itertools
import json
import os
import struct
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np

from graphc.compiler.base.errors import DataLossError
from graphc.compiler.core import as_dtype
from graphc.compiler.function import TensorSpec
from graphc.training.data.elements import Block, Row, size_of
from graphc.training.data.late import LateSeed, Runs
from graphc.training.data.plan import Epoch, NodeReader, PlanNode, full_block
from graphc.training.data.sources import State

_SKIPPED_AT_ONCE = 4096


class _Shuffled(NodeReader):
    def __init__(self, node: Shuffle, rows: NodeReader, random: np.random.Generator) -> None:
        super().__init__(rows)
        self._size, self._random = node.buffer_size, random
        self._given = 0
        self._filled = False
        self._rest: list[Any] | None = None
        self._buffer: Any = []

    def _drain(self, left: Any) -> None:
        order = self._random.permutation(len(left))
        self._rest = [left[index] for index in order[::-1].tolist()] if isinstance(left, list) else left[order]
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
                chosen, self._buffer[slot] = self._buffer[slot], row
                self._given += 1
                return chosen
            self._drain(self._buffer)
        assert self._rest is not None
        if not self._rest:
            raise StopIteration
        self._given += 1
        return self._rest.pop()


class _ShuffledNumbers(_Shuffled):
    """A column of numbers, in blocks; the same order as for rows."""

    def __next__(self) -> Row:
        block = self.block(1)
        if block is None:
            raise StopIteration
        return (block[0][0],)

    def block(self, count: int) -> Block | None:
        if not self._filled:
            numbers = full_block(self.input, self._size)
            self._buffer = np.empty(0, int) if numbers is None else np.array(numbers[0])
            self._filled = True
            if len(self._buffer) < self._size:
                self._drain(self._buffer)
        if self._rest is None:
            numbers = full_block(self.input, count)
            if numbers is not None:
                self._given += size_of(numbers)
                return (self._exchanged(numbers[0]),)
            self._drain(self._buffer)
        rest: Any = self._rest
        taken, self._rest = rest[:count], rest[count:]
        self._given += len(taken)
        return (taken,) if len(taken) else None

    def _exchanged(self, incoming: Any) -> Any:
        """Puts numbers into the buffer one after the other, and returns the numbers that they replace."""
        # A slot that is drawn twice returns, the second time, the number put there before.
        slots = (self._random.random(len(incoming)) * self._size).astype(np.int64)
        order = np.argsort(slots, kind="stable")
        again = slots[order[1:]] == slots[order[:-1]]
        outgoing = self._buffer[slots]
        outgoing[order[1:][again]] = incoming[order[:-1][again]]
        self._buffer[slots] = incoming
        return outgoing

    def _skip(self, count: int) -> None:
        while count:
            block = self.block(min(count, _SKIPPED_AT_ONCE))
            if block is None:
                return
            count -= size_of(block)


@dataclass(frozen=True, eq=False)
class Shuffle(PlanNode):
    """The elements in random order. ``runs``: counts how often a dataset with this shuffle was iterated."""

    word = "shuffle"
    source: PlanNode
    buffer_size: int
    seed: int | LateSeed
    reshuffle_each_iteration: bool = True
    runs: Iterator[int] = field(default_factory=Runs, repr=False)

    @cached_property
    def columnar(self) -> bool:
        spec = self.input.spec
        return self.input.columnar and isinstance(spec, TensorSpec) and spec.shape == () and not spec.of_strings

    def open(self, epoch: Epoch) -> NodeReader:
        random = epoch.random(self.seed) if self.reshuffle_each_iteration else Epoch().random(self.seed)
        rows = self.input.open(epoch)
        return (_ShuffledNumbers if self.columnar else _ShuffledRows)(self, rows, random)


class ElementCache:
    """The elements of a first pass, for later passes."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.complete = False
        self.filling = threading.Lock()


class _Cached(NodeReader):
    """Returns the stored elements, or fills the store from the start; a second concurrent reader reads for itself."""

    def __init__(self, node: Cache) -> None:
        super().__init__()
        self._store, self._node, self.place = node.store, node, 0
        self._fills = not self._store.complete and self._store.filling.acquire(blocking=False)
        if self._fills:
            self._store.rows.clear()
        self.inputs = [] if self._store.complete else [node.input.open(Epoch())]

    def __next__(self) -> Row:
        if not self.inputs:
            if self.place >= len(self._store.rows):
                raise StopIteration
            row = self._store.rows[self.place]
        else:
            element = next(self.input, None)
            if element is None:
                self._store.complete = self._store.complete or self._fills
                self._let_go()
                raise StopIteration
            row = tuple([np.asarray(leaf) if hasattr(leaf, "devices") else leaf for leaf in element])
            if self._fills:
                self._store.rows.append(row)
        self.place += 1
        return row

    def _let_go(self) -> None:
        if self._fills:
            self._store.filling.release()
        self._fills = False

    def state(self) -> State:
        return {"place": self.place, **super().state()}

    def restore(self, state: State) -> None:
        if not self.inputs:
            self.place = state["place"]
        elif "inputs" in state and not state["place"]:
            super().restore(state)
        else:
            for _ in range(state["place"]):
                next(self, None)

    def close(self) -> None:
        self._let_go()
        super().close()


@dataclass(frozen=True, eq=False)
class Cache(PlanNode):
    """The elements of the first pass, kept in memory for the others."""

    word = "cache"
    source: PlanNode
    store: ElementCache = field(default_factory=ElementCache, repr=False)

    def open(self, epoch: Epoch) -> NodeReader:
        return _Cached(self)


class _FromFile(NodeReader):
    counters = ("at", "place")

    def __init__(self, path: str) -> None:
        super().__init__()
        self._file: BinaryIO = open(path, "rb")  # noqa: SIM115  closed by close()
        self.at = self.place = 0

    def __next__(self) -> Row:
        row = read_row(self._file)
        if row is None:
            raise StopIteration
        self.at, self.place = self._file.tell(), self.place + 1
        return row

    def restore(self, state: State) -> None:
        if "at" in state:
            super().restore(state)
            self._file.seek(self.at)
        else:
            for _ in range(state["place"]):
                next(self)

    def close(self) -> None:
        self._file.close()


class _ToFile(NodeReader):
    """Writes the elements to a file of its own, and renames it at the end."""

    def __init__(self, rows: NodeReader, path: str) -> None:
        super().__init__(rows)
        self._path, self._own = path, f"{path}.{os.getpid()}-{threading.get_ident()}-{id(self)}"
        os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
        self._file: BinaryIO | None = open(self._own, "wb")  # noqa: SIM115  closed by close()
        self.place = 0

    def __next__(self) -> Row:
        row = next(self.input, None)
        if row is None:
            if self._file is not None:
                self._file.write(_LENGTH.pack(_END))
                self._file.close()
                self._file = None
                os.replace(self._own, self._path)
            raise StopIteration
        if self._file is not None:
            write_row(self._file, row)
        self.place += 1
        return row

    def state(self) -> State:
        return {"place": self.place}

    def restore(self, state: State) -> None:
        for _ in range(state["place"]):
            next(self)

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None
            os.remove(self._own)
        super().close()


@dataclass(frozen=True, eq=False)
class FileCache(PlanNode):
    """The elements of the first pass, kept in a file for the others and for other programs."""

    word = "cache"
    slow = True
    source: PlanNode
    path: str

    def open(self, epoch: Epoch) -> NodeReader:
        return _FromFile(self.path) if os.path.exists(self.path) else _ToFile(self.input.open(Epoch()), self.path)


_LENGTH = struct.Struct("<q")
_END = -1


def write_row(file: BinaryIO, row: Row) -> None:
    """Writes a row: a JSON header with dtypes and shapes, then the bytes of the leaves."""
    header: list[Any] = []
    parts: list[bytes] = []
    for leaf in row:
        if isinstance(leaf, bytes):
            header.append(["bytes", [], [len(leaf)]])
            parts.append(leaf)
        elif leaf.dtype.kind == "O":
            header.append(["bytes", leaf.shape, [len(text) for text in leaf.flat]])
            parts += leaf.flat
        else:
            array = np.asarray(leaf)
            header.append([array.dtype.name, array.shape, array.nbytes])
            parts.append(array.tobytes())
    text = json.dumps(header).encode()
    file.write(_LENGTH.pack(len(text)) + text + b"".join(parts))


def read_row(file: BinaryIO) -> Row | None:
    """Returns the next row of a file; None at its end."""
    (length,) = _LENGTH.unpack(_exactly(file, _LENGTH.size))
    if length == _END:
        return None
    leaves: list[Any] = []
    for dtype, shape, size in json.loads(_exactly(file, length)):
        if dtype != "bytes":
            leaves.append(np.frombuffer(_exactly(file, size), as_dtype(dtype)).reshape(shape))
            continue
        texts = [_exactly(file, count) for count in size]
        column = np.empty(len(texts), object)
        column[:] = texts
        leaves.append(column.reshape(shape) if shape else texts[0])
    return tuple(leaves)


def _exactly(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) != count:
        where = f"at byte {file.tell() - len(data)}: {len(data)} of {count} bytes are there"
        raise DataLossError(
            f"cache: the file {file.name!r} is truncated {where}; remove it, so that it is written again"
        )
    return data
