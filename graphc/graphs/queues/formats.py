"""The formats of readers: each splits a file into records with keys."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass
from typing import Any, Protocol

from graphc.library.formats import RecordStream, open_file, reading

__all__ = ["FORMATS", "FixedLengthRecords", "Format", "Records", "TextLines", "WholeFiles", "Work", "spec_of"]


class Work(Protocol):
    """A file that is being read.

    Attributes:
      is_single: whether it has only one record, so that it ends when that is read.
    """

    is_single: bool

    def read(self) -> tuple[bytes, bytes] | None:
        """Returns the next key and record; None at the end."""
        ...

    def close(self) -> None:
        """Closes the file."""
        ...


class Format(Protocol):
    """A format with its settings, which are the fields of a dataclass."""

    def open(self, name: bytes) -> Work:
        """Opens a file."""
        ...


class _Single:
    """A file with one record."""

    is_single = True

    def __init__(self, key: bytes, record: bytes) -> None:
        self._record = key, record

    def read(self) -> tuple[bytes, bytes]:
        """Returns the record."""
        return self._record

    def close(self) -> None:
        """Does nothing."""


@dataclass(frozen=True)
class WholeFiles:
    """Whole files: the key is the name."""

    def open(self, name: bytes) -> Work:
        """Reads a file."""
        with open_file(name) as file:
            return _Single(name, file.read())


@dataclass(frozen=True)
class TextLines:
    """Lines without their ends (a line feed, with or without a carriage return): the key is ``name:line``, from 1."""

    skip_header_lines: int = 0
    compression: str = ""

    def open(self, name: bytes) -> Work:
        """Opens a file and skips its header."""
        return _TextWork(name, self)


class _TextWork:
    is_single = False

    def __init__(self, name: bytes, format: TextLines) -> None:
        self._name = name
        self._file = open_file(name, format.compression)
        self._line = 0
        try:
            with reading(name):
                while self._line < format.skip_header_lines and self._file.readline():
                    self._line += 1
        except BaseException:
            self._file.close()
            raise

    def read(self) -> tuple[bytes, bytes] | None:
        with reading(self._name):
            line = self._file.readline()
        if not line:
            return None
        self._line += 1
        return b"%s:%d" % (self._name, self._line), line.removesuffix(b"\n").removesuffix(b"\r")

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True)
class FixedLengthRecords:
    """Records of fixed length: the key is ``name:record``, from 0."""

    record_bytes: int
    header_bytes: int = 0
    footer_bytes: int = 0
    hop_bytes: int = 0
    compression: str = ""

    def open(self, name: bytes) -> Work:
        """Opens a file and skips its header."""
        return _FixedLengthWork(name, self)


class _FixedLengthWork:
    """Reads ahead by the size of the footer, since a compressed file does not know its length."""

    is_single = False

    def __init__(self, name: bytes, format: FixedLengthRecords) -> None:
        self._name = name
        self._format = format
        self._file = open_file(name, format.compression)
        self._hop = format.hop_bytes or format.record_bytes
        self._ahead = b""
        self._skip = format.header_bytes
        self._number = 0

    def read(self) -> tuple[bytes, bytes] | None:
        size = self._format.record_bytes
        with reading(self._name):
            self._ahead = self._ahead[self._skip :] if self._fill(self._skip) else b""
            self._skip = 0
            if not self._fill(size + self._format.footer_bytes):
                return None
        record, self._skip = self._ahead[:size], self._hop
        self._number += 1
        return b"%s:%d" % (self._name, self._number - 1), record

    def _fill(self, size: int) -> bool:
        """Reads ahead until it has ``size`` bytes; returns True if the file has that many."""
        if len(self._ahead) < size:
            self._ahead += self._file.read(size - len(self._ahead))
        return len(self._ahead) >= size

    def close(self) -> None:
        self._file.close()


@dataclass(frozen=True)
class Records:
    """TFRecord files: the key is ``name:byte``."""

    compression: str = ""

    def open(self, name: bytes) -> Work:
        """Opens a file."""
        return _RecordWork(name, self)


class _RecordWork:
    is_single = False

    def __init__(self, name: bytes, format: Records) -> None:
        self._name = name
        self._stream = RecordStream(name, format.compression)

    def read(self) -> tuple[bytes, bytes] | None:
        offset = self._stream.offset
        record = self._stream.read()
        return None if record is None else (b"%s:%d" % (self._name, offset), record)

    def close(self) -> None:
        self._stream.close()


FORMATS: Mapping[str, type[Any]] = {
    "fixed_length_record": FixedLengthRecords,
    "text_line": TextLines,
    "tf_record": Records,
    "whole_file": WholeFiles,
}
"""The formats, by their names in graphs."""

_NAMES: Mapping[type[Any], str] = {kind: name for name, kind in FORMATS.items()}


def spec_of(format: Format) -> tuple[Any, ...]:
    """Returns a format as an attribute of a node: its name and its settings."""
    settings: Any = format
    return (_NAMES[type(format)], *astuple(settings))
