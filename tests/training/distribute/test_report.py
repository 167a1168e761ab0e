"""A report tells what a step exchanges, what it needs on each device, and where its time goes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.training.distribute import DataParallel, DeviceReport, RankReport, Sharding, StepReport

X = np.random.default_rng(0).normal(size=(64, 32)).astype(np.float32)
PARAMETERS = 32 * 32 * 4


class Training:
    def __init__(self, parallel: DataParallel) -> None:
        self.parallel = parallel
        with parallel.scope():
            self.w = gx.Variable(np.eye(32, dtype=np.float32), name="w")
            self.optimizer = gx.optim.Adam(0.05)

    def step(self, x: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.mean((gx.tanh(x @ self.w) - 1) ** 2)
        self.optimizer.apply([tape.gradient(loss, self.w)], [self.w])
        return loss


@pytest.mark.parametrize("view", ["global", "replica"])
def test_a_step_of_both_views(view: str) -> None:
    training = Training(DataParallel())
    parallel = training.parallel
    if view == "global":
        found = parallel.report(gx.function(training.step), parallel.shard(X), steps=2)
    else:
        found = parallel.report(parallel.function(training.step), X, steps=2)
    assert [(each.kind, each.count) for each in found.collectives] == [("all-reduce", 1)]
    assert PARAMETERS <= found.exchanged <= PARAMETERS + 8  # the gradient, and the loss
    assert [device.device for device in found.devices] == list(parallel.devices)
    for device in found.devices:
        assert (device.parameters, device.arguments) == (PARAMETERS, 64 // 8 * 32 * 4)
        assert 2 * PARAMETERS < device.state < 2 * PARAMETERS + 32  # two moments, the count and the rate
        assert device.memory >= 3 * PARAMETERS + (device.temporaries or 0) > 3 * PARAMETERS
        assert min(device.compute or 0, device.communication or 0) > 0
        assert device.waiting is not None
    (rank,) = found.ranks
    assert (rank.waited, found.straggler, training.optimizer.variables[0].numpy()) == (0.0, None, 5)
    assert rank.seconds > 0
    assert found.notes == ("the devices share the cores of a CPU: their times say little about those of real devices",)
    told = json.loads(found.to_json())
    assert told["ranks"][0]["devices"][7]["parameters"] == PARAMETERS
    text = str(found)
    assert text.startswith("step on 8 devices")
    assert "1 all-reduce" in text
    assert "/device:CPU:7" in text
    assert repr(found) == "<StepReport of step on 8 devices: 4 KiB exchanged>"


def test_split_state_is_an_eighth_on_each() -> None:
    training = Training(DataParallel(sharding=Sharding({"data": 8}, {"w": "data", "adam/": "data"})))
    found = training.parallel.report(gx.function(training.step), training.parallel.shard(X), steps=1)
    assert {device.parameters for device in found.devices} == {PARAMETERS // 8}
    assert {device.state // 64 for device in found.devices} == {2 * PARAMETERS // 8 // 64}
    assert "all-gather" in {each.kind for each in found.collectives}


def test_what_is_not_measured_is_said(tmp_path: Path) -> None:
    parallel = DataParallel()
    with jax.profiler.trace(str(tmp_path)):
        found = parallel.report(gx.function(lambda x: gx.mean(x)), X, steps=1)
    notes = " ".join(found.notes)
    assert "runs on 1 of the 8 devices: lay its batch out by parallel.shard(batch)" in notes
    assert "records no ops here, or is in use" in notes
    (device,) = found.devices
    assert (device.compute, device.communication, device.waiting) == (None, None, None)
    assert "not measured" in str(found)
    pairs = parallel.report(parallel.function(lambda x: gx.distribute.all_mean(gx.mean(x))), X[:12], steps=1)
    assert "collectives join groups of devices, so waiting in collectives is part" in " ".join(pairs.notes)
    assert {device.waiting for device in pairs.devices} == {None}


def test_what_is_no_step_is_refused() -> None:
    parallel = DataParallel()
    with pytest.raises(gx.errors.InvalidArgumentError, match=r"expected a compiled function, got .*@gx.function"):
        parallel.report(lambda x: x, X)
    with pytest.raises(gx.errors.InvalidArgumentError, match="steps must be an int from 1, got 0"):
        parallel.report(gx.function(lambda x: x), X, steps=0)

    @gx.function
    def pinned(x: Any) -> Any:
        with gx.device("cpu:0"):
            y = x * 2
        with gx.device("cpu:1"):
            return y + 1

    with pytest.raises(gx.errors.InvalidArgumentError, match=r"pinned is pinned to devices .* gx.profile their times"):
        parallel.report(pinned, X)


def test_the_straggler_is_the_rank_that_waits_least() -> None:
    def report(*lost: tuple[float, float]) -> StepReport:
        ranks = [
            RankReport(rank, 1.0, waited, (DeviceReport(f"/task:{rank}/device:CPU:0", 4, 8, communication=inside),))
            for rank, (waited, inside) in enumerate(lost)
        ]
        return StepReport("step", 3, (), tuple(ranks), ())

    slow = report((0.5, 0.1), (0.0, 0.2), (0.1, 0.6))
    assert slow.straggler == 1
    assert "the others wait for rank 1 most" in str(slow)
    assert "wait for ranks" in str(slow)
    assert report((0.1, 0.2), (0.15, 0.2)).straggler is None
