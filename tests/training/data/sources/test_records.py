"""Lines, records of one length and TensorFlow's records: the elements, every position, and what is wrong with files."""

from __future__ import annotations

import gzip
import zlib
from pathlib import Path

import pytest

from graphc.compiler.base.errors import DataLossError, FileMissingError, InvalidTypeError
from graphc.library.formats import TFRecordWriter
from graphc.training.data.sources import FileSource, FixedLengthRecords, TextLines, TFRecords, file_names
from tests.training.data.sources.reading import check, elements


def packed(data: bytes, compression: str) -> bytes:
    return {"": bytes, "GZIP": gzip.compress, "ZLIB": zlib.compress}[compression](data)


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_lines_are_those_of_all_files(tmp_path: Path, compression: str) -> None:
    long = b"x" * 300_000  # longer than a block
    numbers = [b"%d" % k for k in range(5000)]
    texts = [b"one\ntwo\r\n\nlast", b"", b"\n", b"\n".join([*numbers, long, b"end", b""])]
    for k, text in enumerate(texts):
        (tmp_path / f"{k}").write_bytes(packed(text, compression))
    names = file_names([tmp_path / f"{k}" for k in range(4)], "test")
    expected = [b"one", b"two", b"", b"last", b"", *numbers, long, b"end"]
    assert check(FileSource(names, TextLines(compression))) == expected


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_records_of_one_length_stand_between_header_and_footer(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "records"
    path.write_bytes(packed(b"HEAD" + bytes(range(250)) * 3 + b"FOOT!", compression))
    found = check(FileSource((bytes(path), bytes(path)), FixedLengthRecords(3, 4, 5, compression)))
    assert found == [bytes([k % 250 for k in range(3 * n, 3 * n + 3)]) for n in range(250)] * 2
    path.write_bytes(packed(b"abcabcab", compression))
    reader = FileSource((bytes(path), bytes(path)), FixedLengthRecords(3, compression=compression)).open()
    assert [next(reader), next(reader)] == [b"abc", b"abc"]
    with pytest.raises(DataLossError, match="records': the record at byte 6 is truncated: 2 of 3 bytes"):
        next(reader)
    assert next(reader) == b"abc"  # the next file
    reader.close()


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_tensorflows_records_and_damage_that_costs_one(tmp_path: Path, compression: str) -> None:
    path = tmp_path / "records"
    expected = [b"%d" % k * (k % 7) for k in range(12000)]
    with TFRecordWriter(path, compression) as writer:
        for record in expected:
            writer.write(record)
    source = FileSource((bytes(path),), TFRecords(compression))
    assert check(source) == expected
    if compression:
        return
    data = bytearray(path.read_bytes())
    data[data.index(b"10001" * 5) + 2] ^= 1
    path.write_bytes(data)
    reader = source.open()
    assert [next(reader) for _ in range(10001)] == expected[:10001]
    with pytest.raises(DataLossError, match=r"records': the record at byte \d+ does not fit its checksum"):
        next(reader)
    assert elements(reader) == expected[10002:]


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(gzip.compress(b"a line\n" * 100)[:-12])
    missing = FileSource((bytes(tmp_path / "none"), bytes(path)), TextLines()).open()
    with pytest.raises(FileMissingError, match="none: No such file"):
        next(missing)
    assert next(missing).startswith(b"\x1f")  # the next file
    missing.close()
    torn = FileSource((bytes(path),), TextLines("GZIP")).open()
    with pytest.raises(DataLossError, match="lines' cannot be unpacked"):
        elements(torn)
    assert torn.read_many(1) is None
    with pytest.raises(InvalidTypeError, match=r"TextLines: expected a file name or a list of names, got 3"):
        file_names(3, "TextLines")


def test_rows_come_before_the_error_behind_them(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes(b"one\ntwo\n")
    reader = FileSource((bytes(path), bytes(tmp_path / "none"), bytes(path)), TextLines()).open()
    batch = reader.read_many(10)
    assert batch is not None
    assert batch.tolist() == [b"one", b"two"]
    with pytest.raises(FileMissingError):
        reader.read_many(10)
    assert elements(reader) == [b"one", b"two"]
