"""The state machine of readers, with each format: records, keys, counts, damaged and packed files.

Keys, records and counts are what TensorFlow 2.21's readers give for the same files.
"""

from __future__ import annotations

import gzip
import os
import threading
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphc.compiler.base import deadline
from graphc.compiler.base.errors import (
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    NotFoundError,
    OutOfRangeError,
)
from graphc.graphs.queues.formats import FixedLengthFormat, Format, Records, TextLineFormat, WholeFiles, spec_of
from graphc.graphs.queues.readers import ReaderState
from graphc.library.formats import TFRecordWriter

TEXT = b"h1\nh2\r\nx\ry\n\nlast"
BINARY = b"HH" + bytes(range(10)) + b"FFF"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"a.txt": TEXT, "b.txt": b"", "c.txt": b"one\n", "d.bin": BINARY, "r.txt": b"a\r\r\nb\r"}
    files |= {"d.z": zlib.compress(BINARY), "d.gz": gzip.compress(BINARY)}
    files |= {"a.z": zlib.compress(TEXT), "a.gz": gzip.compress(TEXT[:5]) + gzip.compress(TEXT[5:])}
    for name, data in files.items():
        Path(name).write_bytes(data)
    for name, options in (("t.r", None), ("t.rz", "ZLIB"), ("t.rg", "GZIP")):
        with TFRecordWriter(name, options) as writer:
            for count in range(3):
                writer.write(b"abc" * count)


def names(*given: str) -> Callable[[], bytes]:
    left: Iterator[str] = iter(given)

    def take() -> bytes:
        name = next(left, None)
        if name is None:
            raise OutOfRangeError("the queue is closed")
        return name.encode()

    return take


def reader(format: Format) -> ReaderState:
    return ReaderState("reader", spec_of(format))


def everything(format: Format, *files: str) -> list[tuple[str, bytes]]:
    state, take, found = reader(format), names(*files), list[tuple[str, bytes]]()
    while True:
        try:
            key, record = state.read(take)
        except OutOfRangeError:
            assert (state.produced, state.completed) == (len(found), len(files))
            return found
        found.append((key.decode(), record))


LINES = [("a.txt:1", b"h1"), ("a.txt:2", b"h2"), ("a.txt:3", b"x\ry"), ("a.txt:4", b""), ("a.txt:5", b"last")]


@pytest.mark.parametrize(
    ("format", "files", "expected"),
    [
        (TextLineFormat(), ["a.txt", "b.txt", "c.txt"], [*LINES, ("c.txt:1", b"one")]),
        (TextLineFormat(1), ["a.txt", "b.txt", "c.txt"], LINES[1:]),
        (TextLineFormat(9), ["a.txt", "c.txt"], []),
        (TextLineFormat(), ["r.txt"], [("r.txt:1", b"a\r"), ("r.txt:2", b"b")]),
        (TextLineFormat(0, "ZLIB"), ["a.z"], [(key.replace("txt", "z"), line) for key, line in LINES]),
        (TextLineFormat(0, "GZIP"), ["a.gz"], [(key.replace("txt", "gz"), line) for key, line in LINES]),
        (WholeFiles(), ["c.txt", "b.txt"], [("c.txt", b"one\n"), ("b.txt", b"")]),
        (FixedLengthFormat(4, 2, 3), ["d.bin"], [("d.bin:0", b"\0\1\2\3"), ("d.bin:1", b"\4\5\6\7")]),
        (FixedLengthFormat(5, 2, 3), ["d.bin"], [("d.bin:0", b"\0\1\2\3\4"), ("d.bin:1", b"\5\6\7\x08\x09")]),
        (FixedLengthFormat(4, 2, 3, 2), ["d.bin"], [(f"d.bin:{i}", BINARY[2 + 2 * i : 6 + 2 * i]) for i in range(4)]),
        (FixedLengthFormat(4, 2, 3, 6), ["d.bin"], [("d.bin:0", b"\0\1\2\3"), ("d.bin:1", b"\6\7\x08\x09")]),
        (FixedLengthFormat(4, 99, 3), ["d.bin", "b.txt"], []),
        (FixedLengthFormat(4, 2, 3, 0, "ZLIB"), ["d.z"], [("d.z:0", b"\0\1\2\3"), ("d.z:1", b"\4\5\6\7")]),
        (FixedLengthFormat(4, 2, 3, 0, "GZIP"), ["d.gz"], [("d.gz:0", b"\0\1\2\3"), ("d.gz:1", b"\4\5\6\7")]),
        (Records(), ["t.r"], [("t.r:0", b""), ("t.r:16", b"abc"), ("t.r:35", b"abcabc")]),
        (Records("ZLIB"), ["t.rz"], [("t.rz:0", b""), ("t.rz:16", b"abc"), ("t.rz:35", b"abcabc")]),
        (Records("GZIP"), ["t.rg"], [("t.rg:0", b""), ("t.rg:16", b"abc"), ("t.rg:35", b"abcabc")]),
    ],
)
def test_each_format_gives_tensorflows_records_and_keys(
    format: Format, files: list[str], expected: list[tuple[str, bytes]]
) -> None:
    assert everything(format, *files) == expected


def test_a_file_that_zlib_packed_to_a_thousandth_is_unpacked_whole() -> None:
    Path("zeros.z").write_bytes(zlib.compress(bytes(3_000_000)))
    found = everything(FixedLengthFormat(1_000_000, compression="ZLIB"), "zeros.z")
    assert [len(record) for _, record in found] == [1_000_000] * 3


class TestReadUpTo:
    def test_gives_what_the_file_still_has_and_ends_it_at_once(self) -> None:
        state, take = reader(TextLineFormat()), names("a.txt", "b.txt", "c.txt")
        counts = [(len(state.read_up_to(take, 3)), state.produced, state.completed) for _ in range(3)]
        assert counts == [(3, 3, 0), (2, 5, 1), (1, 6, 3)]
        with pytest.raises(OutOfRangeError):
            state.read_up_to(take, 3)

    def test_gives_one_record_of_formats_with_one_a_file(self) -> None:
        state, take = reader(WholeFiles()), names("c.txt", "b.txt")
        assert state.read_up_to(take, 2) == [(b"c.txt", b"one\n")]
        assert state.completed == 1

    def test_of_nothing_takes_no_file(self) -> None:
        assert reader(WholeFiles()).read_up_to(names(), 0) == []


class TestFilesThatDoNotDo:
    def test_one_that_is_not_there_is_passed_over_by_the_next_call(self) -> None:
        state, take = reader(TextLineFormat()), names("nofile", "c.txt", ".", "c.txt")
        with pytest.raises(NotFoundError, match="nofile: No such file or directory") as caught:
            state.read(take)
        assert isinstance(caught.value, FileNotFoundError)
        assert state.read(take) == (b"c.txt:1", b"one")
        with pytest.raises(FailedPreconditionError, match=r"\.: Is a directory"):
            state.read(take)
        assert state.read(take) == (b"c.txt:1", b"one")

    def test_a_damaged_record_is_an_error_each_time(self) -> None:
        data = bytearray(Path("t.r").read_bytes())
        data[16 + 12] ^= 1
        Path("bad.r").write_bytes(data)
        state, take = reader(Records()), names("bad.r", "t.r")
        assert state.read_up_to(take, 5) == [(b"bad.r:0", b"")]
        for _ in range(2):
            with pytest.raises(DataLossError, match=r"'bad\.r': the record at byte 16 does not fit its checksum"):
                state.read_up_to(take, 5)
            with pytest.raises(DataLossError, match="the record at byte 16"):
                state.read(take)
        assert state.produced == 1

    @pytest.mark.parametrize(
        ("name", "cut", "message"),
        [
            ("t.r", -3, "the record at byte 35 is cut off"),
            ("t.r", 20, "the record at byte 16 is cut off"),
            ("t.r", 16 + 13, "the record at byte 16 is cut off"),
        ],
    )
    def test_a_record_that_is_cut_off_is_an_error(self, name: str, cut: int, message: str) -> None:
        Path("cut.r").write_bytes(Path(name).read_bytes()[:cut])
        with pytest.raises(DataLossError, match=message):
            everything(Records(), "cut.r")

    def test_what_is_no_file_of_records_is_told_so(self) -> None:
        with pytest.raises(DataLossError, match="is it a file of records, and packed as was said"):
            everything(Records(), "t.rg")

    @pytest.mark.parametrize("compression", ["ZLIB", "GZIP"])
    def test_what_cannot_be_unpacked_is_told_so(self, compression: str) -> None:
        packed = {"ZLIB": "a.z", "GZIP": "a.gz"}[compression]
        Path("cut").write_bytes(Path(packed).read_bytes()[:-9])
        for name in ("cut", "a.txt"):
            with pytest.raises(DataLossError, match=f"'{name}' cannot be unpacked: ") as caught:
                everything(TextLineFormat(0, compression), name)
            assert isinstance(caught.value, OSError)


FORMATS: list[tuple[Format, list[str]]] = [
    (TextLineFormat(1), ["a.txt", "c.txt", "a.txt"]),
    (TextLineFormat(1, "ZLIB"), ["a.z", "a.z"]),
    (TextLineFormat(0, "GZIP"), ["a.gz", "a.gz"]),
    (FixedLengthFormat(4, 2, 3, 2), ["d.bin", "d.bin"]),
    (FixedLengthFormat(4, 2, 3, 6, "ZLIB"), ["d.z", "d.z"]),
    (Records(), ["t.r", "t.r"]),
    (Records("ZLIB"), ["t.rz", "t.rz"]),
    (WholeFiles(), ["a.txt", "c.txt"]),
]


class TestState:
    def test_reset_makes_it_new(self) -> None:
        state, take = reader(TextLineFormat()), names("a.txt", "c.txt")
        state.read(take)
        state.reset()
        assert (state.produced, state.completed) == (0, 0)
        assert state.read(take) == (b"c.txt:1", b"one")


def test_files_are_closed_at_their_end() -> None:
    before = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else None
    for format, files in FORMATS:
        everything(format, *files)
    if before is not None:
        assert len(os.listdir("/proc/self/fd")) == before


def test_threads_share_a_reader_and_nothing_is_lost_or_read_twice() -> None:
    Path("many.txt").write_bytes(b"".join(b"%d\n" % i for i in range(2000)))
    state, found = reader(TextLineFormat()), list[int]()
    take = names("many.txt")

    def work() -> None:
        while True:
            try:
                found.append(int(state.read(take)[1]))
            except OutOfRangeError:
                return

    threads = [threading.Thread(target=work, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(found) == list(range(2000))


def test_a_thread_that_waits_for_the_reader_keeps_to_its_deadline() -> None:
    state, taking, let_go = reader(WholeFiles()), threading.Event(), threading.Event()

    def take() -> bytes:
        taking.set()
        let_go.wait(60)
        return b"c.txt"

    thread = threading.Thread(target=state.read, args=(take,), daemon=True)
    thread.start()
    taking.wait(60)
    message = "waiting for reader, which another thread reads from"
    with pytest.raises(DeadlineExceededError, match=message), deadline(0.01):
        state.read(take)
    let_go.set()
    thread.join(60)
    assert state.produced == 1
