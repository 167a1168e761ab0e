"""Readers and decoders in graphs that are built by hand, and what document 003 of the seeds does with them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import DeadlineExceededError, InvalidArgumentError, OutOfRangeError
from graphc.graphs.queues import (
    Coordinator,
    FIFOQueue,
    FixedLenFeature,
    RandomShuffleQueue,
    TextLineReader,
    VarLenFeature,
    WholeFileReader,
    make_example,
    parse_example,
    parse_single_example,
)
from graphc.graphs.session import Graph, Session, placeholder
from graphc.graphs.session.options import RunOptions
from graphc.graphs.session.runners import QueueRunner


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my_test.csv").write_text("x1, x2 , target\n1.,, 0\n4., 5. , 1\n7., 8. , 0\n")


def csv_pipeline(readers: int) -> tuple[Any, ...]:
    files = FIFOQueue(capacity=10, dtypes=[gx.string], shapes=[()])
    filename = placeholder(gx.string)
    instances = RandomShuffleQueue(
        capacity=10, min_after_dequeue=2, dtypes=[gx.float32, gx.int32], shapes=[[2], []], shared_name="instances"
    )
    enqueues = list[Any]()
    for _ in range(readers):
        _, value = TextLineReader(skip_header_lines=1).read(files)
        x1, x2, target = gx.strings.decode_csv(value, record_defaults=[[-1.0], [-1.0], [-1]])
        enqueues.append(instances.enqueue([gx.stack([x1, x2]), target]))
    return filename, files.enqueue([filename]), files.close(), instances, enqueues


ROWS = [(1.0, -1.0, 0), (4.0, 5.0, 1), (7.0, 8.0, 0)]


def rows_of(batches: list[Any]) -> list[tuple[float, float, int]]:
    return sorted((*map(float, rows[i]), int(targets[i])) for rows, targets in batches for i in range(len(rows)))


def until_the_end(run: Callable[[], Any]) -> list[Any]:
    found = list[Any]()
    while True:
        try:
            found.append(run())
        except OutOfRangeError as error:
            assert "is closed and has insufficient elements" in str(error)  # noqa: PT017
            return found


def test_rows_of_a_file_go_into_a_queue_one_run_each() -> None:
    with Graph().as_default(), Session() as session:
        filename, enqueue, close, instances, (read,) = csv_pipeline(1)
        close_instances, minibatch = instances.close(), instances.dequeue_up_to(2)
        session.run(enqueue, feed_dict={filename: "my_test.csv"})
        session.run(close)
        assert len(until_the_end(lambda: session.run(read))) == 3
        session.run(close_instances)
        batches = until_the_end(lambda: session.run(minibatch))
        assert [len(targets) for _, targets in batches] == [2, 1]
        assert rows_of(batches) == ROWS


def test_five_readers_fill_a_queue_from_several_files() -> None:
    with Graph().as_default(), Session() as session:
        filename, enqueue, close, instances, reads = csv_pipeline(5)
        minibatch = instances.dequeue_up_to(2)
        for _ in range(4):
            session.run(enqueue, feed_dict={filename: "my_test.csv"})
        session.run(close)
        coord = Coordinator()
        threads = QueueRunner(instances, reads).create_threads(session, coord=coord, start=True)
        batches = until_the_end(lambda: session.run(minibatch))
        coord.join(threads)
        assert rows_of(batches) == sorted(ROWS * 4)


class TestReaders:
    def test_each_session_has_its_own_state(self) -> None:
        for name in "abc":
            Path(name).write_text(f"in {name}")
        with Graph().as_default() as graph:
            files = FIFOQueue(9, gx.string, shapes=[[]])
            fill = files.enqueue_many([["a", "b", "c"]])
            reader = WholeFileReader(name="ids")
            assert reader.name == "ids"
            record, count, reset = reader.read(files), reader.num_records_produced(), reader.reset()
            many = reader.read_up_to(files, placeholder("int32", shape=[], name="n"))
        with Session(graph=graph) as first, Session(graph=graph) as second:
            first.run(fill)
            second.run(fill)
            assert first.run(record) == (b"a", b"in a")
            assert first.run(record).value == b"in b"
            assert [session.run(count) for session in (first, second)] == [2, 0]
            first.run(reset)
            assert first.run(count) == 0
            assert first.run(many, {"n:0": 1}).value.tolist() == [b"in c"]
            with pytest.raises(InvalidArgumentError, match="num_records is negative: -1"):
                first.run(many, {"n:0": -1})

    def test_key_and_value_have_types_and_names(self) -> None:
        with Graph().as_default():
            files = FIFOQueue(9, gx.string, shapes=[[]])
            key, value = TextLineReader().read(files)
            keys, _ = TextLineReader().read_up_to(files, 3, name="lines")
            assert [str(tensor.raw.type) for tensor in (key, value, keys)] == ["str[]", "str[]", "str[?]"]
            assert key.name == "ReaderReadV2:0"
            assert value.name == "ReaderReadV2:1"
            assert keys.name == "lines:0"

    def test_a_wait_for_a_name_keeps_to_the_timeout_of_the_run(self) -> None:
        with Graph().as_default(), Session() as session:
            files = FIFOQueue(9, gx.string, shapes=[[]], name="files")
            record = TextLineReader().read(files)
            with pytest.raises(DeadlineExceededError, match="files"):
                session.run(record, options=RunOptions(timeout_in_ms=20))

    def test_closing_the_session_closes_the_files_and_ends_the_waits(self) -> None:
        with Graph().as_default() as graph:
            files = FIFOQueue(9, gx.string, shapes=[[]])
            fill = files.enqueue("my_test.csv")
            record = TextLineReader().read(files)
        session, errors = Session(graph=graph), list[Exception]()
        session.run(fill)
        for _ in range(4):
            session.run(record)

        def wait() -> None:
            try:
                session.run(record)
            except Exception as error:
                errors.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        session.close()
        thread.join(60)
        assert [type(error).__name__ for error in errors] in (["CancelledError"], ["FailedPreconditionError"])


class TestDecoders:
    def test_lines_and_their_defaults_may_be_tensors(self) -> None:
        with Graph().as_default(), Session() as session:
            lines = placeholder(gx.string, shape=[None])
            defaults = [gx.asarray([5.0]), gx.asarray([6]), gx.asarray(["?"])]
            columns = gx.strings.decode_csv(lines, record_defaults=defaults)
            assert [str(column.raw.type) for column in columns] == ["f32[?]", "i32[?]", "str[?]"]
            x, n, s = session.run(columns, {lines: ["1.,,a", ",2,"]})
            assert (x.tolist(), n.tolist(), s.tolist()) == ([1.0, 5.0], [6, 2], [b"a", b"?"])
            with pytest.raises(InvalidArgumentError, match=r"record 1 has 2 fields, expected 3: '1,2'"):
                session.run(columns, {lines: ["1,2,3", "1,2"]})

    def test_bytes_as_numbers(self) -> None:
        with Graph().as_default(), Session() as session:
            given = placeholder(gx.string, shape=[2])
            numbers = gx.strings.decode_raw(given, gx.uint8)
            cut = gx.strings.decode_raw(given, gx.int16, fixed_length=4)
            assert [str(tensor.raw.type) for tensor in (numbers, cut)] == ["u8[2,?]", "i16[2,2]"]
            assert session.run(numbers, {given: [b"ab", b"c\xff"]}).tolist() == [[97, 98], [99, 255]]
            assert session.run(cut, {given: [b"\1", b"\1\0\2\0\3"]}).tolist() == [[1, 0], [1, 2]]

    def test_examples(self) -> None:
        features = {"x": FixedLenFeature([2], gx.float32), "c": VarLenFeature(gx.string)}
        messages = [make_example({"x": [i, i + 0.5], "c": ["a"] * i}).SerializeToString() for i in range(3)]
        with Graph().as_default(), Session() as session:
            many, one = placeholder(gx.string, shape=[None]), placeholder(gx.string, shape=[])
            found, single = parse_example(many, features), parse_single_example(one, features)
            assert [str(part.raw.type) for part in (found["x"], *found["c"])] == [
                "f32[?,2]", "i32[?,2]", "str[?]", "i32[2]"
            ]  # fmt: skip
            assert [str(part.raw.type) for part in (single["x"], *single["c"])] == [
                "f32[2]", "i32[?,1]", "str[?]", "i32[1]"
            ]  # fmt: skip
            values = session.run(found, {many: messages})
            assert values["x"].tolist() == [[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]]
            assert values["c"].indices.tolist() == [[1, 0], [2, 0], [2, 1]]
            assert values["c"].values.tolist() == [b"a"] * 3
            assert values["c"].dense_shape.tolist() == [3, 2]
            dense = found["c"].to_dense("-")
            assert str(dense.raw.type) == "str[?,?]"
            assert session.run(dense, {many: messages}).tolist() == [[b"-", b"-"], [b"a", b"-"], [b"a", b"a"]]
            assert session.run(gx.sum(single["x"]), {one: messages[2]}) == np.float32(4.5)
            with pytest.raises(InvalidArgumentError, match="parse_single_example: b'junk' is not an Example message"):
                session.run(single, {one: b"junk"})
