"""Training loops: Variables, tapes, optimizers, clustering."""

# ruff: noqa: B007  the programs are as people write them at first

from __future__ import annotations

from functools import partial
from typing import Any

import graphc as gx
from graphc import Tensor
from tests.conformance import harness
from tests.conformance.harness import f as floats

program = partial(harness.program, construct="whole algorithms")

POINTS = [[0.0, 0.1], [0.2, 0.0], [3.0, 3.1], [2.9, 3.2], [0.1, 0.2]]
FEATURES = [[0.0, 1.0], [1.0, 0.5], [2.0, -1.0], [-1.0, 0.3]]
LABELS = [0.0, 1.0, 1.0, 0.0]


@program(
    "learning/k_means",
    inputs=[(floats(POINTS), floats([[0.0, 0.0], [3.0, 3.0]])), (floats(POINTS), floats([[0.0, 0.0], [100.0, 100.0]]))],
    python_numbers=True,
)
def k_means(points: Tensor, centres: Tensor) -> Any:
    for step in range(20):
        distance = gx.sum((points[:, None, :] - centres[None, :, :]) ** 2, axis=-1)
        nearest = gx.argmin(distance, axis=1)
        new = []
        for k in range(centres.shape[0]):
            mask = nearest == k
            count = gx.sum(mask)
            if count > 0:
                new.append(gx.sum(points * mask[:, None], axis=0) / count)
            else:
                new.append(centres[k])
        new = gx.stack(new)
        shift = gx.linalg.norm(new - centres)
        centres = new
        if shift < 1e-4:
            break
    return centres, nearest, step


@program(
    "learning/k_means_while",
    inputs=[(floats(1.0, 2.0, 10.0, 11.0), floats(1.0, 2.0)), (floats(1.0, 2.0, 10.0, 11.0), floats(1.5, 10.5))],
    python_numbers=True,
)
def k_means_while(x: Tensor, centres: Tensor) -> Any:
    changed = True
    rounds = 0
    while changed:
        total, count = gx.zeros(2), gx.zeros(2)
        for value in x:
            k = 0 if abs(value - centres[0]) < abs(value - centres[1]) else 1
            total[k] += value
            count[k] += 1
        new = total / gx.maximum(count, 1)
        changed = gx.any(gx.abs(new - centres) > 1e-3)
        centres = new
        rounds += 1
    return centres, rounds


@program(
    "learning/gaussian_mixture",
    inputs=[(floats(0.0, 0.2, 4.0, 4.3), floats(1.0, 3.0)), (floats(1.0, 1.0, 1.0, 1.0), floats(0.0, 2.0))],
    gradient=True,
)
def gaussian_mixture(x: Tensor, means: Tensor) -> Any:
    """EM with unit variances, until the likelihood stands still."""
    weights = gx.asarray([0.5, 0.5])
    previous = -float("inf")
    for _ in range(15):
        joint = gx.log(weights)[None, :] - 0.5 * (x[:, None] - means[None, :]) ** 2
        evidence = gx.nn.logsumexp(joint, axis=1)
        responsibility = gx.exp(joint - evidence[:, None])
        likelihood = gx.sum(evidence)
        if likelihood - previous < 1e-3:
            break
        previous = likelihood
        mass = gx.sum(responsibility, axis=0)
        weights = mass / len(x)
        means = gx.sum(responsibility * x[:, None], axis=0) / mass
    return means, weights, likelihood


@program(
    "learning/perceptron",
    inputs=[(floats(FEATURES), floats(-1.0, 1.0, 1.0, -1.0)), (floats(FEATURES), floats(1.0, -1.0, 1.0, -1.0))],
    python_numbers=True,
)
def perceptron(features: Tensor, signs: Tensor) -> Any:
    w, b = gx.zeros(2), gx.asarray(0.0)
    for epoch in range(10):
        mistakes = 0
        for x, sign in zip(features, signs, strict=True):
            if sign * (gx.dot(w, x) + b) <= 0:
                w = w + sign * x
                b = b + sign
                mistakes += 1
        if mistakes == 0:
            break
    return w, b, epoch


@program(
    "learning/logistic_regression",
    inputs=[(floats(FEATURES), floats(LABELS), floats(0.5)), (floats(FEATURES), floats(LABELS), floats(1e-6))],
    python_numbers=True,
)
def logistic_regression(x: Tensor, y: Tensor, tolerance: Tensor) -> Any:
    """Early stopping on the change of the loss, gradients by hand."""
    w = gx.zeros(x.shape[1])
    best, patience = gx.asarray(1e9), 0
    for step in range(25):
        p = gx.nn.sigmoid(x @ w)
        loss = -gx.mean(y * gx.log(p + 1e-6) + (1 - y) * gx.log(1 - p + 1e-6))
        if loss < best - tolerance:
            best, patience = loss, 0
        else:
            patience += 1
            if patience >= 3:
                break
        w = w - 0.5 * x.T @ (p - y) / len(y)
    return w, best, step


def zero_weights() -> gx.Variable:
    return gx.Variable(gx.zeros(2), name="w")


@program(
    "learning/logistic_regression_variable",
    inputs=[
        (zero_weights, floats(FEATURES), floats(LABELS), floats(0.4)),
        (zero_weights, floats(FEATURES), floats(LABELS), floats(0.01)),
    ],
    python_numbers=True,
)
def logistic_regression_variable(w: gx.Variable, x: Tensor, y: Tensor, target: Tensor) -> Any:
    """A Variable, a tape inside the loop, a target that may be reached."""
    losses = []
    for step in range(8):
        with gx.GradientTape() as tape:
            logits = x @ w
            loss = gx.mean(gx.nn.softplus(logits) - y * logits)
        w.assign_sub(0.8 * tape.gradient(loss, w))
        losses.append(loss)
        if loss < target:
            break
    return step, losses[-1]


@program(
    "learning/linear_regression_grad",
    inputs=[(floats(1.0, 2.0, 3.0), floats(2.0, 4.1, 5.9)), (floats(0.0, 1.0, 2.0), floats(1.0, 1.0, 1.0))],
    python_numbers=True,
)
def linear_regression(x: Tensor, y: Tensor) -> Any:
    """gx.value_and_grad of a local function."""

    def loss(w: Tensor, b: Tensor) -> Tensor:
        return gx.mean((w * x + b - y) ** 2)

    w = b = gx.asarray(0.0)
    steps = 0
    while steps < 40:
        value, (dw, db) = gx.value_and_grad(loss, argnums=(0, 1))(w, b)
        if value < 0.05:
            break
        w, b = w - 0.1 * dw, b - 0.1 * db
        steps += 1
    return w, b, steps


class Perceptron:
    """Two layers of Variables, and their optimizer."""

    def __init__(self) -> None:
        self.w1 = gx.Variable([[0.1, -0.2, 0.3], [0.4, 0.5, -0.6]])
        self.w2 = gx.Variable([[0.3], [-0.1], [0.2]])
        self.optimizer = gx.optim.Adam(0.05)
        self.optimizer.build([self.w1, self.w2])

    def __call__(self, x: Tensor) -> Tensor:
        hidden = gx.nn.relu(x @ self.w1)
        return gx.squeeze(hidden @ self.w2, axis=1)


@program(
    "learning/mlp_with_optimizer",
    inputs=[(Perceptron, floats(FEATURES), floats(LABELS), 3), (Perceptron, floats(FEATURES), floats(LABELS), 6)],
)
def mlp_with_optimizer(model: Perceptron, x: Tensor, y: Tensor, steps: int) -> Any:
    for _ in range(steps):
        with gx.GradientTape() as tape:
            loss = gx.mean((model(x) - y) ** 2)
        variables = [model.w1, model.w2]
        model.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
    return loss, model.w1.value(), model.w2.value()


@program(
    "learning/mlp_until_it_fits",
    inputs=[
        (Perceptron, floats(FEATURES), floats(LABELS), floats(0.2)),
        (Perceptron, floats(FEATURES), floats(LABELS), floats(0.0)),
    ],
    python_numbers=True,
)
def mlp_until_it_fits(model: Perceptron, x: Tensor, y: Tensor, target: Tensor) -> Any:
    """Ends early, inside the tape's loop, with the optimizer's state in Variables."""
    step, best = 0, gx.asarray(float("inf"))
    while step < 6:
        with gx.GradientTape() as tape:
            loss = gx.mean((model(x) - y) ** 2)
        if loss < target:
            return "fits", step, loss
        best = min(best, loss)
        gradients = tape.gradient(loss, [model.w1, model.w2])
        model.optimizer.apply_gradients(zip(gradients, [model.w1, model.w2], strict=True))
        step += 1
    return "fits", step, best


@program("learning/tape_asked_after_a_return", inputs=[(floats(1.0),), (floats(3.0),)], gradient=True)
def tape_asked_after_a_return(x: Tensor) -> Any:
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = x * x * x
    if y > 5:
        return y
    return tape.gradient(y, x) * 2


@program("learning/tape_asked_in_two_branches", inputs=[(floats(1.0),), (floats(3.0),)], gradient=True)
def tape_asked_in_two_branches(x: Tensor) -> Any:
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = x * x * x
        while y > 100:
            y = y / 2 * x
    if y > 5:
        slope = tape.gradient(y, x)
        step = 0.1
    else:
        slope = -tape.gradient(y, x)
        step = 0.2
    return x - step * slope


@program("learning/descent_until_it_is_small", inputs=[(floats(1.0),), (floats(0.2),), (floats(0.05),)])
def descent_until_it_is_small(w: Tensor) -> Any:
    """A tape in a loop that depends on tensors, asked after a conditional return."""
    while w > 0.1:
        with gx.GradientTape() as tape:
            tape.watch(w)
            loss = w * w
        if loss < 0.02:
            return w, loss
        w = w - 0.1 * tape.gradient(loss, w)
    return w, gx.asarray(0.0)


class Momentum:
    """SGD whose velocity is an attribute: a tensor that each step replaces."""

    def __init__(self, rate: float, decay: float) -> None:
        self.rate, self.decay = rate, decay
        self.velocity: Any = 0.0

    def step(self, w: Tensor, gradient: Tensor) -> Tensor:
        self.velocity = self.decay * self.velocity - self.rate * gradient
        return w + self.velocity


@program(
    "learning/momentum_in_attributes",
    inputs=[(floats(2.0, -1.0),), (floats(0.0, 0.01),)],
    gradient=True,
    python_numbers=True,
    known_gap="a Python number that becomes a vector in one branch",
)
def momentum_in_attributes(w: Tensor) -> Any:
    optimizer = Momentum(0.1, 0.9)
    for _ in range(10):
        gradient = 2 * w * gx.asarray([1.0, 3.0])
        if gx.sum(gradient**2) < 1e-2:
            break
        w = optimizer.step(w, gradient)
    return w, optimizer.velocity


@program("learning/adam_by_hand", inputs=[(floats(1.0, -2.0),), (floats(0.1, 0.2),)])
def adam_by_hand(w: Tensor) -> Any:
    """The moments live in a dict."""
    state = {"m": gx.zeros_like(w), "v": gx.zeros_like(w)}
    for t in range(1, 13):
        g = 2 * (w - 0.5)
        state["m"] = 0.9 * state["m"] + 0.1 * g
        state["v"] = 0.99 * state["v"] + 0.01 * g**2
        m_hat = state["m"] / (1 - 0.9**t)
        v_hat = state["v"] / (1 - 0.99**t)
        w = w - 0.1 * m_hat / (gx.sqrt(v_hat) + 1e-7)
    return w, state
