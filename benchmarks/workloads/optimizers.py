"""Optimizers by hand: counters, rates that decay, momenta in lists."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.workloads.workload import Workload


def adam_over_range(w, x, y, steps):
    m, v = gx.zeros_like(w), gx.zeros_like(w)
    for step in range(1, steps + 1):
        gradient = 2.0 * x.T @ (x @ w - y) / x.shape[0]
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        w = w - 0.01 * (m / (1 - 0.9**step)) / (gx.sqrt(v / (1 - 0.999**step)) + 1e-8)
    return w


def adam_with_counter(w, x, y, steps):
    m, v, count = gx.zeros_like(w), gx.zeros_like(w), 0
    for _ in range(steps):
        count += 1
        gradient = 2.0 * x.T @ (x @ w - y) / x.shape[0]
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        w = w - 0.01 * (m / (1 - 0.9**count)) / (gx.sqrt(v / (1 - 0.999**count)) + 1e-8)
    return w


def adam_by_hand(w, x, y, steps):
    def step(carry, count):
        w, m, v = carry
        gradient = 2.0 * x.T @ (x @ w - y) / x.shape[0]
        m = 0.9 * m + 0.1 * gradient
        v = 0.999 * v + 0.001 * gradient**2
        w = w - 0.01 * (m / (1 - 0.9**count)) / (jnp.sqrt(v / (1 - 0.999**count)) + 1e-8)
        return (w, m, v), None

    start = w, jnp.zeros_like(w), jnp.zeros_like(w)
    return jax.lax.scan(step, start, jnp.arange(1.0, steps + 1))[0][0]


class Adam:
    """An optimizer as a plain class."""

    def __init__(self, w):
        self.m, self.v = gx.zeros_like(w), gx.zeros_like(w)
        self.t = 0

    def update(self, w, gradient):
        self.t += 1
        self.m = 0.9 * self.m + 0.1 * gradient
        self.v = 0.999 * self.v + 0.001 * gradient**2
        return w - 0.01 * (self.m / (1 - 0.9**self.t)) / (gx.sqrt(self.v / (1 - 0.999**self.t)) + 1e-8)


def adam_in_an_object(w, x, y, steps):
    optimizer = Adam(w)
    for _ in range(steps):
        w = optimizer.update(w, 2.0 * x.T @ (x @ w - y) / x.shape[0])
    return w


def rate_decays(w, x, y, steps):
    rate, losses = 0.1, gx.zeros(steps)
    for step in range(steps):
        error = x @ w - y
        losses[step] = gx.mean(error**2)
        w = w - rate * x.T @ error / x.shape[0]
        rate *= 0.97
    return w, losses


def rate_decays_by_hand(w, x, y, steps):
    def step(carry, _):
        w, rate = carry
        error = x @ w - y
        return (w - rate * x.T @ error / x.shape[0], rate * 0.97), jnp.mean(error**2)

    (w, _), losses = jax.lax.scan(step, (w, 0.1), None, length=steps)
    return w, losses


def rate_in_steps(w, x, y, steps):
    """A rate that halves every tenth step."""
    rate = 0.1
    for step in range(steps):
        if step % 10 == 9:
            rate = rate * 0.5
        w = w - rate * x.T @ (x @ w - y) / x.shape[0]
    return w


def rate_in_steps_by_hand(w, x, y, steps):
    def step(w, i):
        return w - 0.1 * 0.5 ** ((i + 1) // 10) * x.T @ (x @ w - y) / x.shape[0], None

    return jax.lax.scan(step, w, jnp.arange(steps))[0]


def momentum_in_lists(x, y, w1, w2, steps):
    """The weights and momenta of a network in two lists."""
    weights, momenta = [w1, w2], [gx.zeros_like(w1), gx.zeros_like(w2)]
    for _ in range(steps):
        with gx.GradientTape() as tape:
            for w in weights:
                tape.watch(w)
            loss = gx.mean((gx.tanh(x @ weights[0]) @ weights[1] - y) ** 2)
        gradients = tape.gradient(loss, weights)
        for i in range(2):
            momenta[i] = 0.9 * momenta[i] + gradients[i]
            weights[i] = weights[i] - 0.01 * momenta[i]
    return weights


def momentum_in_lists_by_hand(x, y, w1, w2, steps):
    def step(_, carry):
        weights, momenta = carry
        gradients = jax.grad(lambda ws: jnp.mean((jnp.tanh(x @ ws[0]) @ ws[1] - y) ** 2))(weights)
        momenta = [0.9 * m + g for m, g in zip(momenta, gradients, strict=True)]
        return [w - 0.01 * m for w, m in zip(weights, momenta, strict=True)], momenta

    return jax.lax.fori_loop(0, steps, step, ([w1, w2], [jnp.zeros_like(w1), jnp.zeros_like(w2)]))[0]


def learned_rate(w, x, y, rate, steps):
    """The gradient of the last loss by the rate: through the steps of an optimizer."""

    def loss(w):
        return gx.mean((gx.tanh(x @ w) - y) ** 2)

    for _ in range(steps):
        w = w - rate * gx.grad(loss)(w)
    return loss(w)


def learned_rate_by_hand(w, x, y, rate, steps):
    def loss(w):
        return jnp.mean((jnp.tanh(x @ w) - y) ** 2)

    return loss(jax.lax.scan(lambda w, _: (w - rate * jax.grad(loss)(w), None), w, None, length=steps)[0])


def line_search(w, x, y, steps):
    """Halves the step until the loss falls."""

    def loss(w):
        return gx.mean((x @ w - y) ** 2)

    for _ in range(steps):
        gradient = 2.0 * x.T @ (x @ w - y) / x.shape[0]
        rate, before = gx.asarray(10.0), loss(w)
        while loss(w - rate * gradient) > before - 0.5 * rate * gx.sum(gradient**2):
            rate = rate * 0.5
        w = w - rate * gradient
    return w


def line_search_by_hand(w, x, y, steps):
    def loss(w):
        return jnp.mean((x @ w - y) ** 2)

    def step(w, _):
        gradient = 2.0 * x.T @ (x @ w - y) / x.shape[0]
        before, square = loss(w), jnp.sum(gradient**2)
        rate = jax.lax.while_loop(
            lambda rate: loss(w - rate * gradient) > before - 0.5 * rate * square, lambda rate: rate * 0.5, 10.0
        )
        return w - rate * gradient, None

    return jax.lax.scan(step, w, None, length=steps)[0]


def conjugate_gradients(a, b):
    x, r = gx.zeros_like(b), b
    p, square = r, gx.sum(r * r)
    steps = 0
    while square > 1e-6 and steps < 100:
        ap = a @ p
        alpha = square / gx.sum(p * ap)
        x, r = x + alpha * p, r - alpha * ap
        new = gx.sum(r * r)
        p = r + new / square * p
        square = new
        steps += 1
    return x


def conjugate_gradients_by_hand(a, b):
    def step(carry):
        x, r, p, square, steps = carry
        ap = a @ p
        alpha = square / jnp.sum(p * ap)
        x, r = x + alpha * p, r - alpha * ap
        new = jnp.sum(r * r)
        return x, r, r + new / square * p, new, steps + 1

    start = jnp.zeros_like(b), b, b, jnp.sum(b * b), 0
    return jax.lax.while_loop(lambda carry: (carry[3] > 1e-6) & (carry[4] < 100), step, start)[0]


def power_iteration(a, steps):
    v = gx.ones(a.shape[0])
    value = 0.0
    for _ in range(steps):
        v = a @ v
        value = gx.sqrt(gx.sum(v * v))
        v = v / value
    return v, value


def power_iteration_by_hand(a, steps):
    def step(_, carry):
        v = a @ carry[0]
        value = jnp.sqrt(jnp.sum(v * v))
        return v / value, value

    return jax.lax.fori_loop(0, steps, step, (jnp.ones(a.shape[0]), 0.0))


def k_means(points, centres, steps):
    for _ in range(steps):
        distances = gx.sum((points[:, None] - centres[None]) ** 2, axis=-1)
        nearest = gx.nn.one_hot(gx.argmin(distances, axis=1), centres.shape[0])
        centres = (nearest.T @ points) / gx.maximum(gx.sum(nearest, axis=0), 1.0)[:, None]
    return centres


def k_means_by_hand(points, centres, steps):
    def step(_, centres):
        distances = jnp.sum((points[:, None] - centres[None]) ** 2, axis=-1)
        nearest = jax.nn.one_hot(jnp.argmin(distances, axis=1), centres.shape[0])
        return (nearest.T @ points) / jnp.maximum(jnp.sum(nearest, axis=0), 1.0)[:, None]

    return jax.lax.fori_loop(0, steps, step, centres)


def perceptron(x, labels):
    """Corrects its weights at each mistake, and counts the mistakes."""
    w, mistakes = gx.zeros(x.shape[1]), 0
    for i in range(x.shape[0]):
        if labels[i] * gx.sum(w * x[i]) <= 0:
            w = w + labels[i] * x[i]
            mistakes += 1
    return w, mistakes


def perceptron_by_hand(x, labels):
    def step(carry, given):
        w, mistakes = carry
        row, label = given
        wrong = label * jnp.sum(w * row) <= 0
        return (jnp.where(wrong, w + label * row, w), mistakes + wrong), None

    return jax.lax.scan(step, (jnp.zeros(x.shape[1]), jnp.int32(0)), (x, labels))[0]


def early_stopping(w, x, y, patience, most):
    """Stops when the loss has not fallen for a while."""
    best, waited, steps = gx.asarray(1e9), 0, 0
    for _ in range(most):
        error = x @ w - y
        loss = gx.mean(error**2)
        if loss < best - 1e-3:
            best, waited = loss, 0
        else:
            waited += 1
            if waited >= patience:
                break
        w = w - 0.05 * x.T @ error / x.shape[0]
        steps += 1
    return w, steps


def early_stopping_by_hand(w, x, y, patience, most):
    def step(carry):
        w, best, waited, steps, _ = carry
        error = x @ w - y
        loss = jnp.mean(error**2)
        better = loss < best - 1e-3
        best, waited = jnp.where(better, loss, best), jnp.where(better, 0, waited + 1)
        done = waited >= patience
        w = jnp.where(done, w, w - 0.05 * x.T @ error / x.shape[0])
        return w, best, waited, steps + ~done, done

    start = w, jnp.array(1e9), jnp.int32(0), jnp.int32(0), jnp.array(False)
    w, _, _, steps, _ = jax.lax.while_loop(lambda carry: ~carry[4] & (carry[3] < most), step, start)
    return w, steps


def _regression(draw, n, steps=100):
    return draw.normal(n, 8), draw.normal(4 * n, n, scale=0.2), draw.normal(4 * n, 8), steps


def _signs(draw, n):
    return (2 * draw.integers(2, n) - 1).astype(np.float32)


def _gram(draw, n):
    a = draw.normal(n, n)
    return a @ a.T / n + np.eye(n, dtype=np.float32)


WORKLOADS = (
    Workload(adam_over_range, adam_by_hand, _regression, 64, 4),
    Workload(adam_with_counter, adam_by_hand, _regression, 64, 4),
    Workload(adam_in_an_object, adam_by_hand, _regression, 64, 4),
    Workload(rate_decays, rate_decays_by_hand, _regression, 64, 4),
    Workload(rate_in_steps, rate_in_steps_by_hand, _regression, 64, 4),
    Workload(
        momentum_in_lists,
        momentum_in_lists_by_hand,
        lambda draw, n: (
            draw.normal(64, n),
            draw.normal(64, 4),
            draw.normal(n, n, scale=0.1),
            draw.normal(n, 4, scale=0.1),
            100,
        ),
        64,
        4,
    ),
    Workload(
        learned_rate,
        learned_rate_by_hand,
        lambda draw, n: (draw.normal(n, 8, scale=0.1), draw.normal(64, n), draw.normal(64, 8), draw.uniform(), 40),
        32,
        4,
        gradient=(3,),
    ),
    Workload(line_search, line_search_by_hand, lambda draw, n: _regression(draw, n, 40), 32, 4),
    Workload(
        conjugate_gradients, conjugate_gradients_by_hand, lambda draw, n: (_gram(draw, n), draw.normal(n)), 200, 5
    ),
    Workload(power_iteration, power_iteration_by_hand, lambda draw, n: (_gram(draw, n), 100), 128, 4),
    Workload(k_means, k_means_by_hand, lambda draw, n: (draw.normal(n, 8), draw.normal(5, 8), 30), 1000, 9),
    Workload(perceptron, perceptron_by_hand, lambda draw, n: (draw.normal(n, 16), _signs(draw, n)), 2000, 9),
    Workload(early_stopping, early_stopping_by_hand, lambda draw, n: (*_regression(draw, n, 5), 8 * n), 64, 4),
)
