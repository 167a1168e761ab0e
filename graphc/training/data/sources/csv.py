"""CSV files, parsed in blocks by pyarrow; Python's csv module finds the error in an invalid block."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, NamedTuple, cast

import numpy as np

from graphc.compiler.base.errors import DataLossError, InvalidArgumentError
from graphc.compiler.core import STRING, as_dtype, host_array, is_string_dtype
from graphc.compiler.function import TensorSpec
from graphc.library.formats import checked_compression, open_file, reading, skip_to
from graphc.training.data.sources.arrow import column_array, pyarrow
from graphc.training.data.sources.chunks import BLOCK, Columns, FileSource, file_names


class CSVColumn(NamedTuple):
    """A column to read."""

    name: str
    place: int
    dtype: np.dtype[Any]  # object for strings
    default: Any = None  # the value of an empty field; None if no field may be empty


@dataclass(frozen=True)
class CSV:
    """The CSV format."""

    names: tuple[str, ...]
    columns: tuple[CSVColumn, ...]
    delimiter: str = ","
    quotes: bool = True
    na_value: str = ""  # another text that counts as empty
    header: bool = True
    checked: bool = True  # whether the header must equal ``names``
    compression: str = ""

    @property
    def word(self) -> str:
        """The name of the format."""
        return "csv"

    @property
    def spec(self) -> dict[str, TensorSpec]:
        """A dict of the columns."""
        return {
            column.name: TensorSpec((), "string" if column.dtype == STRING else column.dtype) for column in self.columns
        }

    def open(self, name: bytes) -> _Reader:
        """Opens a file and skips its header."""
        return _Reader(name, self)

    def count(self, name: bytes) -> None:
        """Returns None: only reading tells."""

    def fields(self, row: bytes) -> list[str]:
        """Splits a row into fields."""
        text = row.decode("utf-8", "surrogateescape")
        if not self.quotes:
            return text.rstrip("\r\n").split(self.delimiter)
        rows = csv.reader(io.StringIO(text, newline=""), delimiter=self.delimiter)
        return next(rows, list[str]())

    def parse(self, block: bytes) -> Columns:
        """Parses whole rows; raises pyarrow's errors."""
        arrow = pyarrow("CSV files")
        table = arrow.csv.read_csv(
            arrow.BufferReader(block),
            arrow.csv.ReadOptions(use_threads=False, column_names=self.names, block_size=len(block) + 1),
            arrow.csv.ParseOptions(
                delimiter=self.delimiter, quote_char='"' if self.quotes else False, newlines_in_values=True
            ),
            arrow.csv.ConvertOptions(
                check_utf8=False,
                column_types={
                    column.name: arrow.binary() if column.dtype == STRING else arrow.from_numpy_dtype(column.dtype)
                    for column in self.columns
                },
                null_values=["", self.na_value],
                strings_can_be_null=True,
                include_columns=[column.name for column in self.columns],
            ),
        )
        return [column_array(table.column(column.name), column.name, column.default) for column in self.columns]

    def wrong(self, row: bytes) -> str:
        """Describes what is wrong with a row; empty if it is valid."""
        fields = self.fields(row)
        if len(fields) != len(self.names):
            return f" has {len(fields)} fields, expected {len(self.names)}: {row!r:.80}"
        for column in self.columns:
            field = fields[column.place]
            if field in ("", self.na_value):
                if column.default is None:
                    return f", column {column.name!r} is empty; column_defaults gives such fields a value"
            elif column.dtype != STRING and not _fits(field, column.dtype):
                return f", column {column.name!r}: {field!r:.60} is not {column.dtype.name}"
        return ""


class _Reader:
    def __init__(self, name: bytes, format: CSV) -> None:
        self._name, self._format = name, format
        self._file = open_file(name, format.compression)
        self._offset = self._line = 0
        self._ahead = b""
        if format.header:
            try:
                self._pass_header()
            except BaseException:
                self._file.close()
                raise

    def _pass_header(self) -> None:
        data = self._block()
        header = next(_rows(data, self._format.quotes), b"")
        self._drop(data, header)
        names = tuple(self._format.fields(header))
        if data and self._format.checked and names != self._format.names:
            problem = f"the header has the columns {list(names)}, expected {list(self._format.names)}"
            raise InvalidArgumentError(f"{os.fsdecode(self._name)}:1: {problem}")

    def read(self) -> Columns | None:
        data = self._block()
        if not data.strip():
            return None
        try:
            columns = self._format.parse(data)
        except ValueError as error:  # of pyarrow, or a missing field
            start = self._first_wrong(data, error)
            self._ahead = data[start:] + self._ahead
            columns = self._format.parse(data := data[:start])
        self._offset += len(data)
        self._line += data.count(b"\n")
        return columns

    def _block(self) -> bytes:
        """Reads whole rows, up to a block but at least one; returns nothing at the end."""
        data = self._ahead
        while True:
            with reading(self._name):
                block = self._file.read(BLOCK)
            data += block
            if not block:
                self._ahead = b""
                return data
            end = _end_of_rows(data, self._format.quotes)
            if end and data[:end].strip():
                self._ahead = data[end:]
                return data[:end]

    def _first_wrong(self, data: bytes, error: Exception) -> int:
        """Returns the start of the first invalid row; raises an error if that is the very first."""
        start = 0
        for row in _rows(data, self._format.quotes):
            problem = self._format.wrong(row) if row.strip() else ""
            if problem:
                if data[:start].strip():
                    return start
                self._offset, self._line = self._offset + start, self._line + data.count(b"\n", 0, start)
                self._ahead = data[start:] + self._ahead
                raise DataLossError(f"{os.fsdecode(self._name)}:{self._line + 1}{problem}") from None
            start += len(row)
        where = f"{os.fsdecode(self._name)}, the rows from byte {self._offset} on"
        raise DataLossError(f"{where}: {error}") from None

    def _drop(self, data: bytes, row: bytes) -> None:
        """Skips the first row of the data."""
        self._offset, self._line = self._offset + len(row), self._line + row.count(b"\n")
        self._ahead = data[len(row) :] + self._ahead

    def position(self) -> list[int]:
        return [self._offset, self._line]

    def seek(self, position: Sequence[int]) -> None:
        offset, self._line = position
        if offset < self._offset + len(self._ahead):
            self._ahead = self._ahead[offset - self._offset :]
        else:
            with reading(self._name):
                skip_to(self._file, offset, self._offset + len(self._ahead))
            self._ahead = b""
        self._offset = offset

    def skip(self) -> bool:
        data = self._block()
        self._drop(data, next(_rows(data, self._format.quotes), b""))
        return bool(data)

    def close(self) -> None:
        self._file.close()


def _end_of_rows(data: bytes, quotes: bool) -> int:
    """Returns the end of the last complete row; a line feed inside quotes ends no row."""
    end = data.rfind(b"\n") + 1
    while end and quotes and data.count(b'"', 0, end) % 2:
        end = data.rfind(b"\n", 0, end - 1) + 1
    return end


def _rows(data: bytes, quotes: bool) -> Iterator[bytes]:
    """Yields the rows of a block, with their line ends."""
    row = b""
    for line in io.BytesIO(data):
        row += line
        if not (quotes and row.count(b'"') % 2):
            yield row
            row = b""
    if row:
        yield row


def _fits(field: str, dtype: np.dtype[Any]) -> bool:
    """Returns True if a field is a number that a dtype can hold."""
    try:
        if dtype.kind == "f":
            value = float(field)
            return not np.isfinite(value) or abs(value) <= np.finfo(dtype).max
        return np.iinfo(dtype).min <= int(field) <= np.iinfo(dtype).max
    except ValueError:
        return False


def csv_files(
    files: Any,
    *,
    column_names: Sequence[str] | None = None,
    column_defaults: Sequence[Any] | Mapping[str, Any] | None = None,
    select_columns: Sequence[str | int] | None = None,
    delimiter: str = ",",
    quotes: bool = True,
    na_value: str = "",
    header: bool = True,
    rows_for_inference: int = 100,
    compression: str | None = "",
) -> FileSource:
    """Returns a source of the rows of CSV files, as dicts; see :func:`graphc.data.csv` for the arguments."""
    names = file_names(files, "csv")
    pyarrow("CSV files")
    packed = checked_compression(compression, "csv")
    format = CSV((), (), delimiter, quotes, na_value, header, column_names is None, packed)
    with open_file(names[0], packed) as file, reading(names[0]):
        blocks = islice(_rows(file.read(BLOCK), quotes), rows_for_inference + header)
        rows = [format.fields(row) for row in blocks if row.strip()]
    first = rows[0] if rows else []
    fields = tuple(column_names or (first if header else map(str, range(len(first)))))
    if len(set(fields)) != len(fields):
        raise InvalidArgumentError(f"csv: two columns have the same name: {list(fields)}").here()
    columns = [_column(fields[index], index, rows[header:], na_value) for index in _selected(fields, select_columns)]
    if column_defaults is not None:
        columns = _with_defaults(columns, column_defaults)
    return FileSource(names, replace(format, names=fields, columns=tuple(columns)))


def _selected(fields: Sequence[str], chosen: Sequence[str | int] | None) -> list[int]:
    if chosen is None:
        return list(range(len(fields)))
    indices: list[int] = []
    for column in chosen:
        if column not in fields and not (isinstance(column, int) and 0 <= column < len(fields)):
            problem = f"csv: select_columns has {column!r}, but the columns are {list(fields)}"
            raise InvalidArgumentError(problem).here()
        indices.append(column if isinstance(column, int) else fields.index(column))
    return sorted(indices)


_DTYPES = tuple(map(np.dtype, ("int32", "int64", "float32", "float64")))


def _column(name: str, index: int, rows: Sequence[Sequence[str]], na_value: str) -> CSVColumn:
    """Infers the dtype of a column: the first one that can hold all values, else strings."""
    values = [row[index] for row in rows if index < len(row) and row[index] not in ("", na_value)]
    for dtype in _DTYPES if values else ():
        if all(_fits(field, dtype) for field in values):
            if as_dtype(dtype) != dtype:
                remedy = "set gx.config.enable_x64, or give the column a dtype in column_defaults"
                problem = f"csv: column {name!r} has numbers that only {dtype.name} can hold; {remedy}"
                raise InvalidArgumentError(problem).here()
            return CSVColumn(name, index, dtype, 0)
    return CSVColumn(name, index, STRING, b"")


def _with_defaults(columns: Sequence[CSVColumn], defaults: Sequence[Any] | Mapping[str, Any]) -> list[CSVColumn]:
    if isinstance(defaults, Mapping):
        unknown = set(defaults) - {column.name for column in columns}
        if unknown:
            problem = f"csv: column_defaults has {sorted(unknown)}, but the columns are {[c.name for c in columns]}"
            raise InvalidArgumentError(problem).here()
        return [_defaulted(column, defaults[column.name]) if column.name in defaults else column for column in columns]
    if len(defaults) != len(columns):
        problem = f"csv: {len(defaults)} column_defaults for {len(columns)} columns"
        raise InvalidArgumentError(problem).here()
    return [_defaulted(column, default) for column, default in zip(columns, defaults, strict=True)]


def _defaulted(column: CSVColumn, default: Any) -> CSVColumn:
    """Applies a user's default to a column: a value, or a dtype (or an empty array) for a required column."""
    if is_string_dtype(default) and not isinstance(default, str):
        return column._replace(dtype=STRING, default=None)
    if isinstance(default, type | np.dtype) or (hasattr(default, "dtype") and not hasattr(default, "shape")):
        return column._replace(dtype=as_dtype(default), default=None)
    if isinstance(default, list | tuple) and default:
        default = cast("Sequence[Any]", default)[0]
    array = host_array(default)
    return column._replace(dtype=array.dtype, default=array.ravel()[0] if array.size else None)
