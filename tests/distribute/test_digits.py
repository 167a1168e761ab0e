"""Real data on one device and on eight: dropout, batch normalization, Adam, split state, a last batch of five rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.distribute import DataParallel, Sharding

BATCH = 256


def _trained(parallel: DataParallel) -> tuple[list[np.ndarray[Any, Any]], float]:
    """The weights after two epochs, and the accuracy."""
    datasets = pytest.importorskip("sklearn.datasets")
    images, labels = datasets.load_digits(return_X_y=True)
    images, labels = images.astype(np.float32) / 16, labels.astype(np.int32)
    gx.random.seed(0)

    @gx.function(on_retrace="ignore")
    def step(x: Any, y: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.losses.sparse_softmax_cross_entropy(y, network(x, training=True))
        weights = network.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    with parallel.scope():
        network = gx.layers.Sequential(
            [
                gx.layers.Dense(64, use_bias=False),  # normalization cancels it, and Adam follows its rounding
                gx.layers.BatchNormalization(momentum=0.9),
                gx.layers.Activation("relu"),
                gx.layers.Dropout(0.1),
                gx.layers.Dense(10),
            ]
        )
        optimizer = gx.optim.Adam(1e-2)
        for _ in range(2):
            for start in range(0, len(images), BATCH):
                step(*parallel.shard((images[start : start + BATCH], labels[start : start + BATCH])))
        right = gx.argmax(network(parallel.shard(images)), axis=-1) == parallel.shard(labels)
        return [variable.numpy() for variable in network.variables], gx.mean(right).item()


def test_digits_are_learned_alike_on_one_device_and_on_eight() -> None:
    wanted, accuracy = _trained(DataParallel(["cpu:0"]))
    assert len(range(0, 1797, BATCH)) * BATCH - 1797 == 251  # the last batch has five rows
    assert accuracy > 0.9
    found, alike = _trained(DataParallel(sharding=Sharding({"data": 8}, {"kernel": "data"})))
    assert abs(alike - accuracy) < 0.005
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-2, atol=2e-4)
