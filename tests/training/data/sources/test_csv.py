"""CSV files: inferred types, quotes over lines, every position, and errors that name file, line, column and text."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphc.compiler.base.errors import DataLossError, InvalidArgumentError
from graphc.training.data.sources import csv_files
from tests.training.data.sources.reading import check, elements

pytest.importorskip("pyarrow")

TABLE = b'name,age,height,note\nAnn,31,1.5,"a, b"\nBob,,2.25,"two\nlines"\n"C ""x""",7,3,\n'


def written(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_types_are_inferred_and_what_is_empty_is_zero(tmp_path: Path) -> None:
    path = written(tmp_path / "table.csv.gz", gzip.compress(TABLE))
    source = csv_files([path, path], compression="GZIP")
    assert {name: str(spec) for name, spec in source.spec.items()} == {
        "name": "string[]",
        "age": "int32[]",
        "height": "float32[]",
        "note": "string[]",
    }
    expected = [
        {"name": b"Ann", "age": 31, "height": 1.5, "note": b"a, b"},
        {"name": b"Bob", "age": 0, "height": 2.25, "note": b"two\nlines"},
        {"name": b'C "x"', "age": 7, "height": 3.0, "note": b""},
    ]
    assert check(source) == expected * 2


@pytest.mark.parametrize(
    ("data", "options", "expected"),
    [
        (b"1;2\n3;4\n", {"header": False, "delimiter": ";"}, [{"0": 1, "1": 2}, {"0": 3, "1": 4}]),
        (b"a,b\n1,NA\n", {"na_value": "NA", "column_defaults": [0, 5.0]}, [{"a": 1, "b": 5.0}]),
        (b"a,b\n1,2\n", {"column_names": ["x", "y"], "select_columns": ["y"]}, [{"y": 2}]),
        (b"a,b\n1,2\n", {"select_columns": [1], "column_defaults": [np.float32]}, [{"b": 2.0}]),
        (b"a,b\n1,2\n", {"column_defaults": {"a": "none"}}, [{"a": b"1", "b": 2}]),
        (b'a\n"x\n', {"quotes": False}, [{"a": b'"x'}]),
        (b"a,b\r\n1,2.5\r\n\r\n2,3", {}, [{"a": 1, "b": 2.5}, {"a": 2, "b": 3.0}]),
        (b"a,b\n", {}, []),
    ],
)
def test_options(tmp_path: Path, data: bytes, options: dict[str, Any], expected: list[Any]) -> None:
    assert check(csv_files(written(tmp_path / "table.csv", data), **options)) == expected


def test_large_files_are_read_in_blocks(tmp_path: Path) -> None:
    count = 25_000
    data = b"k,text\n" + b"".join(b'%d,"%d\n%d"\n' % (k, k, k) if k % 3 else b"%d,x\n" % k for k in range(count))
    found = check(csv_files(written(tmp_path / "large.csv", data)), (4999,))
    assert [row["k"] for row in found] == list(range(count))
    assert [row["text"] for row in found] == [b"%d\n%d" % (k, k) if k % 3 else b"x" for k in range(count)]


@pytest.mark.parametrize(
    ("row", "defaults", "problem"),
    [
        (b'"two\nlines",x,1\n', None, r"bad.csv:4, column 'b': 'x' is not int32"),
        (b"y,99999999999,1\n", None, r"bad.csv:4, column 'b': '99999999999' is not int32"),
        (b"y,1\n", None, r"bad.csv:4 has 2 fields, expected 3: b'y,1\\n'"),
        (b"y,,3\n", [str, np.int32, np.float32], "bad.csv:4, column 'b' is empty; column_defaults gives"),
    ],
)
def test_a_row_that_is_wrong_is_named_and_the_rest_read(
    tmp_path: Path, row: bytes, defaults: Any, problem: str
) -> None:
    good = b"name,1,2.5\n"
    path = written(tmp_path / "bad.csv", b"a,b,c\n" + good * 2 + row + good * 50_000)
    reader = csv_files(path, column_defaults=defaults, rows_for_inference=2).open()
    assert next(reader)["b"] == 1
    state = reader.state()
    batch = reader.read_many(5)
    assert batch is not None
    assert batch["a"].tolist() == [b"name"]
    for _ in range(2):
        with pytest.raises(DataLossError, match=problem):
            next(reader)
        assert elements(reader) == [{"a": b"name", "b": 1, "c": 2.5}] * 50_000
        reader.restore(state)
        next(reader)
    reader.close()


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"select_columns": ["c"]}, r"csv: select_columns has 'c', but the columns are \['a', 'b'\]"),
        ({"column_defaults": [1]}, "csv: 1 column_defaults for 2 columns"),
        ({"column_defaults": {"c": 1}}, r"csv: column_defaults has \['c'\], but the columns are \['a', 'b'\]"),
        ({"column_names": ["a", "a"]}, "csv: two columns have the same name"),
        (
            {"header": False, "column_names": ["a", "b"]},
            "csv: column 'b' has numbers that only int64 can hold; set gx.config",
        ),
        ({"compression": "zip"}, "csv: expected 'GZIP', 'ZLIB'"),
    ],
)
def test_what_is_no_setting(tmp_path: Path, options: dict[str, Any], problem: str) -> None:
    path = written(tmp_path / "table.csv", b"1,5000000000\n" if "header" in options else b"a,b\n1,2\n")
    with pytest.raises(InvalidArgumentError, match=problem):
        csv_files(path, **options)


def test_files_of_other_columns_and_no_files(tmp_path: Path) -> None:
    first, second = written(tmp_path / "1.csv", b"a,b\n1,2\n"), written(tmp_path / "2.csv", b"a,c\n1,2\n")
    with pytest.raises(
        InvalidArgumentError, match=r"2.csv:1: the header has the columns \['a', 'c'\], expected \['a', 'b'\]"
    ):
        elements(csv_files([first, second]).open())
    with pytest.raises(InvalidArgumentError, match=r"csv: expected a file name or a list of names, got \[\]"):
        csv_files([])
