"""Lines of comma-separated values."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, cast

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import (
    STRING,
    StringTensor,
    SymbolicTensor,
    Tensor,
    apply_all,
    as_dtype,
    as_strings,
    bytes_array,
    host_tensor,
    in_graph,
    is_string_dtype,
    refused,
)
from graphc.compiler.ir import Attrs, Graph, TensorType, define_op
from graphc.compiler.ops.dtypes import DTypeName
from graphc.compiler.ops.strings.given import Texts, failed, known_numbers, texts
from graphc.compiler.ops.strings.numbers import number

__all__ = ["decode_csv"]


class _Column:
    """A CSV column: its dtype, and the default of empty fields."""

    def __init__(self, index: int, tensor: Any) -> None:
        self.place = index
        self.strings = isinstance(tensor, StringTensor) or tensor.dtype == STRING
        self.dtype: Any = STRING if self.strings else tensor.dtype
        if tensor.size > 1:
            problem = f"record_defaults[{index}] has {tensor.size} elements, expected one, or none for a required field"
            raise failed("decode_csv", problem)
        self.required = not tensor.size
        self.default: Any = None if self.required else tensor.item()
        if isinstance(self.default, bytes):
            self.default = self.default.decode("utf-8", "surrogateescape")

    def value(self, field: str, record: int, index: int, is_missing: bool) -> Any:
        if is_missing:
            if self.required:
                raise failed("decode_csv", f"field {index} of record {record} is empty and has no default")
            return self.default
        parsed = field if self.strings else number(field, self.dtype)
        if parsed is None:
            problem = (
                f"field {index} of record {record} is {field!r:.60}, which is not a number of dtype {self.dtype.name}"
            )
            raise failed("decode_csv", problem)
        return parsed

    def at_once(self, fields: list[Any], absent: list[int], encode: Callable[[str], Any], is_plain: bool) -> Any:
        """Returns the values of all fields, strings or ``bytes`` by ``encode``; None if one may be invalid."""
        for k in absent:
            fields[k] = encode(self.default) if self.strings else encode("0")
        if self.strings:
            return fields
        if self.dtype.kind not in "iuf" or not (is_plain or _is_plain(encode("").join(fields), encode)):
            return None
        try:
            array = np.array([*map(float if self.dtype.kind == "f" else int, fields)], self.dtype)
        except (ValueError, OverflowError):
            return None
        if absent:
            array[absent] = self.default
        return array


def _is_plain(text: Any, encode: Callable[[str], Any]) -> bool:
    return text.isascii() and encode("_") not in text


def _default(index: int, value: Any) -> Any:
    """Returns the default of a column as an array; a dtype becomes one without elements."""
    if is_string_dtype(value) and not isinstance(value, str):
        return StringTensor(np.empty(0, object))
    if isinstance(value, SymbolicTensor) and in_graph(value):
        return value
    if isinstance(value, type | np.dtype | DTypeName):
        return np.empty(0, as_dtype(value))
    strings = as_strings(cast("Any", value))
    return known_numbers("decode_csv", f"record_defaults[{index}]", value) if strings is None else strings


def decode_csv(
    records: Texts,
    record_defaults: Sequence[Any],
    field_delim: str = ",",
    use_quote_delim: bool = True,
    na_value: str = "",
    select_cols: Sequence[int] | None = None,
) -> list[Tensor | StringTensor]:
    """Parses lines of comma-separated values (RFC 4180) into columns.

    Args:
      records: a tensor of strings, one line each.
      record_defaults: for each column the value of empty fields, whose dtype is that of the column; a dtype, or a
        tensor without elements, for a column whose fields must not be empty.
      field_delim: the delimiter between fields.
      use_quote_delim: whether fields in double quotes may contain delimiters; if not, a quote is an ordinary character.
      na_value: another string that counts as empty.
      select_cols: the indices of the fields to use as columns, ascending; None for all.

    Returns:
      A tensor for each column, with the shape of ``records``.

    Raises:
      InvalidArgumentError: a line has a wrong number of fields, or a field is empty without a default or not a number.

    Example:
      >>> import graphc as gx
      >>> names, ages = gx.strings.decode_csv(["Ann,31", "Bob,"], ["", 0])
      >>> names.tolist(), ages.tolist()
      (['Ann', 'Bob'], [31, 0])
    """
    defaults = [_default(index, value) for index, value in enumerate(record_defaults)]
    chosen = _chosen(len(defaults), select_cols)
    if in_graph(records, *defaults):
        attrs = Attrs(field_delim=field_delim, use_quote_delim=use_quote_delim, na_value=na_value, select_cols=chosen)
        return list(apply_all(CSV, (records, *map(_operand, defaults)), attrs))
    array = as_strings(records)
    lines = texts("decode_csv", "records", records) if array is None else array.held
    columns = [_Column(index, default) for index, default in enumerate(defaults)]
    values = _decode(lines.ravel().tolist(), columns, field_delim, use_quote_delim, na_value, chosen)
    arrays = [_column_of(cells, column, lines.shape) for column, cells in zip(columns, values, strict=True)]
    return [_strings(cells) if cells.dtype == STRING else host_tensor(cells) for cells in arrays]


def _strings(array: np.ndarray[Any, Any]) -> StringTensor:
    strings = as_strings(array)
    return StringTensor(array) if strings is None else strings


def _chosen(columns: int, select_cols: Sequence[int] | None) -> tuple[int, ...] | None:
    """Checks and returns the indices of the selected fields; None for all."""
    if select_cols is None:
        return None
    chosen = tuple(int(index) for index in select_cols)
    if len(chosen) != columns:
        raise failed("decode_csv", f"{columns} record_defaults, but {len(chosen)} columns in select_cols")
    if any(index < 0 for index in chosen) or any(a >= b for a, b in pairwise(chosen)):
        raise failed(
            "decode_csv", f"select_cols is {list(chosen)}, expected nonnegative field indices in ascending order"
        )
    return chosen


def _column_of(values: Any, column: _Column, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    array = np.empty(len(values), object) if column.strings else np.array(values, column.dtype)
    if column.strings:
        array[:] = values
    return array.reshape(shape)


def _decode(
    lines: Sequence[str | bytes], columns: Sequence[_Column], delimiter: str, quotes: bool, na_value: str,
    chosen: tuple[int, ...] | None,
) -> list[Any]:  # fmt: skip
    """Returns the values of each column, with strings as ``bytes`` if the lines are bytes and it is allowed."""
    decoded = _decoded_at_once(lines, columns, delimiter, na_value, chosen) if len(lines) > 1 else None
    if decoded is not None:
        return decoded
    indices = range(len(columns)) if chosen is None else chosen
    values: list[list[Any]] = [[] for _ in columns]
    for record, raw in enumerate(lines):
        line = raw if isinstance(raw, str) else raw.decode("utf-8", "surrogateescape")
        fields = _fields(line, record, delimiter, quotes)
        wrong = len(fields) != len(columns) if chosen is None else max(chosen, default=-1) >= len(fields)
        if wrong:
            expected = len(columns) if chosen is None else max(chosen) + 1
            raise failed("decode_csv", f"record {record} has {len(fields)} fields, expected {expected}: {line!r:.60}")
        for column, index, cells in zip(columns, indices, values, strict=True):
            field = fields[index]
            cells.append(column.value(field, record, index, field in ("", na_value)))
    return values


def _decoded_at_once(
    lines: Sequence[Any], columns: Sequence[_Column], delimiter: str, na_value: str, chosen: tuple[int, ...] | None
) -> list[Any] | None:
    """Gives the values of each column, a column after the other; None where a line needs a closer look, or is wrong."""
    encode: Any = str.encode if isinstance(lines[0], bytes) else str
    comma, missing, empty, feed = encode(delimiter), encode(na_value), encode(""), encode("\n")
    count = len(columns) if chosen is None else lines[0].count(comma) + 1
    indices = range(count) if chosen is None else chosen
    joined = (comma + feed).join(lines)
    if encode('"') in joined or encode("\r") in joined or joined.count(feed) != len(lines) - 1:
        return None
    fields, results = joined.split(comma), list[Any]()
    # Each line has the expected number of fields if all line feeds are in first fields.
    firsts = empty.join(fields[::count]).split(feed)
    if len(fields) != count * len(lines) or len(firsts) != len(lines) or max(indices, default=0) >= count:
        return None
    if count == 1 and empty in firsts:  # an empty line has no fields
        return None
    fields[::count] = firsts
    is_plain = _is_plain(joined, encode)
    for index, column in zip(indices, columns, strict=True):
        cells = fields[index::count]
        some = empty in cells or (missing != empty and missing in cells)
        absent = [k for k, field in enumerate(cells) if field in (empty, missing)] if some else []
        values = None if absent and column.required else column.at_once(cells, absent, encode, is_plain)
        if values is None:
            return None
        results.append(values)
    return results


def _operand(default: Any) -> Any:
    """Returns a default as an input of a node."""
    return default.__array__() if isinstance(default, StringTensor) else default


def _csv(
    records: np.ndarray[Any, Any], *defaults: np.ndarray[Any, Any], field_delim: str, use_quote_delim: bool,
    na_value: str, select_cols: tuple[int, ...] | None,
) -> tuple[np.ndarray[Any, Any], ...]:  # fmt: skip
    columns = _columns(defaults)
    values = _decode(records.ravel().tolist(), columns, field_delim, use_quote_delim, na_value, select_cols)
    arrays = [_column_of(cells, column, records.shape) for column, cells in zip(columns, values, strict=True)]
    return tuple([bytes_array(array) if array.dtype == STRING else array for array in arrays])


_known: dict[tuple[int, ...], tuple[tuple[np.ndarray[Any, Any], ...], list[_Column]]] = {}
_COLUMNS_KEPT = 64


def _columns(defaults: tuple[np.ndarray[Any, Any], ...]) -> list[_Column]:
    """Returns the columns of a node, cached if their defaults are constants, that is, the same arrays each time."""
    key = tuple(map(id, defaults))
    entry = _known.get(key)
    if entry is not None:
        return entry[1]
    columns = [_Column(index, default) for index, default in enumerate(defaults)]
    if not any(default.flags.writeable for default in defaults):
        for old in list(_known)[:-_COLUMNS_KEPT]:
            _known.pop(old, None)
        _known[key] = defaults, columns
    return columns


def _csv_types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    records, *defaults = types
    if records.dtype != STRING:
        raise InvalidTypeError(f"strings.decode_csv: records must be a tensor of strings, got {records}")
    return tuple([replace(records, dtype=default.dtype) for default in defaults])


CSV = define_op(
    "strings.decode_csv",
    impl=_csv,
    infer=_csv_types,
    params=("records", "*record_defaults"),
    differentiable=False,
    host=True,
    elementwise=True,
    doc="The columns parsed from lines of comma-separated values.",
)


def _fields(line: str, record: int, delimiter: str, quotes: bool) -> list[str]:
    if not quotes:
        return line.split(delimiter)
    if '"' not in line and "\n" not in line and "\r" not in line:
        return line.split(delimiter) if line else []
    try:
        (fields,) = csv.reader([line], delimiter=delimiter, strict=True)
    except (csv.Error, ValueError) as error:
        problem = f"strings.decode_csv: record {record} is not a line of comma-separated values ({error}): {line!r:.60}"
        raise refused(InvalidArgumentError(problem)) from None
    if _is_quoted_inside(line, delimiter):
        problem = f"strings.decode_csv: record {record} has a quote inside an unquoted field: {line!r:.60}"
        raise refused(InvalidArgumentError(problem))
    return fields


def _is_quoted_inside(line: str, delimiter: str) -> bool:
    """Returns True if a field that does not start with a quote contains one, which the standard does not define."""
    inside, start = False, True
    for character in line:
        if character == '"':
            if not inside and not start:
                return True
            inside, start = not inside, True  # a doubled quote starts again
        elif not inside:
            start = character == delimiter
    return False
