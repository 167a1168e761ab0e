"""Readers in eager code: each kind, what they say of wrong arguments, and what compiled functions say of them."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.base.errors import (
    DeadlineExceededError,
    InvalidArgumentError,
    InvalidTypeError,
    OutOfRangeError,
    UnimplementedError,
)
from graphc.graphs.queues import (
    FIFOQueue,
    FixedLengthRecordReader,
    PaddingFIFOQueue,
    TextLineReader,
    TFRecordReader,
    TFRecordWriter,
    WholeFileReader,
)


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("x,y\n1,2\n3,4\n")
    Path("b.bin").write_bytes(b"\xff\x00\x01\xfe\x02\x03")
    with TFRecordWriter("r.tfrecord", "GZIP") as writer:
        writer.write(b"one")
        writer.write(b"two")


def names(*given: str, closed: bool = True) -> FIFOQueue:
    queue = FIFOQueue(10, gx.string, shapes=[[]])
    for name in given:
        queue.enqueue(name)
    if closed:
        queue.close()
    return queue


def pairs(reader: Any, queue: Any) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    while True:
        try:
            key, value = reader.read(queue)
        except OutOfRangeError:
            return found
        found.append((key.item(), value.item()))


@pytest.mark.parametrize(
    ("make", "files", "expected"),
    [
        (lambda: TextLineReader(skip_header_lines=1), ["a.csv"], [("a.csv:2", "1,2"), ("a.csv:3", "3,4")]),
        (WholeFileReader, ["a.csv"], [("a.csv", "x,y\n1,2\n3,4\n")]),
        (lambda: TFRecordReader(options="GZIP"), ["r.tfrecord"], [("r.tfrecord:0", "one"), ("r.tfrecord:19", "two")]),
        (lambda: FixedLengthRecordReader(2, 4), ["b.bin"], [("b.bin:0", "\x02\x03")]),
    ],
)
def test_each_kind_reads_its_records(
    make: Callable[[], Any], files: list[str], expected: list[tuple[str, str]]
) -> None:
    reader = make()
    assert pairs(reader, names(*files)) == expected
    assert (reader.num_records_produced().item(), reader.num_work_units_completed().item()) == (
        len(expected),
        len(files),
    )
    reader.reset()
    assert reader.num_records_produced().item() == 0


def test_many_records_come_as_vectors() -> None:
    reader, queue = TextLineReader(), names("a.csv", "a.csv")
    keys, values = reader.read_up_to(queue, 2)
    assert (keys.tolist(), values.tolist()) == (["a.csv:1", "a.csv:2"], ["x,y", "1,2"])
    assert reader.read_up_to(queue, 9).value.tolist() == ["3,4"]
    assert reader.read_up_to(queue, 0).key.shape == (0,)


def test_bytes_that_are_no_text_survive() -> None:
    reader, queue = FixedLengthRecordReader(3), names("b.bin")
    numbers = [gx.strings.decode_raw(reader.read(queue).value, gx.uint8).tolist() for _ in range(2)]
    assert numbers == [[255, 0, 1], [254, 2, 3]]


def test_a_reader_waits_for_names_within_its_deadline() -> None:
    reader, queue = TextLineReader(name="lines"), names(closed=False)
    with pytest.raises(DeadlineExceededError), gx.deadline(0.01):
        reader.read(queue)
    queue.enqueue("a.csv")
    assert reader.read(queue).value.item() == "x,y"
    assert repr(reader) == "<TextLineReader 'lines'>"
    assert reader.name == "lines"


def test_names_may_come_from_a_padding_queue_and_files_close_with_the_reader() -> None:
    queue = PaddingFIFOQueue(2, gx.string, shapes=[[]])
    queue.enqueue("a.csv")
    reader = TextLineReader()
    reader.read(queue)
    del reader
    gc.collect()  # a file that was left open would warn, and warnings are errors


def test_a_compiled_function_neither_makes_nor_runs_one() -> None:
    queue, reader = names("a.csv"), TextLineReader()

    @gx.function
    def read(x: Any) -> Any:
        key, value = reader.read(queue)
        return x, key, value

    message = r"reader\.read gives str\[\], and a compiled function holds numbers of known shapes only; call it outside"
    with pytest.raises(UnimplementedError, match=message):
        read(gx.ones(2))

    @gx.function
    def make(x: Any) -> Any:
        TextLineReader()
        return x

    with pytest.raises(UnimplementedError, match="a TextLineReader made in a compiled function would be made once"):
        make(gx.ones(2))


def test_a_compiled_function_counts() -> None:
    queue, reader = names("a.csv"), TextLineReader()
    reader.read(queue)

    @gx.function
    def count(x: Any) -> Any:
        return x + reader.num_records_produced()

    assert [count(gx.asarray(1)).item() for _ in range(2)] == [2, 2]
    reader.read(queue)
    assert count(gx.asarray(1)).item() == 3
    assert len(count.trace_report()) == 1  # where the reader is does not count


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: TextLineReader(skip_header_lines=-1),
            InvalidArgumentError,
            r"TextLineReader: skip_header_lines must be 0 or more, got -1",
        ),
        (
            lambda: TextLineReader(compression_type="xz"),
            InvalidArgumentError,
            r"TextLineReader: compression_type: expected 'GZIP', 'ZLIB', .*, got 'xz'",
        ),
        (
            lambda: FixedLengthRecordReader(0),
            InvalidArgumentError,
            r"FixedLengthRecordReader: record_bytes must be 1 or more, got 0",
        ),
        (
            lambda: FixedLengthRecordReader(4, hop_bytes=-2),
            InvalidArgumentError,
            r"FixedLengthRecordReader: hop_bytes must be 0 or more, got -2",
        ),
        (
            lambda: FixedLengthRecordReader(4, encoding="BZ"),
            InvalidArgumentError,
            r"FixedLengthRecordReader: encoding: expected 'GZIP', .*, got 'BZ'",
        ),
        (
            lambda: FixedLengthRecordReader(1.5),  # type: ignore[arg-type]
            InvalidTypeError,
            r"FixedLengthRecordReader: record_bytes must be an int, got 1\.5",
        ),
        (lambda: TFRecordReader(options=3), InvalidTypeError, r"TFRecordReader: options must be TFRecordOptions"),  # type: ignore[arg-type]
        (
            lambda: TextLineReader(name="r").read("a.csv"),  # type: ignore[arg-type]
            InvalidTypeError,
            r"TextLineReader 'r'\.read: expected a queue of file names, got 'a\.csv'",
        ),
        (
            lambda: TextLineReader(name="r").read(FIFOQueue(1, "int32", shapes=[[]], name="q")),
            InvalidTypeError,
            r"TextLineReader 'r'\.read: expected a queue whose one component is a string, got 'q' of \(i32\[\]\)",
        ),
        (
            lambda: TextLineReader(name="r").read_up_to(names(), -1),
            InvalidArgumentError,
            r"TextLineReader 'r'\.read_up_to: num_records must not be negative, got -1",
        ),
    ],
)
def test_what_is_wrong_is_said(call: Callable[[], object], kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "test_readers.py" in str(caught.value)
