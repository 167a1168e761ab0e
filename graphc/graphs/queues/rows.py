"""Rows of a queue: they stay in the arrays that they were enqueued in, and are joined when they are dequeued.

An entry stands for one row or many. A row that was enqueued singly is a tuple of its components; rows that were
enqueued together are a :class:`Run` of their arrays, so that moving a thousand of them costs the same as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from graphc.compiler.ir import OPEN, TensorType

Columns: TypeAlias = tuple[Any, ...]
"""One JAX or NumPy array for each component. They are never written to."""

BARE = -1
"""The position of a row whose columns have no row axis."""


class Run:
    """Adjacent rows in the arrays that they were enqueued in."""

    __slots__ = ("columns", "start", "stop")

    def __init__(self, columns: Columns, start: int, stop: int) -> None:
        self.columns = columns
        self.start = start
        self.stop = stop

    def sizes(self, component: int) -> list[tuple[int, ...]]:
        """Returns the shapes of the rows of a component, without duplicates."""
        return [self.columns[component].shape[1:]]

    def write(self, component: int, target: np.ndarray[Any, Any]) -> None:
        """Writes a component of the rows to an array with room for it."""
        rows = np.asarray(self.columns[component])[self.start : self.stop]
        _corner(target, rows.shape[1:])[...] = rows


Part: TypeAlias = "tuple[Columns, Sequence[int] | np.ndarray[Any, Any], Sequence[int]]"
"""Rows of the same columns: the columns, the positions of the rows in them, and their indices in the result."""


class Picks:
    """Rows from anywhere, in any order."""

    __slots__ = ("count", "parts")

    def __init__(self, parts: list[Part], count: int) -> None:
        self.parts = parts
        self.count = count

    def sizes(self, component: int) -> list[tuple[int, ...]]:
        """Returns the shapes of the rows of a component, possibly with duplicates."""
        return [
            columns[component].shape if positions[0] == BARE else columns[component].shape[1:]
            for columns, positions, _ in self.parts
        ]

    def write(self, component: int, target: np.ndarray[Any, Any]) -> None:
        """Writes a component of the rows to an array with room for it."""
        for columns, positions, targets in self.parts:
            if positions[0] == BARE:
                _write_row(columns[component], target, targets[0])
                continue
            rows = np.asarray(columns[component])[positions]
            if len(self.parts) == 1:  # then all indices are there, in order
                _corner(target, rows.shape[1:])[...] = rows
            else:
                target[(targets, *map(slice, rows.shape[1:]))] = rows


Entry: TypeAlias = Columns | Run | Picks


def rows_in(entry: Entry) -> int:
    """Counts the rows of an entry."""
    if isinstance(entry, tuple):
        return 1
    return entry.stop - entry.start if isinstance(entry, Run) else entry.count


def single(entry: Entry) -> Columns:
    """Returns the components of an entry of one row."""
    if isinstance(entry, tuple):
        return entry
    if isinstance(entry, Run):
        columns, position = entry.columns, entry.start
    else:
        columns, (position, *_), _ = entry.parts[0]
    if position == BARE:
        return columns
    # Indexing would return NumPy scalars, and for an array of strings the string itself.
    return tuple([np.asarray(column)[position : position + 1].reshape(column.shape[1:]) for column in columns])


def joined(entries: Sequence[Entry], types: Sequence[TensorType]) -> Columns:
    """Joins rows into one array for each component; pads smaller rows with zeros where sizes differ."""
    if len(entries) == 1 and isinstance(run := entries[0], Run):
        return tuple([_part(column, run.start, run.stop) for column in run.columns])
    count = sum(map(rows_in, entries))
    return tuple([_column(entries, component, type, count) for component, type in enumerate(types)])


def _part(column: Any, start: int, stop: int) -> Any:
    # JAX arrays that are taken whole stay on their device; JAX would compile a program for each slice.
    return column if start == 0 and stop == column.shape[0] else np.asarray(column)[start:stop]


def _column(entries: Sequence[Entry], component: int, type: TensorType, count: int) -> np.ndarray[Any, Any]:
    shape = type.shape
    if OPEN in shape or not type.ranked:
        sizes = [
            size
            for entry in entries
            for size in ([entry[component].shape] if isinstance(entry, tuple) else entry.sizes(component))
        ]
        shape = tuple(map(max, zip(*sizes, strict=True)))
        column = np.full((count, *shape), b"" if type.dtype == object else 0, type.dtype)
    else:
        column = np.empty((count, *shape), type.dtype)
    offset = 0
    for entry in entries:
        if isinstance(entry, tuple):
            _write_row(entry[component], column, offset)
            offset += 1
        else:
            rows = rows_in(entry)
            entry.write(component, column[offset : offset + rows])
            offset += rows
    return column


def _write_row(row: Any, target: np.ndarray[Any, Any], index: int) -> None:
    array = np.asarray(row)
    if array.shape == target.shape[1:]:
        target[index, ...] = array  # without the dots a string would stay an array without axes
    else:
        target[(index, *map(slice, array.shape))] = array


def _corner(target: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    return target if shape == target.shape[1:] else target[(slice(None), *map(slice, shape))]
