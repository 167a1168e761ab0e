"""Files whose elements are strings: lines, fixed-length records, and TFRecords."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

from graphc.compiler.base import files
from graphc.compiler.base.errors import DataLossError
from graphc.compiler.function import TensorSpec
from graphc.library.formats import RecordStream, open_file, reading, skip_to
from graphc.training.data.sources.chunks import BLOCK, Columns, objects

__all__ = ["FixedLengthRecords", "TFRecords", "TextLines"]

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
