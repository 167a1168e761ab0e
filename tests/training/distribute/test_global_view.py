"""The global view: a plain compiled function over sharded tensors computes what one device computes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import optax
import pytest
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

import graphc as gx
from graphc.compiler.base import slow_path_reasons
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError
from graphc.compiler.core import count_launches
from graphc.training.distribute import DataParallel

RNG = np.random.default_rng(0)
X = RNG.normal(size=(64, 8)).astype(np.float32)
Y = (X @ RNG.normal(size=(8, 1)) + 0.1).astype(np.float32)


class Model:
    """An MLP with dropout and batch normalization, and one step of its training."""

    def __init__(self, make_optimizer: Callable[[], Any]) -> None:
        self.network = gx.layers.Sequential(
            [
                gx.layers.Dense(16, activation="relu"),
                gx.layers.Dropout(0.2),
                gx.layers.BatchNormalization(momentum=0.9),
                gx.layers.Dense(1),
            ]
        )
        self.optimizer = make_optimizer()

    @gx.function(on_retrace="ignore")
    def step(self, x: Any, y: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.losses.mean_squared_error(y, self.network(x, training=True))
        weights = self.network.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    @gx.function
    def epoch(self, xs: Any, ys: Any) -> Any:
        loss = gx.asarray(0.0)
        for x, y in zip(xs, ys):  # noqa: B905
            loss = self.step(x, y)
        return loss

    def values(self) -> list[np.ndarray[Any, Any]]:
        return [variable.numpy() for variable in self.network.variables]


def _sgd() -> Any:
    return gx.optim.SGD(0.05)


def _clipped_adam() -> Any:
    return gx.optim.Optimizer(optax.chain(optax.clip_by_global_norm(0.5), optax.adam(1e-2)))


def _trained(make_optimizer: Callable[[], Any], parallel: DataParallel | None, steps: int = 50) -> Model:
    gx.random.seed(7)
    if parallel is None:
        model = Model(make_optimizer)
        for _ in range(steps):
            model.step(X, Y)
        return model
    with parallel.scope():
        model = Model(make_optimizer)
        x, y = parallel.shard((X, Y))
        for _ in range(steps):
            model.step(x, y)
    return model


@pytest.mark.drawn(2)
@pytest.mark.parametrize("make_optimizer", [_sgd, _clipped_adam])
def test_fifty_steps_give_the_weights_of_one_device(make_optimizer: Callable[[], Any]) -> None:
    """With dropout, batch normalization, and clipping by global norm."""
    wanted = _trained(make_optimizer, None).values()
    for count in (4, 8):
        found = _trained(make_optimizer, DataParallel([f"cpu:{place}" for place in range(count)]))
        assert len(found.network.variables[0].sharding.device_set) == count
        for one, other in zip(found.values(), wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)


@pytest.fixture(scope="module")
def parallel() -> DataParallel:
    return DataParallel()


def test_batches_of_any_number_of_rows_are_exact(parallel: DataParallel) -> None:
    @gx.function(on_retrace="ignore")
    def statistics(x: Any) -> Any:
        return gx.mean(x), gx.var(x, axis=0), gx.sum(x)

    for rows, groups in ((1, 1), (12, 4), (40, 8)):
        x = parallel.shard(X[:rows])
        assert x.sharding.num_devices == 8
        assert len({str(shard.index) for shard in x.raw.addressable_shards}) == groups
        for found, wanted in zip(statistics(x), statistics(X[:rows]), strict=True):
            np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-5, atol=1e-6)


def test_no_device_holds_the_whole_of_a_host_batch(parallel: DataParallel) -> None:
    before = {id(array) for array in jax.live_arrays()}
    batch = {"x": np.ones((1024, 32)), "label": np.arange(1024), "name": "a", "scale": 2.0}
    given = parallel.shard(batch)
    made = [array for array in jax.live_arrays() if id(array) not in before]
    assert {shard.data.nbytes for array in made for shard in array.addressable_shards} == {
        1024 * 4 // 8,
        1024 * 128 // 8,
    }
    assert (given["name"], given["scale"]) == ("a", 2.0)
    assert given["x"].sharding.spec == P("replica")
    assert given["label"].dtype == np.int32
    np.testing.assert_array_equal(given["label"].numpy(), batch["label"])


def test_a_loop_over_batches_is_one_program(parallel: DataParallel) -> None:
    wanted = _trained(_sgd, None, steps=1)
    stacked = X.reshape(4, 16, 8), Y.reshape(4, 16, 1)
    gx.random.seed(3)
    loss = wanted.epoch(*stacked)
    model = _trained(_sgd, parallel, steps=1)
    xs, ys = parallel.shard(stacked, axis=1)
    gx.random.seed(3)
    with count_launches() as counter:
        found = model.epoch(xs, ys)
    assert counter.count <= 5  # the program, and the random state's way there and back
    assert xs.sharding.spec == P(None, "replica")
    np.testing.assert_allclose(found.numpy(), loss.numpy(), rtol=1e-4)
    for one, other in zip(model.values(), wanted.values(), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


def test_eager_ops_and_tapes_work_on_sharded_tensors(parallel: DataParallel) -> None:
    x = parallel.shard(X)
    w = gx.Variable(np.ones((8, 1), np.float32))
    with gx.GradientTape() as tape:
        loss = gx.mean((x @ w - parallel.shard(Y)) ** 2)
    gradient = tape.gradient(loss, w)
    wanted = 2 * X.T @ (X @ np.ones((8, 1)) - Y) / 64
    np.testing.assert_allclose(gradient.numpy(), wanted, rtol=1e-4, atol=1e-5)
    assert (x * 2).sharding.spec == P("replica")
    w.assign_sub(gradient)
    assert w.sharding.num_devices == 1  # a Variable stays where it is


def test_arrays_that_jax_laid_out_take_turns_too(parallel: DataParallel) -> None:
    x = jax.device_put(X, NamedSharding(parallel.mesh, P("replica")))
    assert not slow_path_reasons
    total = gx.asarray(x)
    assert slow_path_reasons
    for _ in range(100):
        total = total - gx.mean(total) * 0.5
    assert abs(gx.mean(total).item()) < 1e-6


def test_many_steps_in_a_row_are_not_waited_for_and_do_not_deadlock(parallel: DataParallel) -> None:
    """Each has collectives, which simulated devices cannot run many of at once."""
    with parallel.scope():
        w = gx.Variable(np.ones((8, 1), np.float32))

    @gx.function
    def step(x: Any) -> None:
        w.assign_sub(0.01 * gx.matmul(x.T, x @ w) / 64)

    x = parallel.shard(X)
    total = x
    for _ in range(200):
        step(x)
        total = total - gx.mean(total) * 0.5
    assert np.isfinite(w.numpy()).all()
    assert abs(gx.mean(total).item()) < 1e-6


def test_variables_are_updated_in_place(parallel: DataParallel, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who holds an array that is to be donated makes a copy of it necessary; nothing of graphc's does."""

    def copied(array: Any) -> Any:
        raise AssertionError(f"a copy of {array.shape}")

    with parallel.scope():
        weights = [gx.Variable(np.ones((8, size), np.float32)) for size in range(1, 11)]

    @gx.function
    def step(x: Any) -> Any:
        for weight in weights:
            weight.assign_sub(0.1 * gx.mean(x) * weight)
        return gx.mean(x)

    x = parallel.shard(X)
    step(x)
    monkeypatch.setattr("graphc.compiler.lowering.transaction.copied", copied)
    for _ in range(3):
        step(x)


def test_variables_keep_their_layout_whatever_is_assigned(parallel: DataParallel) -> None:
    rows = NamedSharding(parallel.mesh, P("replica"))
    with parallel.scope():
        whole = gx.Variable(np.zeros((64, 8), np.float32))
    split = gx.Variable(jax.device_put(np.zeros((64, 8), np.float32), rows))
    outside = gx.Variable(np.zeros((64, 8), np.float32))

    @gx.function
    def exchange(x: Any) -> Any:
        whole.assign(x + split)
        split.assign(x + whole)
        outside.assign(x)
        return gx.sum(split)

    x = jax.device_put(X, rows)  # JAX's own arrays will do
    for _ in range(2):
        exchange(x)
    assert whole.sharding == parallel.replicated
    assert split.sharding == rows
    assert outside.sharding.num_devices == 8
    with gx.GradientTape():
        exchange(x)
    assert (whole.sharding, split.sharding) == (parallel.replicated, rows)
    with gx.deadline(60.0):
        exchange(x)
    assert (whole.sharding, split.sharding) == (parallel.replicated, rows)
    np.testing.assert_allclose(split.numpy(), 4 * 2 * X, rtol=1e-5)


def test_what_is_on_one_device_is_brought_to_the_others(parallel: DataParallel) -> None:
    with gx.device("cpu:3"):
        offset = gx.asarray(np.ones(8, np.float32))

    @gx.function
    def shifted(x: Any, offset: Any) -> Any:
        if gx.any(gx.isnan(x)):
            raise ValueError("a batch with holes")
        return x + offset

    found = shifted(parallel.shard(X), offset)
    np.testing.assert_allclose(found.numpy(), X + 1)
    with pytest.raises(ValueError, match="a batch with holes"):
        shifted(parallel.shard(np.full_like(X, np.nan)), offset)


def test_a_retrace_for_another_layout_says_so(parallel: DataParallel) -> None:
    @gx.function
    def doubled(x: Any) -> Any:
        return x * 2

    for x in (X, parallel.shard(X), parallel.shard(X)):
        doubled(x)
    assert [report.reason for report in doubled.trace_report()][1:] == ["x was f32[64,8], is f32[64,8] over replica=8"]


def test_one_device_keeps_the_short_way_of_calls() -> None:
    @gx.function
    def alone(x: Any) -> Any:
        return x + 1

    with DataParallel(["cpu:0"]).scope():
        v = gx.Variable(1.0)
    alone(v)
    assert not slow_path_reasons


def test_shard_in_a_compiled_function_lays_out_what_it_made(parallel: DataParallel) -> None:
    @gx.function
    def made(n: int) -> Any:
        return parallel.shard(gx.ones((n, 2)))

    assert made(16).sharding.spec == P("replica")

    @gx.function
    def asks(x: Any) -> Any:
        return x if x.sharding.num_devices > 1 else x + 1

    with pytest.raises(ConcretizationError, match="return the tensor and ask the result"):
        asks(X)


def test_shard_refuses_axes_that_are_not_there(parallel: DataParallel) -> None:
    with pytest.raises(InvalidArgumentError, match=r"an array of shape \(64, 8\) has no axis 2"):
        parallel.shard(X, axis=2)
    with pytest.raises(InvalidArgumentError, match="12 rows do not divide by 8 devices"):
        DataParallel(uneven="refuse").shard(X[:12])


def test_a_scope_is_that_of_its_thread(parallel: DataParallel) -> None:
    made: list[gx.Variable] = []
    with parallel.scope():
        thread = threading.Thread(target=lambda: made.append(gx.Variable(1.0)))
        thread.start()
        thread.join()
    assert made[0].sharding.num_devices == 1


def test_explain_says_how_things_lie_and_what_the_devices_exchange(parallel: DataParallel) -> None:
    with parallel.scope():
        w = gx.Variable(np.ones((8, 2), np.float32), name="global_w")

    @gx.function
    def step(x: Any) -> Any:
        w.assign_sub(0.01 * gx.matmul(x.T, x @ w))
        return gx.mean(x)

    found = gx.explain(step, parallel.shard(X))
    (reduced,) = found.collectives
    assert (reduced.kind, reduced.arrays, reduced.bytes) == ("all-reduce", 2, 8 * 2 * 4 + 4)
    text = str(found)
    assert "x: f32[64,8], split (replica) over replica=8" in text
    assert "f32[8,2], whole on each of 8 devices: read and written" in text
    assert f"{reduced.count} all-reduce, 2 arrays, 68 B on each device" in text
    assert not gx.explain(lambda x: x + 1, X).collectives


@pytest.mark.gpu
def test_all_gpus_give_the_weights_of_one_cpu() -> None:
    """On a machine with GPUs: ``make test-gpu TESTS=tests/training/distribute``."""
    with gx.device("cpu:0"):
        wanted = _trained(_sgd, None, steps=10).values()
    sharding = gx.distribute.Sharding({"data": len(gx.devices("gpu"))}, {"kernel": "data"})
    found = _trained(_sgd, DataParallel(sharding=sharding), steps=10)
    for one, other in zip(found.values(), wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-2, atol=1e-3)
