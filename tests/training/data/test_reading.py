"""Datasets of files and of Python's: made, batched, resumed, and what is wrong said where it is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import FileMissingError, InvalidArgumentError
from tests.training.data.sources.reading import plain

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def values(dataset: Any) -> list[Any]:
    return [plain(element) for element in dataset.as_numpy_iterator()]


def test_lines_are_decoded_in_batches(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("1,a\n2,b\n,c\n")
    lines = gx.data.text_lines(str(path))
    decoded = lines.batch(2).map(lambda batch: tuple(gx.strings.decode_csv(batch, [0, ""])))
    assert values(decoded) == [([1, 2], [b"a", b"b"]), ([0], [b"c"])]
    assert str(lines).startswith(f"text_lines({str(path)!r})")
    iterator = iter(lines)
    assert next(iterator).item() == "1,a"
    other = iter(lines)
    other.restore(json.loads(json.dumps(iterator.state())))
    assert [line.item() for line in other] == ["2,b", ",c"]


def test_records_of_files_and_examples_in_batches(tmp_path: Path) -> None:
    for k in range(2):
        with gx.queues.TFRecordWriter(tmp_path / f"{k}.tfrecord", "GZIP") as writer:
            for x in range(3):
                writer.write(gx.queues.make_example({"x": 10 * k + x, "name": f"{x}"}).SerializeToString())
    names = gx.data.Dataset.list_files(str(tmp_path / "*.tfrecord"), shuffle=False)
    assert values(names) == [bytes(tmp_path / f"{k}.tfrecord") for k in range(2)]
    features = {"x": gx.queues.FixedLenFeature([], "int32"), "name": gx.queues.FixedLenFeature([], gx.string)}
    records = gx.data.tf_records([tmp_path / "0.tfrecord", tmp_path / "1.tfrecord"], "GZIP")
    parsed = records.batch(4).map(lambda batch: gx.queues.parse_example(batch, features))
    assert values(parsed) == [
        {"x": [0, 1, 2, 10], "name": [b"0", b"1", b"2", b"0"]},
        {"x": [11, 12], "name": [b"1", b"2"]},
    ]
    (tmp_path / "bytes").write_bytes(b"Habcdef")
    assert values(gx.data.fixed_length_records(str(tmp_path / "bytes"), 3, 1)) == [b"abc", b"def"]


def test_batches_of_csv_files_with_a_label(tmp_path: Path) -> None:
    for k in range(2):
        (tmp_path / f"{k}.csv").write_text(f"x,y\n{k},0.5\n{k + 2},1.5\n")
    dataset = gx.data.make_csv_dataset(str(tmp_path / "*.csv"), 3, label_name="y", num_epochs=1, shuffle=False)
    assert values(dataset) == [({"x": [0, 2, 1]}, [0.5, 1.5, 0.5]), ({"x": [3]}, [1.5])]
    forever = gx.data.make_csv_dataset(str(tmp_path / "*.csv"), 3, shuffle_seed=1)
    assert forever.cardinality() in (-1, -2)
    assert sorted(values(forever.take(4).unbatch().map(lambda row: row["x"]))) == sorted([0, 1, 2, 3] * 3)
    with pytest.raises(InvalidArgumentError, match=r"make_csv_dataset: label_name is .z., but the columns are"):
        gx.data.make_csv_dataset(str(tmp_path / "*.csv"), 3, label_name="z")
    with pytest.raises(FileMissingError, match=r"make_csv_dataset: no files match '.*\.tsv'"):
        gx.data.make_csv_dataset(str(tmp_path / "*.tsv"), 3)


def test_tables_and_arrays(tmp_path: Path) -> None:
    table = pa.table({"k": pa.array(range(5), pa.int32()), "s": list("abcde")})
    pq.write_table(table, tmp_path / "t.parquet")
    rows = [{"k": k, "s": text.encode()} for k, text in enumerate("abcde")]
    assert values(gx.data.parquet(tmp_path / "t.parquet")) == rows
    assert values(gx.data.arrow(table)) == rows
    assert len(gx.data.parquet(tmp_path / "t.parquet", ["k"])) == 5
    np.save(tmp_path / "x.npy", np.arange(8))
    shuffled = values(gx.data.numpy_files(str(tmp_path / "x.npy")).shuffle(8, seed=3))
    assert sorted(shuffled) == list(range(8))
    assert shuffled != list(range(8))


def test_generators_with_their_types() -> None:
    def pairs(count: Any) -> Any:
        for k in range(count):
            yield [k] * k, {"name": f"n{k}"}

    old = gx.data.Dataset.from_generator(pairs, (gx.float32, {"name": gx.string}), ([None], {"name": []}), args=(3,))
    assert values(old) == [([float(k)] * k, {"name": b"n%d" % k}) for k in range(3)]
    assert str(old.element_spec[0]) == "float32[?]"
    wrong = gx.data.Dataset.from_generator(lambda: iter(["text"]), output_signature=gx.TensorSpec((), gx.int32))
    with pytest.raises(InvalidArgumentError, match=r"element 0 has a leaf string\[\], expected int32\[\]"):
        values(wrong)
    with pytest.raises(InvalidArgumentError, match="from_generator: expected a function"):
        gx.data.Dataset.from_generator(iter([1]))


def test_sequences_are_shuffled_by_their_numbers() -> None:
    asked: list[int] = []

    class Items:
        def __len__(self) -> int:
            return 6

        def __getitem__(self, index: int) -> int:
            asked.append(index)
            return index * 10

    dataset = gx.data.from_python(Items()).shuffle(6, seed=0).take(2)
    found = values(dataset)
    assert len(found) == 2
    assert sorted({10 * k for k in asked} - {0}) == sorted(set(found) - {0})


def in_turn(parts: list[list[Any]], cycle: int, block: int) -> list[Any]:
    """What interleaving gives, said plainly."""
    waiting, open_ones, found = iter(parts), list[Any](), list[Any]()
    open_ones = [iter(part) for _, part in zip(range(cycle), waiting, strict=False)]
    place = 0
    while any(one is not None for one in open_ones):
        one = open_ones[place]
        for _ in range(block if one is not None else 0):
            line = next(one, None)
            if line is None:
                following = next(waiting, None)
                open_ones[place] = None if following is None else iter(following)
                break
            found.append(line)
        place = (place + 1) % len(open_ones)
    return found


@pytest.mark.parametrize(("cycle", "block"), [(1, 1), (3, 2), (4, 1), (2, 7)])
def test_files_are_interleaved_in_blocks_as_line_by_line(tmp_path: Path, cycle: int, block: int) -> None:
    parts = [[b"%d-%d" % (file, line) for line in range(count)] for file, count in enumerate((13, 0, 40, 5, 29))]
    for file, lines in enumerate(parts):
        (tmp_path / f"{file}").write_bytes(b"\n".join(lines))
    names = gx.data.Dataset.from_tensor_slices([str(tmp_path / f"{file}") for file in range(5)])
    lines = names.interleave(gx.data.text_lines, cycle_length=cycle, block_length=block)
    found = values(lines)
    assert found == in_turn(parts, cycle, block)
    batches = lines.batch(11)
    assert [line for batch in values(batches) for line in batch] == found
    for start in range(len(found) // 11 + 1):
        iterator = batches.as_numpy_iterator()
        for _ in range(start):
            next(iterator)
        other = batches.as_numpy_iterator()
        other.restore(json.loads(json.dumps(iterator.state())))
        assert [line for batch in other for line in batch.tolist()] == found[11 * start :]


def test_rows_that_are_wrong_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n1,2\n3,four\n5\n7,8\n")
    table = gx.data.csv([str(tmp_path / "t.csv"), str(tmp_path / "none.csv")], column_defaults=[0, 0])
    assert values(table.ignore_errors()) == [{"x": 1, "y": 2}, {"x": 7, "y": 8}]
    assert values(table.ignore_errors().batch(5)) == [{"x": [1, 7], "y": [2, 8]}]
