"""Batches as they come: of any number of rows, in micro-batches, and over a whole data set, as on one device."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.training.distribute import DataParallel, all_mean, mean_gradients, row_weights

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3)).astype(np.float32)
Y = (X @ np.asarray([1.0, -2.0, 0.5], np.float32)).astype(np.float32)
WEIGHTS = (np.arange(40) % 4).astype(np.float32) ** 2


def mean_step(v: Any, x: Any, y: Any, weights: Any) -> Any:
    """A step that knows nothing of replicas, but for the optimizer, which averages."""
    with gx.GradientTape() as tape:
        loss = gx.mean((x @ v - y) ** 2 * weights)
    SGD.apply([tape.gradient(loss, v)], [v])
    return loss, gx.tanh(x)


def weighted_step(v: Any, x: Any, y: Any, weights: Any) -> Any:
    loss, gradients = mean_gradients(lambda x, y, weights: ((x @ v - y) ** 2, weights), [v], x, y, weights)
    SGD.apply(gradients, [v])
    return loss, gx.tanh(x)


SGD = gx.optim.SGD(0.1)
V = gx.Variable(np.zeros(3, np.float32))


def trained(step: Callable[..., Any], rows: int, parallel: DataParallel) -> Any:
    V.assign(np.ones(3, np.float32))
    loss, values = step(V, X[:rows], Y[:rows], WEIGHTS[:rows] + 1)
    return parallel.reduce("mean", loss).numpy(), parallel.gather(values).numpy(), V.numpy()


def expected(rows: int, weights: Any, total: Any) -> Any:
    x, y = X[:rows].astype(np.float64), Y[:rows]
    off = x.sum(1) - y
    loss, gradient = (off**2 * weights).sum() / total, 2 * (x * (off * weights)[:, None]).sum(0) / total
    return loss, np.tanh(x), 1 - 0.1 * gradient


@pytest.mark.parametrize("sizes", [(1, 6, 12, 29, 40), pytest.param(range(1, 41), marks=pytest.mark.slow)], ids=len)
def test_batches_of_1_to_40_rows_on_8_devices_are_those_of_one(sizes: Sequence[int]) -> None:
    parallel = DataParallel()
    step = parallel.function(mean_step)
    for rows in sizes:
        for found, wanted in zip(trained(step, rows, parallel), expected(rows, WEIGHTS[:rows] + 1, rows), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert V.device.count("CPU") == 8


@pytest.mark.parametrize(("devices", "accumulate"), [(1, 1), (1, 4), (8, 1), (8, 4), (2, 3)])
def test_micro_batches_with_ragged_weights_are_the_batch(devices: int, accumulate: int) -> None:
    parallel = DataParallel([f"cpu:{place}" for place in range(devices)])
    step = parallel.function(weighted_step, accumulate=accumulate)
    for rows in (40, 22):
        weights = WEIGHTS[:rows] + 1
        for found, wanted in zip(trained(step, rows, parallel), expected(rows, weights, weights.sum()), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
    assert step.lower(V, X, Y, WEIGHTS).compile().as_text().count(" all-reduce(") == 1


def test_masks_give_no_device_more_rows_than_it_must_have() -> None:
    parallel = DataParallel(uneven="mask")

    def by_hand(v: Any, x: Any, y: Any, weights: Any) -> Any:
        kept = row_weights()
        kept = gx.ones(len(x)) if kept is None else kept
        with gx.GradientTape() as tape:
            loss = gx.sum((x @ v - y) ** 2 * weights * kept) / gx.sum(kept)
        SGD.apply([tape.gradient(loss, v)], [v])
        return all_mean(loss), gx.tanh(x)

    for function, parts in ((weighted_step, 1), (weighted_step, 2), (by_hand, 1)):
        step = parallel.function(function, accumulate=parts)
        for rows in (29, 9, 16):  # of 9 rows, 2 each, three devices have none
            weights = WEIGHTS[:rows] + 1
            total = rows if function is by_hand else weights.sum()
            for found, wanted in zip(trained(step, rows, parallel), expected(rows, weights, total), strict=True):
                np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)
        body = step.graph(V, X[:29], Y[:29], WEIGHTS[:29]).nodes
        (replicas,) = [node for node in body if node.op.name == "replicas"]
        assert (4, 3) in [value.type.shape for value in replicas.regions[0].inputs]
    with pytest.raises(ValueError, match=r"mean_step: uneven='mask' fills up the 29 rows .*uneven='repeat'"):
        trained(parallel.function(mean_step), 29, parallel)


def test_micro_batches_need_a_part_of_the_memory() -> None:
    x = np.ones((512, 64), np.float32)
    w = gx.Variable(np.ones((64, 512), np.float32))

    def activations(parts: int) -> int:
        def step(x: Any) -> Any:
            return mean_gradients(lambda x: gx.mean(gx.tanh(gx.sin(x @ w)) ** 2, axis=1), [w], x, accumulate=parts)

        return gx.function(step).lower(x).compile().memory_analysis().temp_size_in_bytes

    assert activations(4) < activations(1) / 3


def test_a_data_set_is_evaluated_row_by_row() -> None:
    parallel = DataParallel()
    accuracy = gx.metrics.BinaryAccuracy()
    batches = [(X[start : start + 16], Y[start : start + 16]) for start in range(0, 40, 16)]

    def model(x: Any, y: Any) -> Any:
        above = gx.astype(gx.sum(x, axis=1) > 0, "float32")
        accuracy.update(gx.astype(y > 0, "float32"), above)
        return {"off": gx.abs(x[:, 0] - y), "x": x}

    found = parallel.evaluate(model, batches, metrics={"accuracy": accuracy})
    np.testing.assert_allclose(found["off"], np.abs(X[:, 0] - Y).mean(), rtol=1e-6)
    np.testing.assert_allclose(found["x"], X.mean(0), rtol=1e-5)
    np.testing.assert_allclose(found["accuracy"], ((X.sum(1) > 0) == (Y > 0)).mean(), rtol=1e-6)
    again = parallel.evaluate(model, iter(batches), metrics={"accuracy": accuracy})
    assert again["accuracy"] == found["accuracy"]
    with pytest.raises(TypeError, match=r"must return a value for each of the 16 rows, got"):
        parallel.evaluate(lambda x, y: gx.mean(x), batches)
    with pytest.raises(ValueError, match="the data set has no batches with rows"):
        parallel.evaluate(model, [])


def test_host_arrays_go_straight_to_their_shards() -> None:
    parallel, x = DataParallel(), np.ones((816, 7), np.float32)
    step = parallel.function(lambda x: (gx.sum(x), x * 2))
    step(x)
    total, rows = step(x)
    assert [array for array in jax.live_arrays() if array.shape == x.shape] == []
    assert {shard.data.shape for shard in rows.stacked.raw.addressable_shards} == {(1, 102, 7)}
    assert parallel.gather(rows).shape == gx.concat(rows).shape == (816, 7)
    assert parallel.gather(total).shape == gx.stack(list(total)).shape == (8,)
    total, rows = step(x[:12])
    assert [len(rows), *(part.shape for part in rows)] == [4, *[(3, 7)] * 4]
    assert gx.concat(rows).shape == (12, 7)
    assert parallel.reduce("sum", total).item() == 12 * 7


@pytest.mark.parametrize(
    ("loss", "arguments", "message"),
    [
        (lambda x: gx.mean(x), {}, r"the loss must be that of each of the 40 rows, .* got shape \(\); take no mean"),
        (lambda x: (x, x, x), {}, "the loss must be that of each of the 40 rows"),
        (lambda x: x, {"accumulate": 0}, "accumulate must be an int from 1, got 0"),
    ],
)
def test_what_mean_gradients_refuses(loss: Any, arguments: Any, message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        mean_gradients(loss, [V], X, **arguments)


def test_what_data_parallel_refuses() -> None:
    with pytest.raises(ValueError, match="must have the same number of rows"):
        mean_gradients(lambda x, y: x, [V], X, Y[:3])
    step = DataParallel().function(lambda x: gx.mean(x), accumulate=2)
    with pytest.raises(
        ValueError, match=r"accumulate=2 is for gx.distribute.mean_gradients\(loss, variables, \*batch\)"
    ):
        step(X)
    with pytest.raises(ValueError, match="accumulate must be an int from 1, got 0"):
        DataParallel().function(lambda x: x, accumulate=0)
    with pytest.raises(ValueError, match="uneven must be 'repeat'"):
        DataParallel(uneven="pad")  # pyright: ignore[reportArgumentType]


def test_copies_that_fill_up_a_batch_do_not_count_in_metrics_and_keep_dtypes() -> None:
    parallel = DataParallel(uneven="mask")
    with parallel.scope():
        plain, weighted, own = gx.metrics.Mean(), gx.metrics.Mean(), Rows()

    def step(x: Any, weights: Any) -> Any:
        plain.update(x)
        weighted.update(x, weights)
        return mean_gradients(lambda x: x @ V, [V], x)[0], all_mean(gx.astype(gx.mean(x), "bfloat16"))

    _, mean = parallel.run(step, X[:29], WEIGHTS[:29])
    assert plain.result().item() == pytest.approx(X[:29].mean(), abs=1e-6)
    assert weighted.result().item() == pytest.approx(
        (X[:29].mean(1) * WEIGHTS[:29]).sum() / WEIGHTS[:29].sum(), rel=1e-4
    )
    assert mean.dtype.name == "bfloat16"
    with pytest.raises(
        gx.errors.UnimplementedError, match=r"rows: some rows only fill up .*Rows.sums takes no sample_weight"
    ):
        parallel.run(lambda x: own.update(x), X[:29])


class Rows(gx.metrics.Metric):
    def __init__(self) -> None:
        super().__init__(shapes={"rows": ()})

    def sums(self, x: Any) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        return {"rows": gx.sum(gx.ones(len(x)))}


@pytest.mark.parametrize("accumulate", [1, 2])
def test_gradients_of_half_precision_count_all_rows_and_none_stays_none(accumulate: int) -> None:
    w, unused = gx.Variable(gx.asarray(2.0, "bfloat16")), gx.Variable(1.0)
    rows = gx.ones(1001, "bfloat16")  # no number of bfloat16
    loss, (gradient, none) = mean_gradients(lambda x: w * x, [w, unused], rows, accumulate=accumulate)
    assert (loss.item(), loss.dtype.name) == (2.0, "float32")
    assert (gradient.item(), gradient.dtype.name) == (1.0, "bfloat16")
    assert none is None
