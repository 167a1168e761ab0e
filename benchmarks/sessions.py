"""What runs of a Session cost, next to calls of a compiled function that does the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row

__all__ = ["ROWS"]


def _batch(work: Callable[[], Any], calls: int) -> Callable[[], Callable[[], None]]:
    def sample() -> None:
        for _ in range(calls):
            work()

    return lambda: sample


def _one_feed(quick: bool) -> Duel:
    """A small fetch and one feed, from NumPy to NumPy on both sides."""
    calls = 10 if quick else 200
    with gx.Graph().as_default() as graph:
        x = gx.placeholder("float32", shape=(4,))
        y = x * 2.0 + 1.0
    session = gx.Session(graph=graph)

    @gx.function
    def compiled(x: Any) -> Any:
        return x * 2.0 + 1.0

    array = np.ones(4, np.float32)
    return Duel(
        Contender("session.run", _batch(lambda: session.run(y, {x: array}), calls), calls),
        Contender("a compiled function", _batch(lambda: compiled(array).numpy(), calls), calls),
        lambda: [(session.run(y, {x: array}), compiled(array))],
    )


def _training_step(quick: bool) -> Duel:
    """A step of gradient descent on Variables, by a graph and by a compiled function."""
    calls = 5 if quick else 50
    rng = np.random.default_rng(0)
    inputs, targets = rng.normal(size=(64, 32)).astype(np.float32), rng.normal(size=(64, 1)).astype(np.float32)
    with gx.Graph().as_default() as graph:
        x, t = gx.placeholder("float32", shape=(None, 32)), gx.placeholder("float32", shape=(None, 1))
        w = gx.Variable(np.zeros((32, 1), np.float32))
        loss = gx.mean(gx.square(x @ w - t))
        (slope,) = graph.gradients(loss, [w])
        update: Any = w.assign_sub(0.1 * slope)
    session = gx.Session(graph=graph)
    session.run(w.initializer)  # pyright: ignore[reportAttributeAccessIssue]
    v = gx.Variable(np.zeros((32, 1), np.float32))

    @gx.function
    def compiled(x: gx.Tensor, t: gx.Tensor) -> gx.Tensor:
        with gx.GradientTape() as tape:
            loss = gx.mean(gx.square(x @ v - t))
        v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    feeds = {x: inputs, t: targets}
    return Duel(
        Contender("session.run", _batch(lambda: session.run([update, loss], feeds), calls), calls),
        Contender("a compiled function", _batch(lambda: compiled(inputs, targets).numpy(), calls), calls),
        lambda: [(session.run([update, loss], feeds)[1], compiled(inputs, targets))],
    )


ROWS = (
    Row("session-run", "session.run of a small fetch, one feed", 3.0, _one_feed),
    Row("session-step", "session.run of a training step", 2.0, _training_step),
)
