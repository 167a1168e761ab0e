"""What data-parallel steps leave behind: random numbers, new models, optimizers and pins work as before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.training.distribute import DataParallel

HERE = "/device:CPU:0"
X = np.linspace(-1.0, 1.0, 16, dtype=np.float32).reshape(8, 2)


def training(net: Any, optimizer: Any) -> Callable[[Any], Any]:
    def step(x: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.mean((net(x) - 1.0) ** 2)
        weights = net.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    return step


@pytest.fixture
def parallel() -> DataParallel:
    """After a step that has drawn random numbers."""
    parallel = DataParallel(["cpu:0", "cpu:1", "cpu:2"])
    gx.random.seed(0)
    noise = parallel.run(lambda x: x + gx.random.normal((1,)), np.zeros(3, np.float32)).stack()
    assert len(set(noise.numpy().ravel().tolist())) == 3
    return parallel


def test_random_numbers_are_drawn_where_they_were(parallel: DataParallel) -> None:
    drawn = gx.random.normal((2,))
    assert drawn.device == gx.function(lambda: gx.random.normal((2,)))().device == HERE
    gx.random.seed(0)
    gx.random.normal((1,))
    assert gx.random.normal((2,)).tolist() == drawn.tolist()
    assert {v.device for v in gx.layers.Dense(1, in_features=2).variables} == {HERE}
    with parallel.scope():
        generator = gx.random.Generator(1)
    parallel.run(lambda x: x + generator.normal((1,)), np.zeros(3, np.float32))
    assert generator.state.device == ", ".join(parallel.devices)


@pytest.mark.parametrize("built", [False, True], ids=["", "built"])
def test_optimizers_after_a_step_train_as_on_one_device(parallel: DataParallel, built: bool) -> None:
    def weights(everywhere: bool) -> list[Any]:
        gx.random.seed(3)
        net = gx.layers.Sequential([gx.layers.Dense(3, in_features=2), gx.layers.Dropout(0.0), gx.layers.Dense(1)])
        net(X)
        first, then, last = (gx.optim.Adam(0.1) for _ in range(3))
        batch = np.repeat(X[:3], 3, axis=0)  # the same mean on each replica
        run = parallel.run if everywhere else lambda step, x: step(x)
        run(training(net, first), batch)
        if built:
            then.build(net.trainable_variables)
            last.build(net.trainable_variables)
        run(training(net, then), batch)
        step = training(net, last)
        for call in (step, gx.function(step)):
            call(batch)
        if everywhere:
            assert {v.device for v in (*net.variables, *first.variables)} == {", ".join(parallel.devices)}
        return [v.numpy() for v in net.variables]

    for found, expected in zip(weights(True), weights(False), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_variables_on_all_devices_meet_pins_and_variables_of_one_device(parallel: DataParallel) -> None:
    with parallel.scope():
        everywhere = gx.Variable([1.0, 2.0])
    with gx.device("cpu:1"):
        there = gx.Variable([10.0, 20.0])
    here = gx.Variable([3.0, 4.0])

    def pinned() -> Any:
        with gx.device("cpu:2"):
            total = everywhere * 2.0
        everywhere.assign_add(total)
        return total, total + here

    def mixed() -> Any:
        there.assign_add(everywhere)
        everywhere.assign_add(here + gx.random.uniform((2,)) * 0.0)
        return there + everywhere + here

    for ways in ((pinned, mixed), (gx.function(pinned), gx.function(mixed))):
        everywhere.assign([1.0, 2.0])
        there.assign([10.0, 20.0])
        doubled, total = ways[0]()
        assert (doubled.device, doubled.tolist(), total.tolist()) == ("/device:CPU:2", [2.0, 4.0], [5.0, 8.0])
        assert ways[1]().tolist() == [22.0, 40.0]
        places = [everywhere.device, there.device, gx.random.normal().device]
        assert places == [", ".join(parallel.devices), "/device:CPU:1", HERE]
        assert everywhere.tolist() == [6.0, 10.0]
    plain = gx.function(lambda x: x * everywhere + gx.random.normal((2,)) * 0.0)
    for _ in range(2):
        assert plain(gx.ones(2)).tolist() == [6.0, 10.0]
    assert gx.random.normal().device == HERE
