"""Layout: the server of each row of each Variable, and its place in the server's buffers."""

from __future__ import annotations

import math
import secrets
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from graphc.compiler.base.errors import FailedPreconditionError
from graphc.compiler.core import Variable


@dataclass(frozen=True)
class RowRange:
    """Adjacent rows of a Variable."""

    name: str
    row: int
    rows: int  # the number of rows; 1 for a Variable without axes
    width: int
    offset: int

    @property
    def size(self) -> int:
        """The number of its elements."""
        return self.rows * self.width


@dataclass(frozen=True)
class Buffer:
    """A flat buffer of a server: all of its pieces with the same dtype that are trained in the same way."""

    dtype: Any
    pieces: tuple[RowRange, ...]

    @property
    def size(self) -> int:
        """The number of its elements."""
        return sum(piece.size for piece in self.pieces)


class ShardLayout:
    """Assigns Variables to servers, largest first, each to the server with the fewest bytes.

    Args:
      split: the size in bytes above which a Variable is split by rows into pieces of at most that size; None for no
        limit.
    """

    def __init__(self, variables: Iterable[Variable], servers: int, split: int | None = None) -> None:
        self.variables = {variable.name: variable for variable in variables}
        self.shapes = {name: variable.shape for name, variable in self.variables.items()}
        split = split if servers > 1 else None
        parts = [part for variable in self.variables.values() for part in _parts(variable, split)]
        loads = [0] * servers
        placed: list[dict[tuple[Any, bool], list[RowRange]]] = [{} for _ in range(servers)]
        for key, piece in sorted(parts, key=lambda part: -part[1].size * part[0][0].itemsize):
            server = loads.index(min(loads))
            loads[server] += piece.size * key[0].itemsize
            pieces = placed[server].setdefault(key, [])
            offset = pieces[-1].offset + pieces[-1].size if pieces else 0
            pieces.append(replace(piece, offset=offset))
        self.servers = [[Buffer(dtype, tuple(pieces)) for (dtype, _), pieces in buffers.items()] for buffers in placed]
        self.bytes = [sum(buffer.size * buffer.dtype.itemsize for buffer in buffers) for buffers in self.servers]

    def cut(self, server: int, arrays: Mapping[str, Any]) -> dict[int, tuple[Any, list[tuple[Any, int]] | None]]:
        """Returns the message for a server: for each buffer the numbers, and the elements that they are for."""
        message: dict[int, tuple[Any, list[tuple[Any, int]] | None]] = {}
        for index, buffer in enumerate(self.servers[server]):
            there = [piece for piece in buffer.pieces if piece.name in arrays]
            if there:
                flats = [_rows(arrays[piece.name], piece).astype(buffer.dtype) for piece in there]
                complete = len(there) == len(buffer.pieces)
                cover = None if complete else [(np.array([piece.offset]), piece.size) for piece in there]
                message[index] = (flats[0] if len(flats) == 1 else jnp.concatenate(flats)), cover
        return message

    def join(self, names: Iterable[str], pulled: Sequence[Mapping[int, Any]]) -> dict[str, Any]:
        """Joins the buffers of all servers into whole Variables."""
        pieces: dict[str, list[tuple[int, Any]]] = {name: [] for name in names}
        for server, buffers in enumerate(self.servers):
            for index, buffer in enumerate(buffers):
                for piece in buffer.pieces:
                    if piece.name in pieces:
                        flat = pulled[server][index][piece.offset : piece.offset + piece.size]
                        pieces[piece.name].append((piece.row, flat))
        joined: dict[str, Any] = {}
        for name, parts in pieces.items():
            flats = [flat for _, flat in sorted(parts, key=lambda part: part[0])]
            joined[name] = (flats[0] if len(flats) == 1 else jnp.concatenate(flats)).reshape(self.shapes[name])
        return joined

    def start_of(self, server: int) -> list[np.ndarray[Any, Any]]:
        """Returns a server's initial buffers: the current values of the Variables."""
        return [
            np.concatenate([np.asarray(_rows(self.variables[piece.name].numpy(), piece)) for piece in buffer.pieces])
            for buffer in self.servers[server]
        ]


def _parts(variable: Variable, split: int | None) -> list[tuple[tuple[Any, bool], RowRange]]:
    rows = variable.shape[0] if variable.shape else 1
    width = math.prod(variable.shape[1:])
    key = variable.dtype, variable.trainable and variable.type.is_inexact
    most = rows
    if split is not None and rows:
        most = max(1, split // max(1, width * variable.dtype.itemsize))
    starts = range(0, max(rows, 1), max(most, 1))
    return [(key, RowRange(variable.name, start, min(most, rows - start), width, 0)) for start in starts]


def _rows(array: Any, piece: RowRange) -> Any:
    return array.reshape(-1)[piece.row * piece.width : piece.row * piece.width + piece.size]


# Programs that travel between tasks: identified by a key inside a process, as StableHLO between processes.


class SharedProgram:
    """A function of JAX arrays that other tasks run.

    Inside a process, it is passed as it is. Pickling exports it with ``jax.export``: the resulting StableHLO needs none
    of the user's code to run.

    Args:
      types: the types of its arguments, or a function that returns them; shapes may have symbols of ``jax.export``.
    """

    def __init__(self, function: Callable[..., Any], types: Any, key: str = "", content: bytes = b"") -> None:
        self.key = key or secrets.token_hex(8)
        self._types, self._content = types, content
        self.compiled: Any = jax.jit(function)
        _running[self.key] = self

    def __reduce__(self) -> Any:
        if not self._content:
            try:
                from jax import export

                types: Any = self._types() if callable(self._types) else self._types
                self._content = bytes(export.export(self.compiled)(*types).serialize())
            except ImportError as error:
                raise FailedPreconditionError(
                    f"a program cannot go to another process: {error}: pip install 'graphc[cluster]'"
                ) from error
        return _restored, (self.key, self._content)


_running: weakref.WeakValueDictionary[str, SharedProgram] = weakref.WeakValueDictionary()
"""The programs of this process, by key."""


def _restored(key: str, content: bytes) -> SharedProgram:
    program = _running.get(key)
    if program is None:
        from jax import export

        exported: Any = export.deserialize(bytearray(content))
        program = SharedProgram(exported.call, (), key, content)
    return program
