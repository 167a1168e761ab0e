"""NumPy files and Python's sequences: rows by number, over files, and what does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphc.compiler.base.errors import DataLossError, FileMissingError, InvalidArgumentError
from graphc.training.data.sources import Items, NumpyFiles
from tests.training.data.sources.reading import check, plain


def saved(path: Path, array: Any) -> Path:
    np.save(path, array)
    return path


def test_numpy_files_are_rows_behind_each_other(tmp_path: Path) -> None:
    images = np.arange(60, dtype=np.float32).reshape(10, 3, 2)
    parts = [saved(tmp_path / f"{k}.npy", part) for k, part in enumerate(np.split(images, [3, 3, 7]))]
    source = NumpyFiles({"x": parts, "y": saved(tmp_path / "y.npy", np.arange(10, dtype=np.int8))})
    assert len(source) == 10
    assert str(source.spec["x"]) == "float32[3,2]"
    assert [row["x"] for row in check(source)] == images.tolist()
    for indices in ([4, 5, 6], [9, 0, 3, 3, 2], []):
        batch = source.take_rows(np.array(indices, int))
        assert batch["x"].tolist() == images[indices].tolist()
        assert batch["y"].tolist() == indices
        assert not isinstance(batch["x"], np.memmap)


def test_numpy_files_that_do_not_fit(tmp_path: Path) -> None:
    x, y = saved(tmp_path / "x.npy", np.zeros((4, 2))), saved(tmp_path / "y.npy", np.zeros(3))
    np.savez(tmp_path / "z.npz", a=np.zeros(3))
    (tmp_path / "t.npy").write_text("text")
    for paths, error, problem in [
        ((x, y), InvalidArgumentError, r"expected arrays of one length, got \[3, 4\] rows"),
        ([x, y], InvalidArgumentError, "files to concatenate have rows of float32"),
        (saved(tmp_path / "0.npy", np.zeros(())), InvalidArgumentError, "0.npy' has no rows"),
        (tmp_path / "z.npz", DataLossError, "z.npz' is an archive; save its arrays as .npy files"),
        (tmp_path / "t.npy", DataLossError, "t.npy' is not a .npy file of numbers"),
        (tmp_path / "none.npy", FileMissingError, "none.npy: No such file"),
    ]:
        with pytest.raises(error, match=problem):
            NumpyFiles(paths)


class Squares:
    """As a dataset of PyTorch's."""

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> Any:
        if index == 13:
            raise KeyError("unlucky")
        return {"x": np.full(2, index, np.float32), "name": f"n{index}"} if index != 17 else {"x": np.zeros(3)}


class InBulk(Squares):
    asked = ()

    def __getitems__(self, indices: list[int]) -> list[Any]:
        self.asked = (*self.asked, len(indices))
        return [self[index] for index in indices]


class Table:
    """As a dataset of Hugging Face's."""

    column_names = ("k", "text")

    def with_format(self, kind: str) -> Table:
        assert kind == "numpy"
        return self

    def __len__(self) -> int:
        return 6

    def __getitem__(self, rows: Any) -> Any:
        return {"k": np.arange(6, dtype=np.int32)[rows], "text": np.array(list("abcdef"))[rows]}


def test_items_of_sequences(tmp_path: Path) -> None:
    expected = [{"x": [k, k], "name": b"n%d" % k} for k in range(6)]
    assert check(Items(Squares(6))) == expected
    assert check(Items([3, 4, 5])) == [3, 4, 5]
    assert check(Items(Table())) == [{"k": k, "text": text.encode()} for k, text in enumerate("abcdef")]
    bulk = InBulk(10)
    assert plain(Items(bulk).take_rows([3, 1]))["x"] == [[3, 3], [1, 1]]
    assert bulk.asked == (2,)


def test_items_that_fail_or_do_not_fit() -> None:
    source = Items(Squares(20))
    with pytest.raises(KeyError, match="unlucky") as found:
        source.take_rows([12, 13])
    assert found.value.__notes__ == ["in item 13 of the Squares of a dataset"]
    with pytest.raises(
        InvalidArgumentError, match=r"item 17 of the Squares is \{'x': float32\[3\]\}, expected \{'x': "
    ):
        source.take_rows([17])
    with pytest.raises(InvalidArgumentError, match=r"item 1 of the list has a leaf float32\[\], expected int32\[\]"):
        Items([1, 2.5]).take_rows([1])
    with pytest.raises(InvalidArgumentError, match="the list has no items to infer the types from; pass spec"):
        Items([])
