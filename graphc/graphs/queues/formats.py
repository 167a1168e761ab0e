"""The formats of readers: each splits a file into records with keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import astuple, dataclass
from itertools import count
from typing import Any, ClassVar

from graphc.library.formats import RecordStream, open_file, reading


class Format:
    """A format with its settings, which are the fields of a dataclass."""

    compression: str = ""
    is_single: ClassVar[bool] = False
    """True if a file has only one record, so that it ends when that is read."""

    def open(self, name: bytes) -> Any:
        """Opens a file."""
        return open_file(name, self.compression)

    def records(self, name: bytes, file: Any) -> Iterator[tuple[bytes, bytes]]:
        """Yields the key and the contents of each record of an open file."""
        raise NotImplementedError


@dataclass(frozen=True)
class WholeFiles(Format):
    """Whole files: the key is the name."""

    is_single: ClassVar[bool] = True

    def records(self, name: bytes, file: Any) -> Iterator[tuple[bytes, bytes]]:
        """Yields the contents."""
        yield name, file.read()


@dataclass(frozen=True)
class TextLineFormat(Format):
    """Lines without their ends (a line feed, with or without a carriage return): the key is ``name:line``, from 1."""

    skip_header_lines: int = 0
    compression: str = ""

    def records(self, name: bytes, file: Any) -> Iterator[tuple[bytes, bytes]]:
        """Yields the lines after the header."""
        for number in count(1):
            with reading(name):
                line = file.readline()
            if not line:
                return
            if number > self.skip_header_lines:
                yield b"%s:%d" % (name, number), line.removesuffix(b"\n").removesuffix(b"\r")


@dataclass(frozen=True)
class FixedLengthFormat(Format):
    """Records of fixed length: the key is ``name:record``, from 0. Readers of files say what the sizes mean."""

    record_bytes: int
    header_bytes: int = 0
    footer_bytes: int = 0
    hop_bytes: int = 0
    compression: str = ""

    def records(self, name: bytes, file: Any) -> Iterator[tuple[bytes, bytes]]:
        """Yields the records; reads ahead by the footer's size, since a compressed file does not know its length."""
        ahead, skip, size = b"", self.header_bytes, self.record_bytes
        for number in count():
            with reading(name):
                ahead = _filled(ahead, file, skip)[skip:]
                ahead = _filled(ahead, file, size + self.footer_bytes)
            if len(ahead) < size + self.footer_bytes:
                return
            yield b"%s:%d" % (name, number), ahead[:size]
            skip = self.hop_bytes or size


def _filled(ahead: bytes, file: Any, size: int) -> bytes:
    return ahead + file.read(size - len(ahead)) if len(ahead) < size else ahead


@dataclass(frozen=True)
class Records(Format):
    """TFRecord files: the key is ``name:byte``."""

    compression: str = ""

    def open(self, name: bytes) -> RecordStream:
        """Opens a file."""
        return RecordStream(name, self.compression)

    def records(self, name: bytes, file: RecordStream) -> Iterator[tuple[bytes, bytes]]:
        """Yields the records."""
        offset = file.offset
        while (record := file.read()) is not None:
            yield b"%s:%d" % (name, offset), record
            offset = file.offset


FORMATS: Mapping[str, type[Any]] = {
    "fixed_length_record": FixedLengthFormat, "text_line": TextLineFormat, "tf_record": Records,
    "whole_file": WholeFiles,
}  # fmt: skip
"""The formats, by their names in graphs."""

_NAMES: Mapping[type[Any], str] = {kind: name for name, kind in FORMATS.items()}


def spec_of(format: Format) -> tuple[Any, ...]:
    """Returns a format as an attribute of a node: its name and its settings."""
    settings: Any = format
    return (_NAMES[type(format)], *astuple(settings))
