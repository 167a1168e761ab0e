"""A training that is killed and resumed: a program of its own, and what it computes without a kill."""

from __future__ import annotations

import os
import signal
import sys
from typing import Any

import numpy as np

import graphc as gx


class Data:
    """Shuffled batches that know where they are; the last of an epoch is smaller."""

    def __init__(self) -> None:
        self.rng, self.order, self.position = np.random.default_rng(7), np.arange(0), 0

    def __next__(self) -> np.ndarray[Any, Any]:
        if self.position >= len(self.order):
            self.order, self.position = self.rng.permutation(20), 0
        self.position += 8
        return self.order[self.position - 8 : self.position]

    def state(self) -> dict[str, Any]:
        return {"rng": self.rng.bit_generator.state, "order": self.order, "position": self.position}

    def restore(self, state: dict[str, Any]) -> None:
        self.rng.bit_generator.state = state["rng"]
        self.order, self.position = state["order"], state["position"]


def train(folder: str, kill_after: int | None = None) -> list[Any]:
    """Trains up to step 20, from the latest checkpoint if there is one; returns losses and weights."""
    gx.random.seed(11)
    x = np.random.default_rng(0).random((20, 5), dtype=np.float32)
    layers = gx.layers
    model = layers.Sequential(
        [layers.Dense(8, "tanh", in_features=5), layers.Dropout(0.5), layers.Dense(1, in_features=8)]
    )
    optimizer, step, data = gx.optim.Adam(1e-2), gx.Variable(0, trainable=False), Data()
    optimizer.build(model.trainable_variables)
    checkpoint = gx.train.Checkpoint(folder, model=model, optimizer=optimizer, step=step, data=data)

    @gx.function
    def update(batch: Any) -> Any:
        noise = 0.1 * gx.random.normal(batch.shape)
        loss = optimizer.minimize(
            lambda: gx.mean((model(batch + noise, training=True) - gx.sum(batch, axis=1, keepdims=True)) ** 2),
            model.trainable_variables,
        )
        step.assign_add(1)
        return loss

    if checkpoint.latest is not None:
        checkpoint.restore()
    losses = []
    while (number := step.item()) < 20:
        if number and number % 10 == 0:
            checkpoint.save()
        losses.append(update(x[next(data)]).item())
        if number == kill_after:
            checkpoint.wait()
            checkpoint.save()
            os.kill(os.getpid(), signal.SIGKILL)  # while step 14 is being written
    checkpoint.wait()
    return [losses, *(variable.numpy().tolist() for variable in (*model.variables, *optimizer.variables))]


if __name__ == "__main__":
    print(repr(train(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else None)))
