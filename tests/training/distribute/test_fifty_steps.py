"""Fifty steps in the replica view leave the weights of one device, to rounding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import optax
import pytest

import graphc as gx
from graphc.training.distribute import DataParallel

RNG = np.random.default_rng(1)
X = RNG.normal(size=(40, 6)).astype(np.float32)
Y = np.tanh(X @ RNG.normal(size=(6, 2))).astype(np.float32)
BATCHES = [slice(0, 16), slice(16, 32), slice(32, 40), slice(28, 40)]
CLIPPED = optax.chain(optax.clip_by_global_norm(0.05), optax.adam(0.01))


def weights(make: Callable[[], Any], compiled: Callable[[Any], Any], *between: Callable[[], Any]) -> list[Any]:
    gx.random.seed(0)
    inner = [layer() for layer in between]
    net = gx.layers.Sequential([gx.layers.Dense(8, "tanh", in_features=6), *inner, gx.layers.Dense(2)])
    net(X)
    optimizer = make()

    def step(x: Any, y: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.mean((net(x, training=True) - y) ** 2)
        optimizer.apply(tape.gradient(loss, net.trainable_variables), net.trainable_variables)
        return loss

    run = compiled(step)
    for place in range(50):
        rows = BATCHES[place % 4]
        run(X[rows], Y[rows])
    return [variable.numpy() for variable in net.variables]


@pytest.mark.drawn(2)
@pytest.mark.parametrize(
    "make",
    [lambda: gx.optim.SGD(0.1), lambda: gx.optim.Adam(0.01), lambda: gx.optim.Optimizer(CLIPPED)],
    ids=["SGD", "Adam", "clipping by global norm"],
)
def test_weights_are_those_of_one_device(make: Callable[[], Any]) -> None:
    one = weights(make, gx.function)
    for found, wanted in zip(weights(make, DataParallel().function), one, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=2e-4, atol=2e-6)


def test_batch_normalization_is_over_the_whole_batch() -> None:
    def make() -> Any:
        return gx.optim.SGD(0.05)

    one = weights(make, gx.function, gx.layers.BatchNormalization)
    for found, wanted in zip(weights(make, DataParallel().function, gx.layers.BatchNormalization), one, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=2e-5)


def test_dropout_draws_by_the_key_of_the_step_and_the_number_of_the_replica() -> None:
    """So what the replicas do with random numbers can be done on one device."""
    generator, one = gx.random.Generator(3), gx.random.Generator(3)
    w, v = gx.Variable(np.ones(6, np.float32)), np.ones(6, np.float32)

    @DataParallel([f"cpu:{place}" for place in range(4)]).function
    def step(x: Any) -> None:
        with gx.GradientTape() as tape:
            kept = generator.uniform(x.shape) < 0.5
            loss = gx.mean((gx.where(kept, x, 0.0) @ w) ** 2)
        w.assign_sub(0.01 * gx.distribute.all_mean(tape.gradient(loss, w)))

    for _ in range(50):
        step(X)
        key = one.key()
        numbers = [jax.random.uniform(jax.random.fold_in(key, place), (10, 6)) for place in range(4)]
        x = np.where(np.concatenate(numbers) < 0.5, X, 0.0)
        v = v - 0.01 * 2 * x.T @ (x @ v) / 40
    np.testing.assert_allclose(w, v, rtol=1e-4, atol=1e-6)
