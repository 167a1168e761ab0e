"""Sources that are read by row number: memory-mapped NumPy files, and Python sequences."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Self, TypeAlias, cast

import numpy as np

from graphc.compiler.base import files
from graphc.compiler.base.errors import DataLossError, InvalidArgumentError
from graphc.compiler.function import TensorSpec
from graphc.library.formats import RecordStream, open_file, reading, skip_to
from graphc.training.data.elements import Row, described, flatten, spec_of, stacked, take_apart, unflatten
from graphc.training.data.sources.chunks import BLOCK, Columns, RowSource, State, file_names, objects

Array: TypeAlias = np.ndarray[Any, Any]


class RowIterator:
    """Reads the rows of a source in order."""

    def __init__(self, source: RowSource) -> None:
        self._source, self._row = source, 0

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        batch = self.read_many(1)
        if batch is None:
            raise StopIteration
        leaves, structure = flatten(batch)
        return unflatten(structure, [column[0] for column in leaves])

    def read_many(self, count: int) -> Any | None:
        """Returns the next rows as one batch; None at the end."""
        start, self._row = self._row, min(self._row + count, len(self._source))
        return self._source.take_rows(np.arange(start, self._row)) if start < self._row else None

    def state(self) -> State:
        """Returns the number of the next row."""
        return {"row": self._row}

    def restore(self, state: State) -> None:
        """Moves to a row."""
        self._row = state["row"]

    def close(self) -> None:
        """Does nothing: the source holds all resources."""


class NumpyFiles:
    """The rows of arrays in ``.npy`` files, which are mapped into memory and read when they are needed.

    Args:
      paths: a nested structure of files; a list of files stands for their arrays behind each other.

    Raises:
      InvalidArgumentError: an array has no axes, the lengths differ, or arrays behind each other have different rows.
      DataLossError: a file is no ``.npy`` file of numbers.
    """

    def __init__(self, paths: Any) -> None:
        leaves, self._structure = flatten(paths)
        self._columns: list[list[Array]] = [
            [_mapped(name) for name in file_names(leaf, "numpy_files")] for leaf in leaves
        ]
        self._starts: list[Array] = [np.cumsum([0, *[len(part) for part in parts]]) for parts in self._columns]
        for parts in self._columns:
            for first, second in pairwise(parts):
                if first.dtype != second.dtype or first.shape[1:] != second.shape[1:]:
                    mismatch = f"rows of {spec_of(first[:1])} and of {spec_of(second[:1])}"
                    raise InvalidArgumentError(f"numpy_files: files to concatenate have {mismatch}").here()
        lengths = {int(starts[-1]) for starts in self._starts}
        if len(lengths) != 1:
            problem = f"numpy_files: expected arrays of one length, got {sorted(lengths)} rows"
            raise InvalidArgumentError(problem).here()
        (self._length,) = lengths

    @property
    def spec(self) -> Any:
        """The types of a row."""
        return unflatten(self._structure, [TensorSpec(parts[0].shape[1:], parts[0].dtype) for parts in self._columns])

    @property
    def cardinality(self) -> int:
        """The number of rows."""
        return self._length

    def __len__(self) -> int:
        return self._length

    def __str__(self) -> str:
        return f"numpy_files({described(self.spec)})"

    def take_rows(self, indices: Any) -> Any:
        """Returns rows as one batch."""
        rows: Array = np.asarray(indices)
        columns: list[Any] = []
        for parts, starts in zip(self._columns, self._starts, strict=True):
            chosen = cast("Array", np.searchsorted(starts, rows, "right") - 1)
            if len(chosen) and (chosen == chosen[0]).all():
                columns.append(_taken(parts[int(chosen[0])], rows - starts[chosen[0]]))
                continue
            column = np.empty((len(rows), *parts[0].shape[1:]), parts[0].dtype)
            for file in cast("set[int]", set(chosen.tolist())):
                targets = np.flatnonzero(chosen == file)
                column[targets] = _taken(parts[file], rows[targets] - starts[file])
            columns.append(column)
        return unflatten(self._structure, columns)

    def open(self) -> RowIterator:
        """Starts to read."""
        return RowIterator(self)


def _mapped(name: bytes) -> Array:
    path = name.decode("utf-8", "surrogateescape")
    try:
        with files.file_errors(path):
            loaded: Any = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError as error:
        raise DataLossError(f"numpy_files: {path!r} is not a .npy file of numbers: {error}").here() from None
    if not isinstance(loaded, np.ndarray):  # an archive
        loaded.close()
        remedy = "save its arrays as .npy files, which can be mapped"
        raise DataLossError(f"numpy_files: {path!r} is an archive; {remedy}").here()
    if not loaded.ndim:
        raise InvalidArgumentError(f"numpy_files: the array in {path!r} has no rows").here()
    return cast("Array", loaded)


def _taken(array: Array, indices: Array) -> Array:
    """Copies rows to new memory; contiguous rows are read in one go."""
    first, last = int(indices[0]), int(indices[-1])
    if last - first == len(indices) - 1 and (np.diff(indices) == 1).all():
        return np.array(array[first : last + 1])
    rows: Array = array[indices]
    return np.asarray(rows)


class Items:
    """The items of an object with a length and indexing: a list, or a PyTorch or Hugging Face dataset.

    Several items are read at once if the object supports it: through ``__getitems__``, or ``dataset[rows]`` of Hugging
    Face datasets.

    Args:
      items: the object.
      spec: the types of an item; None for the types of the first one.
    """

    def __init__(self, items: Any, spec: Any = None) -> None:
        self._name = type(items).__name__
        self._columnar = hasattr(items, "with_format") and hasattr(items, "column_names")
        self._items = items.with_format("numpy") if self._columnar else items
        if spec is None:
            if not len(items):
                problem = f"from_python: the {self._name} has no items to infer the types from; pass spec"
                raise InvalidArgumentError(problem).here()
            # Hugging Face returns the string of a single row as a NumPy string.
            row, self._structure = take_apart(self._rows([0])) if self._columnar else take_apart(self._items[0])
            specs = [spec_of(leaf) for leaf in row]
            self._specs = [TensorSpec(spec.shape[1:], spec.dtype) for spec in specs] if self._columnar else specs
        else:
            self._specs, self._structure = flatten(spec)

    @property
    def spec(self) -> Any:
        """The types of an item."""
        return unflatten(self._structure, self._specs)

    @property
    def cardinality(self) -> int:
        """The number of items."""
        return len(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __str__(self) -> str:
        return f"from_python({self._name})"

    def take_rows(self, indices: Any) -> Any:
        """Returns items as one batch; a note on the object's exceptions names the item."""
        numbers: list[int] = np.asarray(indices).tolist()
        if self._columnar:
            row, structure = take_apart(self._rows(numbers))
            return unflatten(structure, row)
        rows = [self._checked(number, item) for number, item in zip(numbers, self._taken(numbers), strict=True)]
        return unflatten(self._structure, stacked(rows, "from_python"))

    def _taken(self, numbers: Sequence[int]) -> Sequence[Any]:
        many = getattr(self._items, "__getitems__", None)
        if many is not None:
            return many(list(numbers))
        elements: list[Any] = []
        for number in numbers:
            try:
                elements.append(self._items[number])
            except Exception as error:
                error.add_note(f"in item {number} of the {self._name} of a dataset")
                raise
        return elements

    def _rows(self, numbers: list[int]) -> dict[str, Any]:
        """Returns rows of a Hugging Face dataset."""
        return {name: _stackable(column) for name, column in self._items[numbers].items()}

    def _checked(self, number: int, item: Any) -> Row:
        return checked_row(item, self._specs, self._structure, f"item {number} of the {self._name}")

    def open(self) -> RowIterator:
        """Starts to read."""
        return RowIterator(self)


def _stackable(column: Any) -> Any:
    """Converts a column of a Hugging Face dataset to an array."""
    return cast("Any", column) if isinstance(column, np.ndarray) else list(column)


def checked_row(element: Any, specs: Sequence[Any], structure: Any, what: str) -> Row:
    """Converts an element to a row of the expected types."""
    row, layout = take_apart(element)
    if layout != structure:
        actual, expected = described(unflatten(layout, list(map(spec_of, row)))), described(unflatten(structure, specs))
        raise InvalidArgumentError(f"from_python: {what} is {actual}, expected {expected}")
    leaves: list[Any] = []
    for leaf, spec in zip(row, specs, strict=True):
        leaf_spec = spec_of(leaf)
        fits = leaf_spec.of_strings == spec.of_strings and spec.has_shape(leaf_spec.shape)
        dtype = spec.type.dtype
        if not fits or not (spec.of_strings or np.can_cast(leaf.dtype, dtype, "same_kind")):
            raise InvalidArgumentError(f"from_python: {what} has a leaf {leaf_spec}, expected {spec}")
        leaves.append(leaf if spec.of_strings or leaf.dtype == dtype else leaf.astype(dtype))
    return tuple(leaves)


# Files whose elements are strings: lines, fixed-length records, and TFRecords.

_STRING = TensorSpec((), "string")


@dataclass(frozen=True)
class TextLines:
    """Lines without their ends (a line feed, with or without a carriage return).

    Args:
      compression: the compression of the files: ``"GZIP"``, ``"ZLIB"``, or empty for none.
    """

    compression: str = ""
    spec, word = _STRING, "text_lines"

    def open(self, name: bytes) -> _TextReader:
        """Starts to read a file."""
        return _TextReader(name, self.compression)

    def count(self, name: bytes) -> None:
        """Returns None: only reading tells."""


class _ByOffset:
    """A reader whose position is a byte offset in the decompressed file."""

    def __init__(self, name: bytes, compression: str) -> None:
        self._name = name
        self._file = open_file(name, compression)
        self._offset = 0

    def position(self) -> list[int]:
        return [self._offset]

    def seek(self, position: Sequence[int]) -> None:
        with reading(self._name):
            skip_to(self._file, position[0], self._offset)
        self._offset = position[0]

    def skip(self) -> bool:
        return False

    def close(self) -> None:
        self._file.close()


class _TextReader(_ByOffset):
    _rest = b""

    def read(self) -> Columns | None:
        parts = [self._rest]
        with reading(self._name):
            while block := self._file.read(BLOCK):
                parts.append(block)
                if b"\n" in block:
                    break
        data = b"".join(parts)
        if not data:
            return None
        lines = data.split(b"\n")
        self._rest = lines.pop() if block else b""
        if not block and not lines[-1]:
            lines.pop()  # the file ends with a line feed
        self._offset += len(data) - len(self._rest)
        if b"\r" in data:
            lines = [line.removesuffix(b"\r") for line in lines]
        return (objects(lines),)


@dataclass(frozen=True)
class FixedLengthRecords:
    """Records of fixed length.

    Args:
      record_bytes: the size of a record.
      header_bytes: the number of bytes to skip at the start of each file.
      footer_bytes: the number of bytes to ignore at the end of each file.
      compression: the compression of the files: ``"GZIP"``, ``"ZLIB"``, or empty for none.
    """

    record_bytes: int
    header_bytes: int = 0
    footer_bytes: int = 0
    compression: str = ""
    spec, word = _STRING, "fixed_length_records"

    def open(self, name: bytes) -> _FixedReader:
        """Opens a file and skips its header."""
        return _FixedReader(name, self)

    def count(self, name: bytes) -> int | None:
        """Returns the number of whole records in an uncompressed file."""
        if self.compression:
            return None
        with files.file_errors(os.fsdecode(name)):
            size = os.stat(name).st_size
        return max(size - self.header_bytes - self.footer_bytes, 0) // self.record_bytes


class _FixedReader(_ByOffset):
    """Reads ahead by the size of the footer, since a compressed file does not know its length."""

    def __init__(self, name: bytes, format: FixedLengthRecords) -> None:
        super().__init__(name, format.compression)
        self._format, self._ahead = format, b""
        self.seek([format.header_bytes])

    def read(self) -> Columns | None:
        size, footer = self._format.record_bytes, self._format.footer_bytes
        wanted = max(BLOCK // size, 1) * size + footer
        with reading(self._name):
            data = self._ahead + self._file.read(wanted - len(self._ahead))
        whole = max(len(data) - footer, 0) // size * size
        if not whole:
            if len(data) > footer:
                where = f"{os.fsdecode(self._name)!r}: the record at byte {self._offset}"
                raise DataLossError(f"{where} is truncated: {len(data) - footer} of {size} bytes")
            return None
        self._ahead = data[whole:]
        self._offset += whole
        return (objects([data[start : start + size] for start in range(0, whole, size)]),)


@dataclass(frozen=True)
class TFRecords:
    """TFRecord files; each record's checksum is verified.

    Args:
      compression: the compression of the files: ``"GZIP"``, ``"ZLIB"``, or empty for none.
    """

    compression: str = ""
    spec, word = _STRING, "tf_records"

    def open(self, name: bytes) -> _RecordReader:
        """Starts to read a file."""
        return _RecordReader(RecordStream(name, self.compression))

    def count(self, name: bytes) -> None:
        """Returns None: only reading tells."""


class _RecordReader:
    def __init__(self, stream: RecordStream) -> None:
        self._stream = stream

    def read(self) -> Columns | None:
        records = self._stream.read_some()
        return (objects(records),) if records else None

    def position(self) -> list[int]:
        return [self._stream.offset]

    def seek(self, position: Sequence[int]) -> None:
        self._stream.seek(position[0])

    def skip(self) -> bool:
        return self._stream.skip()

    def close(self) -> None:
        self._stream.close()
