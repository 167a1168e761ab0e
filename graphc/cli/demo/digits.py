"""A small network learns to read handwritten digits: the same code in four modes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

import graphc as gx

__all__ = ["Digits", "Run", "load_digits", "train_in_turns"]

BATCH = 64


@dataclass(frozen=True)
class Digits:
    """Images of 8 x 8 grey values between 0 and 1, as rows of 64, and the digits they show."""

    train_x: gx.Tensor
    train_y: gx.Tensor
    test_x: gx.Tensor
    test_y: gx.Tensor

    def batches(self) -> gx.data.Dataset:
        """Batches of the training data, in another order in each pass, the same for all who ask."""
        rows = self.train_x.numpy(), self.train_y.numpy()
        return gx.data.Dataset.from_tensor_slices(rows).shuffle(len(rows[0]), seed=0).batch(BATCH)


def load_digits() -> Digits:
    """Returns the 1,797 digits that scikit-learn brings along, every fifth one kept for testing.

    Raises:
      ImportError: scikit-learn is not installed.
    """
    from sklearn import datasets, model_selection

    split = cast("Any", model_selection.train_test_split)
    data = cast("Any", datasets.load_digits)()
    images, labels = (data.data / 16.0).astype(np.float32), data.target.astype(np.int32)
    parts = split(images, labels, test_size=0.2, random_state=0, stratify=labels)
    train_x, test_x, train_y, test_y = map(gx.asarray, parts)
    return Digits(train_x, train_y, test_x, test_y)


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
        weights = self.network.trainable_variables
        with gx.GradientTape() as tape:
            loss = gx.losses.sparse_softmax_cross_entropy(y, self.network(x))
        self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
        return loss

    def accuracy(self, x: gx.Tensor, y: gx.Tensor) -> float:
        """Returns the part of the digits that are read right."""
        return float(gx.mean(gx.argmax(self.network(x), axis=1) == y))


Epoch = Callable[[gx.data.Dataset], gx.Tensor]


def eager(model: Classifier) -> Epoch:
    """Every operation at once, as it stands."""
    return over_batches(model.step)


def per_step(model: Classifier) -> Epoch:
    """One compiled program a step."""
    return over_batches(gx.function(model.step))


def per_epoch(model: Classifier) -> Epoch:
    """One compiled program an epoch: the data and the loop over its batches are part of it."""
    step = gx.function(model.step)

    @gx.function
    def epoch(batches: gx.data.Dataset) -> gx.Tensor:
        total = gx.asarray(0.0)
        for x, y in batches:
            total = total + step(x, y)
        return total / len(batches)

    return epoch


def data_parallel(model: Classifier) -> Epoch:
    """One compiled program a step, on all devices, each with its part of the batch."""
    parallel = gx.distribute.DataParallel()
    step = parallel.function(model.step)
    return over_batches(lambda x, y: parallel.reduce("mean", step(x, y)))


def over_batches(step: Callable[[gx.Tensor, gx.Tensor], gx.Tensor]) -> Epoch:
    """Makes a pass over the data in a loop of Python's."""

    def epoch(batches: gx.data.Dataset) -> gx.Tensor:
        return gx.mean(gx.stack([step(x, y) for x, y in batches]))

    return epoch


MODES: dict[str, Callable[[Classifier], Epoch]] = {
    "eager": eager,
    "compiled per step": per_step,
    "compiled per epoch": per_epoch,
    "data-parallel": data_parallel,
}


@dataclass
class Run:
    """The training in one mode.

    Attributes:
      mode: which.
      devices: on how many.
      losses: the mean loss of each epoch.
      accuracies: on the test data, after each epoch.
      seconds: the time of each epoch; the first one compiles.
    """

    mode: str
    devices: int
    losses: list[float] = field(default_factory=list[float])
    accuracies: list[float] = field(default_factory=list[float])
    seconds: list[float] = field(default_factory=list[float])


def train_in_turns(digits: Digits, epochs: int) -> Iterator[tuple[Run, ...]]:
    """Trains in all modes, an epoch of each in turn, so that a slow spell of the machine hits all of them.

    All modes start from the same weights and see the same batches in the same order.

    Yields:
      The runs so far, after each epoch of a mode.
    """
    parallel_devices = gx.distribute.DataParallel().num_replicas
    runs = tuple(Run(mode, parallel_devices if mode == "data-parallel" else 1) for mode in MODES)
    models = [Classifier() for _ in runs]
    trainers = [MODES[run.mode](model) for run, model in zip(runs, models, strict=True)]
    data = [digits.batches() for _ in runs]
    for _ in range(epochs):
        for run, model, epoch, batches in zip(runs, models, trainers, data, strict=True):
            start = time.perf_counter()
            run.losses.append(float(epoch(batches)))  # float() waits for the work
            run.seconds.append(time.perf_counter() - start)
            run.accuracies.append(model.accuracy(digits.test_x, digits.test_y))
            yield runs
