"""Layout: the server of each row of each Variable, and its place in the server's buffers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import numpy as np

from graphc.compiler.core import Variable

__all__ = ["Buffer", "Layout", "Piece"]


@dataclass(frozen=True)
class Piece:
    """Adjacent rows of a Variable.

    Attributes:
      name: the name of the Variable.
      row: the first of the rows.
      rows: the number of rows; 1 for a Variable without axes.
      width: the number of elements in a row.
      offset: their start in the buffer.
    """

    name: str
    row: int
    rows: int
    width: int
    offset: int

    @property
    def size(self) -> int:
        """The number of its elements."""
        return self.rows * self.width


@dataclass(frozen=True)
class Buffer:
    """A flat buffer of a server: all of its pieces with the same dtype that are trained in the same way.

    Attributes:
      dtype: the dtype of its numbers.
      pieces: the pieces in it, one after the other.
      by_rows: whether it holds tables, of which only rows are pulled and pushed.
    """

    dtype: Any
    pieces: tuple[Piece, ...]
    by_rows: bool = False

    @property
    def size(self) -> int:
        """The number of its elements."""
        return sum(piece.size for piece in self.pieces)


class Layout:
    """Assigns Variables to servers, largest first, each to the server with the fewest bytes.

    Args:
      variables: the Variables to place.
      servers: the number of servers.
      split: the size in bytes above which a Variable is split by rows into pieces of at most that size; None for no
        limit.
      tables: the shapes and dtypes of tables by name, of which every server keeps as many rows.

    Attributes:
      servers: the buffers of each server.
      bytes: the number of bytes that each server keeps.
      variables: the Variables by name.
      shapes: the shapes of the Variables, by name.
    """

    def __init__(
        self, variables: Iterable[Variable], servers: int, split: int | None = None,
        tables: Mapping[str, tuple[int, int, Any]] | None = None,
    ) -> None:  # fmt: skip
        self.variables = {variable.name: variable for variable in variables}
        self.shapes = {name: variable.shape for name, variable in self.variables.items()}
        split = split if servers > 1 else None
        parts = [part for variable in self.variables.values() for part in _parts(variable, split)]
        loads = [0] * servers
        placed: list[dict[tuple[Any, bool, bool], list[Piece]]] = [{} for _ in range(servers)]
        for key, piece in sorted(parts, key=lambda part: -part[1].size * part[0][0].itemsize):
            server = loads.index(min(loads))
            loads[server] += piece.size * key[0].itemsize
            _append(placed[server].setdefault(key, []), piece)
        for name, (rows, width, dtype) in (tables or {}).items():
            bounds = [rows * server // servers for server in range(servers + 1)]
            for server, (first, end) in enumerate(pairwise(bounds)):
                if end > first:
                    key = np.dtype(dtype), True, True
                    _append(placed[server].setdefault(key, []), Piece(name, first, end - first, width, 0))
        self.servers = [
            [Buffer(dtype, tuple(pieces), by_rows) for (dtype, _, by_rows), pieces in found.items()] for found in placed
        ]
        self.bytes = [sum(buffer.size * buffer.dtype.itemsize for buffer in found) for found in self.servers]

    def whole(self, server: int) -> list[int]:
        """Returns the buffers of a server that are pulled whole."""
        return [place for place, buffer in enumerate(self.servers[server]) if not buffer.by_rows]

    def cut(self, server: int, arrays: Mapping[str, Any]) -> dict[int, tuple[Any, list[tuple[Any, int]] | None]]:
        """Returns the message for a server: for each buffer the numbers, and the elements that they are for.

        Args:
          server: the server's index.
          arrays: whole Variables by name, for some of the Variables.
        """
        found: dict[int, tuple[Any, list[tuple[Any, int]] | None]] = {}
        for place in self.whole(server):
            buffer = self.servers[server][place]
            there = [piece for piece in buffer.pieces if piece.name in arrays]
            if there:
                flats = [_rows(arrays[piece.name], piece).astype(buffer.dtype) for piece in there]
                complete = len(there) == len(buffer.pieces)
                cover = None if complete else [(np.array([piece.offset]), piece.size) for piece in there]
                found[place] = (flats[0] if len(flats) == 1 else jnp.concatenate(flats)), cover
        return found

    def join(self, names: Iterable[str], pulled: Sequence[Mapping[int, Any]]) -> dict[str, Any]:
        """Joins the buffers of all servers into whole Variables."""
        found: dict[str, list[tuple[int, Any]]] = {name: [] for name in names}
        for server, buffers in enumerate(self.servers):
            for place in self.whole(server):
                for piece in buffers[place].pieces:
                    if piece.name in found:
                        flat = pulled[server][place][piece.offset : piece.offset + piece.size]
                        found[piece.name].append((piece.row, flat))
        joined: dict[str, Any] = {}
        for name, parts in found.items():
            flats = [flat for _, flat in sorted(parts, key=lambda part: part[0])]
            joined[name] = (flats[0] if len(flats) == 1 else jnp.concatenate(flats)).reshape(self.shapes[name])
        return joined

    def table_places(self, name: str) -> tuple[tuple[int, int] | None, ...]:
        """Returns, for each server, the buffer of a table, and the table's start in it."""
        places: list[tuple[int, int] | None] = []
        for buffers in self.servers:
            tables = [
                (place, piece) for place, buffer in enumerate(buffers) if buffer.by_rows for piece in buffer.pieces
            ]
            places.append(next(((place, piece.offset) for place, piece in tables if piece.name == name), None))
        return tuple(places)

    def start_of(self, server: int, tables: Mapping[str, Any]) -> list[np.ndarray[Any, Any]]:
        """Returns a server's initial buffers: the current values of the Variables.

        Args:
          server: the server's index.
          tables: for each table, a function from a first row and a count to initial rows.
        """
        found: list[np.ndarray[Any, Any]] = []
        for buffer in self.servers[server]:
            parts = [
                np.asarray(tables[piece.name](piece.row, piece.rows)).reshape(-1)
                if buffer.by_rows
                else np.asarray(_rows(self.variables[piece.name].numpy(), piece))
                for piece in buffer.pieces
            ]
            found.append(np.concatenate(parts).astype(buffer.dtype))
        return found


def _parts(variable: Variable, split: int | None) -> list[tuple[tuple[Any, bool, bool], Piece]]:
    """Returns the pieces of a Variable, each with the properties that share a buffer."""
    rows = variable.shape[0] if variable.shape else 1
    width = math.prod(variable.shape[1:])
    key = variable.dtype, variable.trainable and variable.type.is_inexact, False
    most = rows
    if split is not None and rows:
        most = max(1, split // max(1, width * variable.dtype.itemsize))
    starts = range(0, max(rows, 1), max(most, 1))
    return [(key, Piece(variable.name, start, min(most, rows - start), width, 0)) for start in starts]


def _append(pieces: list[Piece], piece: Piece) -> None:
    offset = pieces[-1].offset + pieces[-1].size if pieces else 0
    pieces.append(Piece(piece.name, piece.row, piece.rows, piece.width, offset))


def _rows(array: Any, piece: Piece) -> Any:
    """Returns some rows of an array, flat."""
    return array.reshape(-1)[piece.row * piece.width : piece.row * piece.width + piece.size]
