"""Variables to orbax and back."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx


class Position:
    def state(self) -> int:
        return 1

    def restore(self, state: int) -> None:
        raise AssertionError


def test_variables_go_to_orbax_and_come_back(tmp_path: Path) -> None:
    checkpoints = pytest.importorskip("orbax.checkpoint")
    with gx.distribute.Sharding({"data": 2}, {"kernel": "data"}).scope():
        model = gx.layers.Dense(3, in_features=2)
    step = gx.Variable(7)
    kernel, place = model.kernel.numpy(), model.kernel.sharding
    gx.train.to_orbax(tmp_path / "a", model=model, step=step)
    with checkpoints.StandardCheckpointer() as checkpointer:
        tree: Any = checkpointer.restore(tmp_path / "a")
    np.testing.assert_array_equal(tree["model"]["kernel"], kernel)
    assert tree["step"].item() == 7
    model.kernel.assign(kernel * 0)
    step.assign(0)
    gx.train.from_orbax(tmp_path / "a", model=model, step=step)
    np.testing.assert_array_equal(model.kernel.numpy(), kernel)
    assert model.kernel.sharding == place
    assert step.item() == 7
    with pytest.raises(gx.errors.InvalidArgumentError) as caught:
        gx.train.from_orbax(tmp_path / "a", model={"kernel": gx.Variable([1.0]), "scale": step}, step=step)
    assert (
        "does not fit: missing in the checkpoint: model/scale; additional in the checkpoint: model/bias; different: "
        "model/kernel (float32[2, 3] in the checkpoint, float32[1] here)"
    ) in str(caught.value)
    with pytest.raises(gx.errors.AlreadyExistsError, match="a folder or file of that name exists"):
        gx.train.to_orbax(tmp_path / "a", step=step)


def test_what_orbax_cannot_do_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(
        gx.errors.InvalidTypeError, match="data has a state that is not a Variable, which orbax cannot store"
    ):
        gx.train.to_orbax(tmp_path / "b", data=Position())
    with pytest.raises(gx.errors.FileMissingError, match="there is no such folder"):
        gx.train.from_orbax(tmp_path / "b", v=gx.Variable(1.0))
    monkeypatch.setitem(sys.modules, "orbax.checkpoint", None)
    with pytest.raises(gx.errors.NotFoundError, match=r"pip install 'graphc\[checkpoint\]'"):
        gx.train.to_orbax(tmp_path / "b", v=gx.Variable(1.0))
