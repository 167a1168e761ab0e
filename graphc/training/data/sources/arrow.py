"""Table files, read with pyarrow: Parquet by row groups, Arrow by record batches."""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from graphc.compiler.base import files
from graphc.compiler.base.errors import DataLossError, FailedPreconditionError, InvalidArgumentError
from graphc.compiler.core import STRING, as_dtype, canonical_array
from graphc.compiler.function import TensorSpec
from graphc.training.data.sources.chunks import Columns, FileSource, file_names

_ROWS = 1 << 13
"""Number of rows of a Parquet file to read at once."""


def pyarrow(use: str) -> Any:
    """Returns pyarrow, with the modules that sources use."""
    try:
        for part in ("csv", "compute", "ipc", "parquet"):
            importlib.import_module(f"pyarrow.{part}")
    except ImportError:
        raise FailedPreconditionError(f"{use} need pyarrow: pip install 'graphc[data]'").here() from None
    return importlib.import_module("pyarrow")


def column_array(column: Any, name: str, default: Any = None) -> np.ndarray[Any, Any]:
    """Converts a column of a table to an array: strings to ``bytes``, lists of one length to a further axis."""
    types = importlib.import_module("pyarrow").types
    kind = column.type
    if types.is_dictionary(kind):
        column = column.cast(kind.value_type)
        kind = column.type
    if types.is_fixed_size_list(kind) or types.is_list(kind) or types.is_large_list(kind):
        return _lists(column, name)
    if column.null_count:
        if default is None:
            raise ValueError(f"column {name!r} has {column.null_count} missing values, such as in row {_null(column)}")
        column = column.fill_null(default)
    if types.is_string(kind) or types.is_large_string(kind):
        column = column.cast("binary")
    array = np.asarray(column.to_numpy(zero_copy_only=False))
    return array if array.dtype == STRING or as_dtype(array.dtype) == array.dtype else canonical_array(array)


def _null(column: Any) -> int:
    return int(column.is_null().to_numpy(zero_copy_only=False).argmax())


def _lists(column: Any, name: str) -> np.ndarray[Any, Any]:
    """Converts lists of one length to an array with a further axis."""
    chunks = column.chunks if hasattr(column, "chunks") else [column]
    sizes = {size for chunk in chunks for size in chunk.value_lengths().unique().to_pylist()}
    if len(sizes) != 1 or None in sizes:
        raise ValueError(f"column {name!r} has lists of the lengths {sorted(map(str, sizes))}, expected one length")
    parts = [column_array(chunk.flatten(), name) for chunk in chunks]
    values = np.concatenate(parts)
    return values.reshape(len(column), sizes.pop(), *values.shape[1:])


@dataclass(frozen=True)
class Tables:
    """The format of files of tables."""

    kind: str  # ``"parquet"`` or ``"arrow"``
    spec: dict[str, TensorSpec]

    @property
    def word(self) -> str:
        """The kind."""
        return self.kind

    def open(self, name: bytes) -> _Reader:
        """Opens a file."""
        return _Reader(name, _KINDS[self.kind](name, list(self.spec)), self.spec)

    def count(self, name: bytes) -> int:
        """Returns the number of rows in a file."""
        file = _KINDS[self.kind](name, list(self.spec))
        try:
            return file.rows
        finally:
            file.close()


def table_files(kind: str, files: Any, columns: Sequence[str] | None = None) -> FileSource:
    """Returns a source of the rows of table files, as dicts of the columns.

    Args:
      kind: ``"parquet"`` or ``"arrow"``.
      files: the files.
      columns: the names of the columns to read; None for all.
    """
    names = file_names(files, kind)
    file = _KINDS[kind](names[0], None)
    try:
        wanted = list(file.names if columns is None else columns)
        missing = [column for column in wanted if column not in file.names]
        if missing:
            problem = f"{kind}: {os.fsdecode(names[0])!r} has no column {missing[0]!r}; its columns are {file.names}"
            raise InvalidArgumentError(problem).here()
        file.columns = wanted
        table = next((part for _, _, part in file.parts(0, 0)), None)
        if table is None:
            problem = f"{kind}: {os.fsdecode(names[0])!r} has no rows to infer the shapes from"
            raise InvalidArgumentError(problem).here()
        first = _arrays(table.slice(0, 1), wanted, names[0], 0)
    finally:
        file.close()
    spec = {
        column: TensorSpec(array.shape[1:], "string" if array.dtype == STRING else array.dtype)
        for column, array in zip(wanted, first, strict=True)
    }
    return FileSource(names, Tables(kind, spec))


def table_arrays(table: Any, columns: Sequence[str] | None = None) -> dict[str, np.ndarray[Any, Any]]:
    """Returns the columns of a table in memory, by name."""
    wanted = list(table.column_names if columns is None else columns)
    pyarrow("Arrow tables")
    return dict(zip(wanted, _arrays(table, wanted, b"the table", 0), strict=True))


class _Reader:
    def __init__(self, name: bytes, file: _File, spec: dict[str, TensorSpec]) -> None:
        self._name, self._file, self._spec = name, file, spec
        self.seek([0, 0])

    def read(self) -> Columns | None:
        for group, row, table in self._parts:
            self._group, self._row = group, row + len(table)
            arrays = _arrays(table, list(self._spec), self._name, row)
            for array, (column, spec) in zip(arrays, self._spec.items(), strict=True):
                if array.shape[1:] != spec.shape or array.dtype != spec.type.dtype:
                    actual = f"{array.dtype}{list(array.shape[1:])}"
                    raise DataLossError(f"{os.fsdecode(self._name)!r}: column {column!r} is {actual}, expected {spec}")
            return arrays
        return None

    def position(self) -> list[int]:
        return [self._group, self._row]

    def seek(self, position: Sequence[int]) -> None:
        self._group, self._row = position
        self._parts = self._file.parts(*position)

    def skip(self) -> bool:
        return False

    def close(self) -> None:
        self._file.close()


def _arrays(table: Any, columns: Sequence[str], name: bytes, row: int) -> list[np.ndarray[Any, Any]]:
    types = importlib.import_module("pyarrow").types
    try:
        arrays: list[np.ndarray[Any, Any]] = []
        for column in columns:
            chunked = table.column(column)
            text = types.is_string(chunked.type) or types.is_large_string(chunked.type) or types.is_binary(chunked.type)
            default = np.nan if types.is_floating(chunked.type) else "" if text else None
            arrays.append(column_array(chunked, column, default))
        return arrays
    except (ValueError, KeyError) as error:
        where = f"{os.fsdecode(name)!r}, {len(table)} rows from {row} on"
        raise DataLossError(f"{where}: {error}; fill or convert it with pyarrow, or select other columns") from None


class _File(Protocol):
    names: list[str]
    columns: list[str] | None

    @property
    def rows(self) -> int: ...

    def parts(self, group: int, row: int) -> Iterator[tuple[int, int, Any]]: ...

    def close(self) -> None: ...


class _ParquetFile:
    def __init__(self, name: bytes, columns: list[str] | None) -> None:
        arrow = pyarrow("Parquet files")
        with _opening(name):
            self._file = arrow.parquet.ParquetFile(os.fsdecode(name))
        self.names: list[str] = self._file.schema_arrow.names
        self.columns = columns
        self.rows: int = self._file.metadata.num_rows

    def parts(self, group: int, row: int) -> Iterator[tuple[int, int, Any]]:
        for number in range(group, self._file.num_row_groups):
            start = 0
            for part in self._file.iter_batches(_ROWS, [number], self.columns):
                skipped = min(max(row - start, 0), len(part))
                if skipped < len(part):
                    yield number, start + skipped, part.slice(skipped)
                start += len(part)
            row = 0

    def close(self) -> None:
        self._file.close()


class _ArrowFile:
    def __init__(self, name: bytes, columns: list[str] | None) -> None:
        arrow = pyarrow("Arrow files")
        with _opening(name):
            self._map = arrow.memory_map(os.fsdecode(name))
            self._file = arrow.ipc.open_file(self._map)
        self.names: list[str] = self._file.schema.names
        self.columns = columns

    @property
    def rows(self) -> int:
        return sum(self._file.get_batch(number).num_rows for number in range(self._file.num_record_batches))

    def parts(self, group: int, row: int) -> Iterator[tuple[int, int, Any]]:
        for number in range(group, self._file.num_record_batches):
            batch = self._file.get_batch(number)
            if self.columns is not None:
                batch = batch.select(self.columns)
            if row < len(batch):
                yield number, row, batch.slice(row)
            row = 0

    def close(self) -> None:
        self._map.close()


_KINDS: dict[str, Callable[[bytes, list[str] | None], _File]] = {"parquet": _ParquetFile, "arrow": _ArrowFile}


@contextmanager
def _opening(name: bytes) -> Generator[None]:
    with files.file_errors(os.fsdecode(name)):
        try:
            yield
        except ValueError as error:  # of pyarrow
            raise DataLossError(f"{os.fsdecode(name)!r}: {error}") from None
