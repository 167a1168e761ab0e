"""A data-parallel step is a compiled function: in others, under tapes, looked at, and compared with one device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.training.distribute import DataParallel, PerReplica, all_mean

RNG = np.random.default_rng(2)
X = RNG.normal(size=(64, 4)).astype(np.float32)
Y = (X @ np.asarray([1.0, -2.0, 3.0, 0.5], np.float32)).astype(np.float32)


class Training:
    def __init__(self, devices: list[str] | None) -> None:
        self.w = gx.Variable(np.zeros(4, np.float32), name="w")
        self.optimizer = gx.optim.SGD(0.05)
        self.run = DataParallel(devices).function(self.step)

    def step(self, x: Any, y: Any) -> Any:
        with gx.GradientTape() as tape:
            losses = (x @ self.w - y) ** 2
            loss = gx.mean(losses)
        self.optimizer.apply([tape.gradient(loss, self.w)], [self.w])
        return loss, losses


@pytest.fixture(scope="module")
def training() -> Training:
    return Training(None)


def test_it_is_looked_at_like_others(training: Training) -> None:
    step = training.run
    step(X, Y)
    assert repr(step) == "<data-parallel function step, 1 trace>"
    assert (step.num_traces, len(step.trace_report())) == (1, 1)
    assert "all-reduce" in step.lower(X, Y).compile().as_text()
    explained = str(step.explain(X, Y))
    assert "step: " in explained
    assert "all-reduce" in explained
    graph = step.graph(X, Y)
    assert gx.parse_graph(str(graph)) == graph


def test_it_does_what_one_device_does(training: Training) -> None:
    found = gx.compare(training.run, X, Y, rounds=0, show=False)
    assert found.equal
    summed = gx.compare(DataParallel().function(lambda x: gx.sum(x)), X, rounds=0, show=False)
    assert not summed.equal, "each replica sums its own rows"


def test_an_epoch_around_it_is_one_program() -> None:
    def epochs(devices: list[str] | None) -> tuple[float, Any]:
        training = Training(devices)

        @gx.function
        def epoch(xs: Any, ys: Any) -> Any:
            total = gx.zeros(())
            for x, y in zip(xs, ys, strict=True):
                loss, losses = training.run(x, y)
                total += gx.mean(loss.stack()) + gx.mean(losses.joined()) + gx.mean(gx.stack(list(loss)))
            return total, loss

        for _ in range(2):
            total, last = epoch(X.reshape(4, 16, 4), Y.reshape(4, 16))
        assert epoch.num_traces == 1
        assert isinstance(last, PerReplica)
        return total.item(), training.w.numpy()

    (eight, weights), (one, expected) = epochs(None), epochs(["cpu:0"])
    assert eight == pytest.approx(one, rel=1e-4)
    np.testing.assert_allclose(weights, expected, rtol=1e-4)


def test_a_tape_sees_into_it() -> None:
    w = gx.Variable([1.0, 2.0, 3.0, 4.0])
    step = DataParallel().function(lambda x: all_mean(gx.mean((x * w) ** 2)))
    x = gx.asarray(X)
    with gx.GradientTape() as tape:
        tape.watch(x)
        loss = step(x)
    found, of_w = tape.gradient(loss, [x, w])
    np.testing.assert_allclose(found, 2 * X * w.numpy() ** 2 / X.size, rtol=1e-5)
    np.testing.assert_allclose(of_w, (2 * X**2 * w.numpy()).sum(0) / X.size, rtol=1e-5)
