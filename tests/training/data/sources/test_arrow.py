"""Parquet and Arrow files: columns as arrays, every position, and what has no array."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphc.compiler.base.errors import DataLossError, FailedPreconditionError, FileMissingError, InvalidArgumentError
from graphc.training.data.sources import arrow as arrow_files
from graphc.training.data.sources import table_files
from tests.training.data.sources.reading import check, elements

pa = pytest.importorskip("pyarrow")


def written(path: Path, table: Any, rows: int = 4) -> Path:
    if path.suffix == ".parquet":
        arrow_files.pyarrow("").parquet.write_table(table, path, row_group_size=rows)
    else:
        with pa.ipc.new_file(str(path), table.schema) as writer:
            writer.write_table(table, max_chunksize=rows)
    return path


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_columns_of_all_kinds(tmp_path: Path, kind: str) -> None:
    columns = {
        "k": pa.array(range(10), pa.int32()),
        "x": pa.array([None, *range(9)], pa.float32()),
        "text": pa.array(["a", None, *"bcdefghi"]),
        "category": pa.array(["u", "v"] * 5).dictionary_encode(),
        "list": pa.array([[k, k + 1] for k in range(10)]),
        "fixed": pa.array([[[k], [2 * k]] for k in range(10)], pa.list_(pa.list_(pa.int8(), 1), 2)),
        "flag": pa.array([True, False] * 5),
    }
    path = written(tmp_path / f"table.{kind}", pa.table(columns))
    source = table_files(kind, [path, path])
    assert source.cardinality == 20
    assert str(source.spec["fixed"]) == "int8[2,1]"
    assert str(source.spec["text"]) == "string[]"
    found = check(table_files(kind, [path, path], list(columns)[2:]))
    assert found[:10] == found[10:]
    assert found[1] == {"text": b"", "category": b"v", "list": [1, 2], "fixed": [[1], [2]], "flag": False}
    first = next(source.open())
    assert np.isnan(first["x"])
    assert first["x"].dtype == np.float32
    assert [row["k"] for row in check(table_files(kind, path, ["k"]))] == list(range(10))


def test_a_large_row_group_is_read_in_parts(tmp_path: Path) -> None:
    path = written(tmp_path / "large.parquet", pa.table({"k": np.arange(20_000)}), 12_000)
    assert [row["k"] for row in check(table_files("parquet", path), (777,))] == list(range(20_000))


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_what_cannot_be_read(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path / f"t.{kind}", pa.table({"a": pa.array([1, 2, None]), "b": [[1], [1, 2], [3]]}))
    with pytest.raises(InvalidArgumentError, match=rf"{kind}: .*t.{kind}' has no column 'c'; its columns are \['a'"):
        table_files(kind, path, ["c"])
    with pytest.raises(DataLossError, match=r"3 rows from 0 on: column 'a' has 1 missing values, such as in row 2"):
        elements(table_files(kind, path, ["a"]).open())
    with pytest.raises(DataLossError, match=r"column 'b' has lists of the lengths \['1', '2'\], expected one length"):
        elements(table_files(kind, path, ["b"]).open())
    other = written(tmp_path / f"o.{kind}", pa.table({"a": [1.5]}))
    good = written(tmp_path / f"g.{kind}", pa.table({"a": [1]}))
    with pytest.raises(DataLossError, match=rf"o.{kind}': column 'a' is float32\[\], expected int"):
        elements(table_files(kind, [good, other]).open())
    with pytest.raises(FileMissingError, match="none"):
        table_files(kind, tmp_path / "none")
    (tmp_path / "text").write_text("no table at all")
    with pytest.raises(DataLossError, match=r"text': "):
        table_files(kind, tmp_path / "text")
    with pytest.raises(InvalidArgumentError, match="has no rows"):
        table_files(kind, written(tmp_path / f"e.{kind}", pa.table({"a": pa.array([], pa.int32())})))
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.csv", None)
    with pytest.raises(FailedPreconditionError, match=r"need pyarrow: pip install 'graphc\[data\]'"):
        table_files(kind, path)
