"""Rows of tables: the rows that a step needs, their locations, and their transfer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, OutOfRangeError

__all__ = ["Lookups", "Table"]

_SHOWN = 8
"""Maximum number of ids to list in a message."""


@dataclass(frozen=True)
class Table:
    """A table in which a step looks up rows. Each of S servers keeps 1/S of its rows, in order.

    Attributes:
      name: the name of the embedding, for messages.
      rows: the number of its rows.
      width: the number of elements in a row.
      places: for each server the buffer, and the start of the rows in it; None for a server without any.
      trained: whether the step computes gradients for it.
      capacity: the maximum number of different rows that a step looks up; None for no limit.
    """

    name: str
    rows: int
    width: int
    places: tuple[tuple[int, int] | None, ...]
    trained: bool
    capacity: int | None = None

    def checked(self, ids: Any) -> Any:
        """Returns row numbers, cut to the capacity, if all of them can be looked up.

        Args:
          ids: different ids, sorted and padded with the greatest number of their type.

        Raises:
          OutOfRangeError: a row does not exist.
          InvalidArgumentError: there are too many rows.
        """
        used = ids[: np.searchsorted(ids, np.iinfo(ids.dtype).max)]
        outside = used[(used < 0) | (used >= self.rows)]
        if outside.size:
            raise OutOfRangeError(
                f"ParameterServer: embedding {self.name!r} has the rows 0 to {self.rows - 1}, but ids {_some(outside)} "
                "were looked up; correct the ids, or make the embedding with more rows"
            )
        if self.capacity is not None and used.size > self.capacity:
            raise InvalidArgumentError(
                f"ParameterServer: a step looks up {used.size} different rows of embedding {self.name!r}, whose "
                f"capacity is {self.capacity}: ids {_some(used)}; make it with capacity={used.size} or more (the "
                "number of ids of a batch is enough), or give smaller batches"
            )
        return ids[: self.capacity]

    @property
    def bounds(self) -> list[int]:
        """The first row of each server, and the end."""
        count = len(self.places)
        return [self.rows * server // count for server in range(count + 1)]


class Lookups:
    """The rows that one step needs.

    Args:
      tables: the tables.
      ids: for each table the row numbers, in the form of :meth:`Table.checked`.

    Raises:
      OutOfRangeError, InvalidArgumentError: see :meth:`Table.checked`.
    """

    def __init__(self, tables: Sequence[Table], ids: Sequence[np.ndarray[Any, Any]]) -> None:
        pairs = [(table, table.checked(found)) for table, found in zip(tables, ids, strict=True)]
        self._pairs = [(table, found, np.searchsorted(found, table.bounds)) for table, found in pairs]

    def covers(self, server: int, *, trained: bool = False) -> dict[int, list[tuple[Any, int]]]:
        """Returns the elements of each buffer of a server.

        Args:
          server: the server's index.
          trained: whether to return only those of tables with gradients.
        """
        found: dict[int, list[tuple[Any, int]]] = {}
        for table, ids, edges in self._pairs:
            place = table.places[server]
            if place is not None and (table.trained or not trained):
                mine = ids[edges[server] : edges[server + 1]] - table.bounds[server]
                found.setdefault(place[0], []).append((place[1] + mine * table.width, table.width))
        return found

    def windows(self, values: Sequence[Mapping[int, Any]]) -> list[np.ndarray[Any, Any]]:
        """Returns, for each table, the pulled rows, padded with rows of zeros.

        Args:
          values: each server's values for :meth:`covers`.
        """
        used: dict[tuple[int, int], int] = {}
        windows: list[np.ndarray[Any, Any]] = []
        for table, ids, edges in self._pairs:
            parts: list[Any] = []
            for server, place in enumerate(table.places):
                if place is not None:
                    begin = used.get((server, place[0]), 0)
                    end = begin + (edges[server + 1] - edges[server]) * table.width
                    parts.append(np.asarray(values[server][place[0]])[begin:end])
                    used[server, place[0]] = end
            rows = np.concatenate(parts).reshape(-1, table.width)
            windows.append(np.pad(rows, ((0, len(ids) - len(rows)), (0, 0))))
        return windows

    def gradients(self, server: int, windows: Sequence[Any]) -> dict[int, np.ndarray[Any, Any]]:
        """Returns the numbers for each buffer of a server, for the trained tables.

        Args:
          server: the server's index.
          windows: the gradients of the windows of these tables.
        """
        found: dict[int, list[Any]] = {}
        trained = [pair for pair in self._pairs if pair[0].trained]
        for (table, _, edges), window in zip(trained, windows, strict=True):
            place = table.places[server]
            if place is not None:
                found.setdefault(place[0], []).append(np.asarray(window)[edges[server] : edges[server + 1]].reshape(-1))
        return {buffer: np.concatenate(parts) for buffer, parts in found.items()}


def _some(ids: Any) -> str:
    return ", ".join(map(str, ids[:_SHOWN].tolist())) + ", ..." * (len(ids) > _SHOWN)
