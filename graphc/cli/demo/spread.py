"""The same training on more and more devices, and in two processes: the losses are those of one device."""

from __future__ import annotations

import io
import json
import time
from collections.abc import Iterator, Sequence
from contextlib import redirect_stderr
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

import graphc as gx

COUNTS = 1, 2, 4, 8
BATCH = 64
PROCESSES = 2
PREFIX = "[0] "


def digits() -> gx.data.Dataset:
    """Returns the 1,797 handwritten digits of scikit-learn, 8 x 8 grey values each, in batches."""
    from sklearn import datasets

    data = cast("Any", datasets.load_digits)()
    rows = (data.data / 16.0).astype(np.float32), data.target.astype(np.int32)
    return gx.data.Dataset.from_tensor_slices(rows).shuffle(len(rows[0]), seed=0).batch(BATCH)


class Classifier:
    """A network of one hidden layer, and its optimizer."""

    def __init__(self) -> None:
        gx.random.seed(1)
        self.network = gx.layers.Sequential([gx.layers.Dense(128, activation="relu"), gx.layers.Dense(10)])
        self.optimizer = gx.optim.Adam(3e-3)
        self.network(gx.zeros((1, 64)))  # the first call makes the weights
        self.optimizer.build(self.network.trainable_variables)

    def step(self, x: gx.Tensor, y: gx.Tensor) -> gx.Tensor:
        """One step of training; returns the loss before it."""
        return self.optimizer.minimize(lambda: gx.losses.sparse_softmax_cross_entropy(y, self.network(x)), self.network)


@dataclass(frozen=True)
class Spread:
    """A training on several devices."""

    where: str
    losses: list[float]
    seconds: float

    def difference(self, other: Spread) -> float:
        """Returns the largest relative difference of a loss from another training's."""
        return max(abs(one - two) / two for one, two in zip(self.losses, other.losses, strict=True))


def train(devices: Sequence[Any] | None) -> list[float]:
    """Trains for an epoch, of which the last batch is a part of one; returns the loss of each step."""
    parallel = gx.distribute.DataParallel(devices)
    with parallel.scope():
        model = Classifier()
    step = gx.function(model.step)
    losses = [step(*parallel.shard(batch)) for batch in digits()]
    return [loss.item() for loss in losses]


def on_devices() -> Iterator[Spread]:
    """Trains on 1, 2, 4 and 8 devices of the default platform, or on as many as there are."""
    there = [device for device in gx.devices() if device.platform == gx.devices()[0].platform]
    for count in (count for count in COUNTS if count <= len(there)):
        start = time.perf_counter()
        losses = train(there[:count])
        where = f"{count} device{'s' if count > 1 else ''}"
        yield Spread(where, losses, time.perf_counter() - start)


def in_processes() -> Spread:
    """Trains in two processes, which ``graphc launch`` starts."""
    start = time.perf_counter()
    out, err = io.StringIO(), io.StringIO()
    with redirect_stderr(err):
        code = gx.distribute.launch([__file__], PROCESSES, out=out, err=err)
    if code != 0:
        raise gx.errors.FailedPreconditionError(f"the training in {PROCESSES} processes failed:\n{err.getvalue()}")
    lines = [line.removeprefix(PREFIX) for line in out.getvalue().splitlines() if line.startswith(PREFIX)]
    return Spread(f"{PROCESSES} processes", json.loads(lines[-1]), time.perf_counter() - start)


if __name__ == "__main__":
    gx.distribute.initialize()
    print(json.dumps(train(None)))
