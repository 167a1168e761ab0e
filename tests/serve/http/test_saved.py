"""Folders of saved functions as applications: signatures, the sizes of batches, Variables, errors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.cli import main
from graphc.compiler.base.errors import InvalidArgumentError, NotFoundError
from graphc.serve import App, offers
from tests.serve.http.asking import ask

_ONE: dict[str, Any] = {"devices": ["cpu:1"], "max_delay_ms": 0}


class Model:
    def __init__(self) -> None:
        self.w = gx.Variable([[1.0], [2.0]], name="w")

    @gx.function
    def predict(self, x: Any, scale: float = 3.0) -> Any:
        if gx.any(x < 0):
            raise ValueError("what is below zero is not predicted")
        return {"y": x @ self.w * scale}

    @gx.function
    def total(self, x: Any) -> Any:
        return gx.sum(x)

    @gx.function
    def train(self, x: Any) -> Any:
        self.w.assign_sub(gx.mean(x, axis=0)[:, None])
        return x


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved")
    open_rows = gx.TensorSpec((None, 2))
    gx.save(Model(), path, {"predict": open_rows, "total": gx.TensorSpec(()), "train": open_rows})
    return path


def test_a_folder_is_served_for_the_signatures_that_it_was_saved_for(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with App(folder, max_batch=4, **_ONE) as app:
        app.wait_until_ready()
        assert app.names == ("predict",)
        assert (
            "not served: total: all tensors need a row axis of the same size, but it takes (x: float32[])"
            in caplog.text
        )
        assert "not served: train: it assigns the Variable 'w', of which each replica has a copy" in caplog.text
        assert str(app) == "<gx.serve.App of predict>"
        (signature,) = ask(app, "GET", "/functions/predict").json["signatures"]
        assert signature["arguments"] == {"x": {"dtype": "float32", "shape": [None, 2]}}
        found = ask(app, "POST", "/functions/predict", {"args": [[[1, 2], [3, 4], [5, 6]]]})
        assert found.json == {"result": {"y": [[15], [33], [51]]}}
        assert app.stats()["predict"].function == "predict"
        found = ask(app, "POST", "/functions/predict", {"args": [[[1, -2]]]})
        assert (found.status, found.message) == (422, "what is below zero is not predicted")
        found = ask(app, "POST", "/functions/predict", {"args": [[[1, 2, 3]]]})
        assert (found.status, found.message) == (400, "predict: x: expected float32[?,2], got an array of shape [1, 3]")


def test_a_layer_is_served(tmp_path: Path) -> None:
    model = gx.layers.Sequential([gx.layers.Dense(2, in_features=3), gx.layers.Dropout(0.5)])
    gx.save({"predict": model}, tmp_path, {"predict": gx.TensorSpec((None, 3))})
    with App(tmp_path, max_batch=2, **_ONE) as app:
        app.wait_until_ready()
        (signature,) = ask(app, "GET", "/functions/predict").json["signatures"]
        assert signature["arguments"] == {"args[0]": {"dtype": "float32", "shape": [None, 3]}}
        found = ask(app, "POST", "/functions/predict", {"args": [[[1, 2, 3]]]}).json["result"]
    np.testing.assert_allclose(found, model(gx.asarray([[1.0, 2.0, 3.0]])), rtol=1e-5)


def test_arguments_of_any_number_and_by_name_are_served(tmp_path: Path) -> None:
    @gx.function
    def f(x: Any, *more: Any, scale: float = 2.0, **named: Any) -> Any:
        return x * scale + sum(more) + named["y"]

    spec = gx.TensorSpec((None, 1))
    gx.save({"f": f}, tmp_path, {"f": gx.saving.Signature(spec, spec, spec, scale=3.0, y=spec)})
    with App(tmp_path, max_batch=2, **_ONE) as app:
        found = ask(app, "POST", "/functions/f", {"args": [[[1]], [[2]], [[4]]], "kwargs": {"y": [[8]]}})
        assert found.json == {"result": [[17]]}


def test_batches_are_filled_up_to_the_sizes_that_were_saved(tmp_path: Path) -> None:
    double = gx.function(lambda x: x * 2)
    gx.save({"double": double}, tmp_path, {"double": [gx.TensorSpec((2, 1)), gx.TensorSpec((4, 1))]})
    offered = offers(gx.load(tmp_path), "double")["double"]
    assert offered.options({"max_batch": 32})["sizes"] == (2, 4)
    assert [form.name for form in offered.forms] == ["1", "2"]
    with App({"double": offered}, **_ONE) as app:
        found = ask(app, "POST", "/functions/double", {"args": [[[1], [2], [3], [4], [5]]]})
        assert found.json == {"result": [[2], [4], [6], [8], [10]]}
        stats = app.stats()["double"]
    assert (stats.batches, stats.rows, stats.padded) == (2, 5, 1)


def test_what_a_folder_does_not_have_is_told(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(NotFoundError, match=r"there is no saved function 'other'; there are predict, total, train"):
        offers(folder, "other")
    with pytest.raises(InvalidArgumentError, match="total: all tensors need a row axis"):
        offers(folder, "total")
    assert main(["serve", f"{folder}:other"]) == 2
    assert "there is no saved function 'other'" in capsys.readouterr().err
    assert main(["serve", f"model={folder}:predict", f"model={folder}:predict"]) == 2
    assert "two functions are called 'model'" in capsys.readouterr().err
    assert main(["serve", str(folder), "--host", "0.0.0.0"]) == 2
    np.testing.assert_array_equal(gx.load(folder).variables[0].numpy(), [[1], [2]])


def test_sizes_of_batches_with_other_shapes_are_refused(tmp_path: Path) -> None:
    double = gx.function(lambda x: x * 2)
    gx.save({"double": double}, tmp_path, {"double": [gx.TensorSpec((4, 3)), gx.TensorSpec((8, 5))]})
    with pytest.raises(InvalidArgumentError, match="double: it was saved for sizes of batches that go with other"):
        offers(tmp_path)
