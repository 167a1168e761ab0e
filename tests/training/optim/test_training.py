"""A model that learns: the handwritten digits of scikit-learn, eagerly and compiled."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import graphc as gx

BATCH, STEPS = 64, 24


def _digits() -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    from sklearn.datasets import load_digits  # it takes a second to import

    images, labels = load_digits(return_X_y=True)
    return (images / 16.0).astype("float32"), labels.astype("int32")


@cache
def _train(mode: str) -> tuple[list[float], float]:
    images, labels = _digits()
    gx.random.seed(0)
    model = gx.layers.Sequential([gx.layers.Dense(32, "relu"), gx.layers.Dropout(0.1), gx.layers.Dense(10)])
    optimizer = gx.optim.Adam(0.01)

    def step(x: Any, y: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.losses.sparse_softmax_cross_entropy(y, model(x, training=True))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    run = gx.function(step) if mode == "compiled" else step
    losses: list[float] = []
    for number in range(STEPS):
        part = slice(number * BATCH, (number + 1) * BATCH)
        losses.append(run(gx.asarray(images[part]), gx.asarray(labels[part])).item())
    guesses = np.argmax(model(images).numpy(), axis=-1)
    return losses, float((guesses == labels).mean())


@pytest.mark.parametrize("mode", ["eager", "compiled"])
def test_the_loss_falls_and_digits_are_recognised(mode: str) -> None:
    losses, accuracy = _train(mode)
    assert np.mean(losses[-4:]) < 0.5 * np.mean(losses[:4])
    assert accuracy > 0.8


def test_eager_and_compiled_training_are_the_same() -> None:
    eager, compiled = _train("eager")[0], _train("compiled")[0]
    np.testing.assert_allclose(eager, compiled, rtol=1e-3)


def test_a_compiled_epoch_is_its_steps() -> None:
    images, labels = _digits()
    x = images[: 8 * BATCH].reshape(8, BATCH, 64)
    y = labels[: 8 * BATCH].reshape(8, BATCH)

    def make() -> Any:
        gx.random.seed(0)
        model = gx.layers.Sequential([gx.layers.Dense(16, "tanh", in_features=64), gx.layers.Dense(10, in_features=16)])
        optimizer = gx.optim.SGD(0.1, momentum=0.9)
        optimizer.build(model.trainable_variables)

        def step(x: Any, y: Any) -> Any:
            def loss() -> Any:
                return gx.losses.sparse_softmax_cross_entropy(y, model(x, training=True))

            return optimizer.minimize(loss, model)

        return model, step

    model, step = make()
    for part in range(8):
        last = step(gx.asarray(x[part]), gx.asarray(y[part]))

    other, other_step = make()

    @gx.function(unroll=False)
    def epoch(xs: Any, ys: Any) -> Any:
        loss = gx.asarray(0.0)
        for i in range(8):
            loss = other_step(xs[i], ys[i])
        return loss

    np.testing.assert_allclose(epoch(gx.asarray(x), gx.asarray(y)).item(), last.item(), rtol=1e-4)
    for one, two in zip(model.variables, other.variables, strict=True):
        np.testing.assert_allclose(one.numpy(), two.numpy(), rtol=1e-3, atol=1e-5)
