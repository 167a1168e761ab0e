"""Files of records: the bytes are TensorFlow's, packed or not, and what is wrong is said."""

from __future__ import annotations

import builtins
import gzip
import threading
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphc.compiler.base.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    NotFoundError,
)
from graphc.library.formats import records
from graphc.library.formats.records import TFRecordOptions, TFRecordWriter, tf_record_iterator

# What TensorFlow 2.21 writes for b"", b"abc" and b"abcabc".
TENSORFLOWS = bytes.fromhex(
    "000000000000000029039807d8ea82a20300000000000000b099490e6162636e57f12106000000000000007369d537616263616263563a1bac"
)
RECORDS = [b"", b"abc", b"abcabc"]


@pytest.mark.parametrize(
    ("options", "unpack"),
    [
        (None, bytes),
        ("", bytes),
        (TFRecordOptions(None), bytes),
        ("NONE", bytes),
        ("ZLIB", zlib.decompress),
        ("gzip", gzip.decompress),
        (TFRecordOptions("ZLIB", compression_level=9, window_bits=9, mem_level=9), zlib.decompress),
        (TFRecordOptions("GZIP", compression_strategy=zlib.Z_HUFFMAN_ONLY), gzip.decompress),
    ],
)
def test_the_bytes_are_tensorflows(tmp_path: Path, options: Any, unpack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "records"
    with TFRecordWriter(path, options) as writer:
        for record in RECORDS:
            writer.write(record)
    assert unpack(path.read_bytes()) == TENSORFLOWS
    assert list(tf_record_iterator(path, options)) == RECORDS


def test_text_and_views_are_written_and_flush_makes_them_visible(tmp_path: Path) -> None:
    path = tmp_path / "records"
    writer = TFRecordWriter(str(path))
    for record in ("äb", bytearray(b"xyz"), memoryview(b"123")):
        writer.write(record)
    writer.flush()
    assert list(tf_record_iterator(str(path))) == ["äb".encode(), b"xyz", b"123"]
    writer.close()
    writer.close()
    for use in (writer.flush, lambda: writer.write(b"")):
        with pytest.raises(FailedPreconditionError, match="TFRecordWriter: the file is closed"):
            use()


def test_threads_share_a_writer(tmp_path: Path) -> None:
    path = tmp_path / "records"
    with TFRecordWriter(path, "GZIP") as writer:

        def work(number: int) -> None:
            for count in range(200):
                writer.write(b"%d" % (number * 1000 + count))

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
    found = sorted(int(record) for record in tf_record_iterator(path, "GZIP"))
    assert found == [number * 1000 + count for number in range(4) for count in range(200)]


def wrote_a_number(path: Path) -> None:
    with TFRecordWriter(path) as writer:
        writer.write(3)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda path: TFRecordOptions("LZ4"), InvalidArgumentError, r"expected 'GZIP', 'ZLIB', or '' .*, got 'LZ4'"),
        (lambda path: TFRecordWriter(path, "bz2"), InvalidArgumentError, r"TFRecordWriter: options: .*, got 'bz2'"),
        (
            lambda path: TFRecordWriter(path, 3),
            InvalidTypeError,
            r"TFRecordWriter: options must be TFRecordOptions, a compression or None, got 3",
        ),
        (wrote_a_number, InvalidTypeError, r"expected bytes, got 3; serialize a message"),
        (lambda path: next(tf_record_iterator(path)), NotFoundError, r"records: No such file"),
    ],
)
def test_what_is_wrong_is_said(
    tmp_path: Path, call: Callable[[Any], object], kind: type[Exception], message: str
) -> None:
    with pytest.raises(kind, match=message):
        call(tmp_path / "records")


def test_without_the_library_the_error_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "google_crc32c":
            raise ImportError(name)
        return real(name, *rest)

    records._checksum.cache_clear()
    records._library.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "__import__", without)
        with pytest.raises(FailedPreconditionError, match=r"need google-crc32c: pip install 'graphc\[data\]'"):
            TFRecordWriter(tmp_path / "records")
    assert not (tmp_path / "records").exists()


def test_many_records_are_read_at_once_and_a_damaged_one_stops_them(tmp_path: Path) -> None:
    path, expected = tmp_path / "records", [bytes([k % 251]) * (k % 97) for k in range(9000)] + [b"x" * (1 << 19)]
    with TFRecordWriter(path, "GZIP") as writer:
        for record in expected:
            writer.write(record)
    stream = records.RecordStream(bytes(path), "GZIP")
    found: list[bytes] = []
    while some := stream.read_some():
        found += some
    assert found == expected
    stream.close()
    data = bytearray(TENSORFLOWS)
    data[16 + 12] ^= 1  # the first byte of the second record's data
    path.write_bytes(data)
    stream = records.RecordStream(bytes(path))
    assert stream.read_some() == [b""]
    for _ in range(2):
        with pytest.raises(DataLossError, match="records': the record at byte 16 does not fit its checksum"):
            stream.read_some()
    assert stream.skip()
    assert stream.read_some() == [b"abcabc"]
    assert stream.read_some() == []
    stream.close()
    path.write_bytes(TENSORFLOWS[:20])
    stream = records.RecordStream(bytes(path))
    assert stream.read_some() == [b""]
    with pytest.raises(DataLossError, match="byte 16 is cut off"):
        stream.read_some()
    assert not stream.skip()
    stream.close()
