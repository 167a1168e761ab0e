"""Around a training loop: clipping, schedules, batches, early stopping."""

from __future__ import annotations

from functools import partial
from typing import Any

import graphc as gx
from graphc import Tensor
from tests.conformance import harness
from tests.conformance.harness import f as floats
from tests.conformance.harness import i as ints

program = partial(harness.program, construct="whole algorithms")

FEATURES = [[0.0, 1.0], [1.0, 0.5], [2.0, -1.0], [-1.0, 0.3]]
LABELS = [0.0, 1.0, 1.0, 0.0]


@program("training/gradient_clipping", inputs=[(floats(30.0, 40.0), 5.0), (floats(0.3, 0.4), 5.0)], gradient=True)
def gradient_clipping(gradient: Tensor, limit: float) -> Any:
    gradients = {"w": gradient, "b": gx.sum(gradient)}
    norm = gx.sqrt(sum(gx.sum(g**2) for g in gradients.values()))
    if norm > limit:
        gradients = {name: g * (limit / norm) for name, g in gradients.items()}
    return gradients, norm


@program("training/learning_rate_schedule", inputs=[(floats(4.0),), (floats(0.5),)], gradient=True, python_numbers=True)
def learning_rate_schedule(w: Tensor) -> Any:
    rates = []
    for step in range(12):
        if step < 3:
            rate = 0.1 * (step + 1) / 3
        elif step < 8:
            rate = 0.1
        else:
            rate = 0.1 * 0.5 ** (step - 7)
        w = w - rate * 2 * w
        rates.append(rate)
    return w, rates


@program(
    "training/schedule_on_plateau",
    inputs=[(floats(3.0, 2.9, 2.9, 2.9, 2.0),), (floats(5.0, 4.0, 3.0, 2.0, 1.0),)],
    python_numbers=True,
)
def schedule_on_plateau(losses: Tensor) -> Any:
    rate, best, bad = 1.0, float("inf"), 0
    history = []
    for loss in losses:
        if loss < best:
            best = loss
            bad = 0
        else:
            bad += 1
        if bad >= 2:
            rate *= 0.5
            bad = 0
        history.append(rate)
    return rate, best, history


@program(
    "training/dict_batches",
    inputs=[(floats(FEATURES), floats(LABELS), 2), (floats(FEATURES), floats(LABELS), 4)],
    gradient=True,
    python_numbers=True,
)
def dict_batches(x: Tensor, y: Tensor, size: int) -> Any:
    batches = [{"x": x[i : i + size], "y": y[i : i + size]} for i in range(0, len(y), size)]
    w = gx.zeros(2)
    metrics = {"loss": 0.0, "seen": 0}
    for batch in batches:
        error = batch["x"] @ w - batch["y"]
        w = w - 0.1 * batch["x"].T @ error
        metrics["loss"] += gx.sum(error**2)
        metrics["seen"] += len(batch["y"])
    return w, metrics


@program(
    "training/skip_bad_batches",
    inputs=[(floats([[1.0, 2.0], [float("nan"), 1.0], [3.0, 4.0]]),), (floats([[1.0, 2.0], [0.0, 1.0], [1e9, 0.0]]),)],
    python_numbers=True,
)
def skip_bad_batches(batches: Tensor) -> Any:
    total, used = gx.asarray(0.0), 0
    for batch in batches:
        loss = gx.mean(batch)
        if gx.isnan(loss):
            continue
        if loss > 1e6:
            break
        total += loss
        used += 1
    else:
        used = used + 100
    return total, used


@program("training/q_learning", inputs=[(0, ints(30)), (2, ints(5))], python_numbers=True)
def q_learning(seed: int, steps: Tensor) -> Any:
    """A corridor of four cells; the last pays."""
    gx.random.seed(seed)
    q = gx.zeros((4, 2))
    state = 0
    for _ in range(steps):
        if gx.random.uniform(()) < 0.6:
            action = gx.random.randint((), 0, 2)
        else:
            action = gx.argmax(q[state])
        new = max(0, min(3, state + 2 * action - 1))
        reward = 1.0 if new == 3 else 0.0
        q[state, action] += 0.5 * (reward + 0.9 * gx.max(q[new]) - q[state, action])
        state = 0 if new == 3 else new
    return q, state


@program(
    "training/early_stopping_keeps_best",
    inputs=[(floats(0.9, 0.7, 0.8, 0.85, 0.6),), (floats(0.5, 0.4, 0.3, 0.2, 0.1),)],
    python_numbers=True,
)
def early_stopping_keeps_best(validation: Tensor) -> Any:
    best_loss, best_epoch, wait = 1.0, -1, 0
    for epoch, loss in enumerate(validation):
        if loss < best_loss:
            best_loss, best_epoch, wait = loss, epoch, 0
            continue
        wait += 1
        if wait == 2:
            print(f"stopped after epoch {epoch}: best {best_loss}")
            break
    return best_loss, best_epoch


@program("training/train_with_assert", inputs=[(floats(1.0), floats(0.1)), (floats(1.0), floats(3.0))])
def train_with_assert(w: Tensor, rate: Tensor) -> Tensor:
    for _ in range(10):
        loss = w * w
        assert loss < 1e3, "the loss has exploded"
        w = w - rate * 2 * w
    return w
