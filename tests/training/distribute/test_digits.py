"""An MLP learns digits: on any devices and processes, in both views, the weights are those of one device.

Six steps of 128 rows and one of 88, of a network with batch normalization and Adam. Weights agree to 1e-4 of the
largest one; sums of floats are rounded in another order on other devices.
"""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import graphc as gx
from graphc.training.distribute import DataParallel, Sharding, mean_gradients

STEPS, HALF = 7, 4


@dataclass(frozen=True)
class Case:
    """A training.

    Attributes:
      devices: how many; 0 for those of all processes.
      view: of the step.
      dropout: whether there is some, of which the random numbers are part of the global view alone.
      accumulate: into how many micro-batches each batch is cut; more than one only without batch normalization.
      rules: what is split.
      resumed: on how many devices the second half is trained, from a checkpoint; 0 for no stop.
    """

    devices: int = 1
    view: str = "global"
    dropout: bool = False
    accumulate: int = 1
    rules: tuple[tuple[str, str], ...] = ()
    resumed: int = 0


class Job:
    """A network, its optimizer, its step, and the position in the data, on so many devices."""

    def __init__(self, case: Case, devices: int, folder: Path) -> None:
        if case.rules:
            count = devices or gx.distribute.process_count()
            self.parallel = DataParallel(sharding=Sharding({"data": count}, dict(case.rules)))
        else:
            self.parallel = DataParallel([f"cpu:{number}" for number in range(devices)] if devices else None)
        gx.random.seed(0)
        batches = gx.data.Dataset.from_tensor_slices(digits()).shuffle(856, seed=1).batch(128)
        self.iterator = iter(batches.repeat())
        with self.parallel.scope():
            layers = [gx.layers.Dense(32, "relu", in_features=64)]
            layers += [gx.layers.BatchNormalization()] if case.accumulate == 1 else []
            layers += [gx.layers.Dropout(0.25)] if case.dropout else []
            self.network = gx.layers.Sequential([*layers, gx.layers.Dense(10)])
            self.network(gx.zeros((1, 64)))
            self.optimizer = gx.optim.Adam(0.003)
            self.optimizer.build(self.network.trainable_variables)
        state: dict[str, Any] = {"model": self.network, "optimizer": self.optimizer, "iterator": self.iterator}
        self.checkpoint = gx.train.Checkpoint(folder, **state)
        self._step = gx.function(self.step) if case.view == "global" else self.parallel.function(self.step)
        self._case = case

    def losses(self, x: Any, y: Any) -> Any:
        logits = self.network(x, training=True)
        return gx.losses.sparse_softmax_cross_entropy(y, logits, reduction="none")

    def step(self, x: Any, y: Any) -> Any:
        weights = self.network.trainable_variables
        loss, gradients = mean_gradients(self.losses, weights, x, y, accumulate=self._case.accumulate)
        self.optimizer.apply(gradients, weights)
        return loss

    def run(self, steps: int) -> None:
        for _ in range(steps):
            batch = next(self.iterator)
            self._step(*(self.parallel.shard(batch) if self._case.view == "global" else batch))


@cache
def digits() -> tuple[Any, Any]:
    from sklearn import datasets

    found = cast("Any", datasets.load_digits)()
    return (found.data[:856] / 16).astype(np.float32), found.target[:856].astype(np.int32)


def weights(case: Case, folder: Path) -> list[np.ndarray[Any, Any]]:
    job = Job(case, case.devices, folder)
    job.run(HALF)
    if case.resumed:
        job.checkpoint.save(HALF, wait=True)
        job = Job(case, case.resumed, folder)
        assert job.checkpoint.restore() == HALF
    job.run(STEPS - HALF)
    return [variable.numpy() for variable in job.network.variables]


@cache
def on_one_device(*, dropout: bool, accumulate: int) -> list[np.ndarray[Any, Any]]:
    return weights(Case(dropout=dropout, accumulate=accumulate), Path("no checkpoint is saved"))


ZERO, FSDP = (("adam/", "data"),), (("kernel", "data"),)
CASES = [
    Case(4, dropout=True),
    Case(8, dropout=True, rules=ZERO, resumed=2),
    Case(4, rules=FSDP, resumed=1),
    Case(2, accumulate=2),
    Case(1, "replica", resumed=4),
    Case(8, "replica"),
    Case(4, "replica", accumulate=2),
]


@pytest.mark.drawn(3)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_weights_are_those_of_one_device(case: Case, tmp_path: Path) -> None:
    wanted_weights = on_one_device(dropout=case.dropout, accumulate=case.accumulate)
    for found, wanted in zip(weights(case, tmp_path), wanted_weights, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-4 * max(np.abs(wanted).max(), 1))


PROCESSES = """
import json, os, sys
import graphc as gx

gx.distribute.initialize()
from pathlib import Path
import numpy as np
from tests.training.distribute import test_digits
from tests.training.distribute.test_digits import CASES_OF_PROCESSES, HALF, STEPS, Job, weights

test_digits.digits = lambda: tuple(np.load(sys.argv[2]).values())  # scikit-learn takes a second in each process
first, second = CASES_OF_PROCESSES
job = Job(first, 0, Path(sys.argv[1]))
if job.checkpoint.latest is None:
    job.run(HALF)
    job.checkpoint.save(HALF, wait=True)
    if gx.distribute.process_index() == 1:
        os.kill(os.getpid(), 9)
else:
    assert job.checkpoint.restore() == HALF
job.run(STEPS - HALF)
found = [[variable.numpy().tolist() for variable in job.network.variables]]
found.append([value.tolist() for value in weights(second, Path(sys.argv[1]))])
print(json.dumps(found))
"""
CASES_OF_PROCESSES = Case(0, dropout=True, rules=ZERO), Case(0, "replica")


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
@pytest.mark.timeout(240)
@pytest.mark.drawn(3)
@pytest.mark.parametrize("processes", [2, pytest.param(4, marks=pytest.mark.slow)])
def test_processes_of_which_one_is_killed_have_the_weights_of_one_device(
    processes: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    program, out, err = tmp_path / "train.py", io.StringIO(), io.StringIO()
    program.write_text(PROCESSES, encoding="utf-8")
    np.savez(tmp_path / "digits.npz", *digits())
    command = [str(program), str(tmp_path / "checkpoints"), str(tmp_path / "digits.npz")]
    assert gx.distribute.launch(command, processes, restarts=1, out=out, err=err) == 0, err.getvalue()
    assert "rank 1" in err.getvalue()  # which was killed
    (line,) = [line for line in out.getvalue().splitlines() if line.startswith("[0] [[")]
    for case, found in zip(CASES_OF_PROCESSES, json.loads(line.removeprefix("[0] ")), strict=True):
        for value, wanted in zip(found, on_one_device(dropout=case.dropout, accumulate=1), strict=True):
            np.testing.assert_allclose(value, wanted, rtol=0, atol=1e-4 * max(np.abs(wanted).max(), 1))
