"""Networks over sequences, and training steps."""

from __future__ import annotations

import jax
import jax.numpy as jnp

import graphc as gx
from benchmarks.workloads.workload import Workload


def rnn_forward(x, h, w, u):
    for t in range(x.shape[0]):
        h = gx.tanh(x[t] @ w + h @ u)
    return h


def rnn_forward_by_hand(x, h, w, u):
    return jax.lax.scan(lambda h, given: (jnp.tanh(given @ w + h @ u), None), h, x)[0]


def rnn_train(x, h, w, u, target):
    states = []
    for t in range(x.shape[0]):
        h = gx.tanh(x[t] @ w + h @ u)
        states.append(h)
    return gx.mean((gx.stack(states) - target) ** 2)


def rnn_train_by_hand(x, h, w, u, target):
    def step(h, given):
        h = jnp.tanh(given @ w + h @ u)
        return h, h

    return jnp.mean((jax.lax.scan(step, h, x)[1] - target) ** 2)


def rnn_train_sum_of_losses(x, h, w, u, target):
    loss = 0.0
    for given, wanted in zip(x, target, strict=True):
        h = gx.tanh(given @ w + h @ u)
        loss = loss + gx.mean((h - wanted) ** 2)
    return loss


def rnn_train_sum_of_losses_by_hand(x, h, w, u, target):
    def step(carry, given):
        h, loss = carry
        h = jnp.tanh(given[0] @ w + h @ u)
        return (h, loss + jnp.mean((h - given[1]) ** 2)), None

    return jax.lax.scan(step, (h, 0.0), (x, target))[0][1]


def lstm_train(x, h, w, u, target):
    c, outputs = gx.zeros_like(h), []
    for given in x:
        i, f, g, o = gx.split(given @ w + h @ u, 4, axis=-1)
        c = gx.nn.sigmoid(f) * c + gx.nn.sigmoid(i) * gx.tanh(g)
        h = gx.nn.sigmoid(o) * gx.tanh(c)
        outputs.append(h)
    return gx.mean((gx.stack(outputs) - target) ** 2)


def lstm_train_by_hand(x, h, w, u, target):
    def step(carry, given):
        h, c = carry
        i, f, g, o = jnp.split(given @ w + h @ u, 4, axis=-1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return jnp.mean((jax.lax.scan(step, (h, jnp.zeros_like(h)), x)[1] - target) ** 2)


def gru_with_mask(x, lengths, h, w, u):
    """Keeps the state of a sequence behind its end."""
    for t in range(x.shape[0]):
        r, z, n = gx.split(x[t] @ w, 3, axis=-1)
        hr, hz, hn = gx.split(h @ u, 3, axis=-1)
        z = gx.nn.sigmoid(z + hz)
        new = (1.0 - z) * gx.tanh(n + gx.nn.sigmoid(r + hr) * hn) + z * h
        h = gx.where((t < lengths)[:, None], new, h)
    return gx.sum(h * h)


def gru_with_mask_by_hand(x, lengths, h, w, u):
    def step(h, given):
        t, given = given
        r, z, n = jnp.split(given @ w, 3, axis=-1)
        hr, hz, hn = jnp.split(h @ u, 3, axis=-1)
        z = jax.nn.sigmoid(z + hz)
        new = (1.0 - z) * jnp.tanh(n + jax.nn.sigmoid(r + hr) * hn) + z * h
        return jnp.where((t < lengths)[:, None], new, h), None

    h = jax.lax.scan(step, h, (jnp.arange(x.shape[0]), x))[0]
    return jnp.sum(h * h)


class Cell:
    """A recurrent cell with its weights as attributes."""

    def __init__(self, w, u):
        self.w, self.u = w, u

    def __call__(self, x, h):
        return gx.tanh(x @ self.w + h @ self.u)


def cells_in_layers(x, h, w, u):
    cells = [Cell(w[layer], u[layer]) for layer in range(w.shape[0])]
    states = [h for _ in cells]
    for t in range(x.shape[0]):
        y = x[t]
        for layer, cell in enumerate(cells):
            states[layer] = cell(y, states[layer])
            y = states[layer]
    return gx.sum(states[-1] ** 2)


def cells_in_layers_by_hand(x, h, w, u):
    def step(states, y):
        new = []
        for layer, state in enumerate(states):
            y = jnp.tanh(y @ w[layer] + state @ u[layer])
            new.append(y)
        return tuple(new), None

    return jnp.sum(jax.lax.scan(step, (h,) * w.shape[0], x)[0][-1] ** 2)


def layers_train(x, weights):
    for i in range(weights.shape[0]):
        x = gx.nn.relu(x @ weights[i]) + x
    return gx.mean(x**2)


def layers_train_by_hand(x, weights):
    return jnp.mean(jax.lax.scan(lambda x, w: (jax.nn.relu(x @ w) + x, None), x, weights)[0] ** 2)


def layers_listed_train(x, *weights):
    """Layers as a model keeps them: no loop in the program on either side."""
    for w in weights:
        x = gx.nn.relu(x @ w) + x
    return gx.mean(x**2)


def layers_listed_train_by_hand(x, *weights):
    for w in weights:
        x = jax.nn.relu(x @ w) + x
    return jnp.mean(x**2)


def transformer_step(x, target, qkv, out, up, down):
    for i in range(qkv.shape[0]):
        q, k, v = gx.split(_normalized(x) @ qkv[i], 3, axis=-1)
        scores = gx.nn.softmax(q @ gx.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5)
        x = x + scores @ v @ out[i]
        x = x + gx.nn.gelu(_normalized(x) @ up[i]) @ down[i]
    return gx.mean((x - target) ** 2)


def _normalized(x):
    return (x - gx.mean(x, axis=-1, keepdims=True)) / gx.sqrt(gx.var(x, axis=-1, keepdims=True) + 1e-5)


def transformer_step_by_hand(x, target, qkv, out, up, down):
    def normalized(x):
        return (x - jnp.mean(x, axis=-1, keepdims=True)) / jnp.sqrt(jnp.var(x, axis=-1, keepdims=True) + 1e-5)

    def layer(x, weights):
        qkv, out, up, down = weights
        q, k, v = jnp.split(normalized(x) @ qkv, 3, axis=-1)
        x = x + jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5) @ v @ out
        return x + jax.nn.gelu(normalized(x) @ up) @ down, None

    return jnp.mean((jax.lax.scan(layer, x, (qkv, out, up, down))[0] - target) ** 2)


def attention_by_position(q, k, v):
    """Causal attention, one position after the other."""
    n = q.shape[0]
    out = gx.zeros_like(v)
    for i in range(n):
        scores = gx.where(gx.arange(n) <= i, k @ q[i], -1e9)
        out[i] = gx.nn.softmax(scores) @ v
    return gx.sum(out**2)


def attention_by_position_by_hand(q, k, v):
    places = jnp.arange(q.shape[0])

    def position(given):
        i, query = given
        return jax.nn.softmax(jnp.where(places <= i, k @ query, -1e9)) @ v

    return jnp.sum(jax.lax.map(position, (places, q)) ** 2)


def hessian_product(x, w, direction):
    """A Hessian-vector product of a small network, reverse over reverse."""

    def loss(w):
        h = x
        for _ in range(20):
            h = gx.tanh(h @ w) + 0.1 * h
        return gx.mean(h**2)

    return gx.grad(lambda w: gx.sum(gx.grad(loss)(w) * direction))(w)


def hessian_product_by_hand(x, w, direction):
    def loss(w):
        h = jax.lax.scan(lambda h, _: (jnp.tanh(h @ w) + 0.1 * h, None), x, None, length=20)[0]
        return jnp.mean(h**2)

    return jax.grad(lambda w: jnp.sum(jax.grad(loss)(w) * direction))(w)


def mlp_assert_finite(w1, w2):
    """A training step that refuses a loss that is not finite."""
    first, second = gx.Variable(w1), gx.Variable(w2)

    def step(x, target):
        with gx.GradientTape() as tape:
            loss = gx.mean((gx.nn.relu(x @ first) @ second - target) ** 2)
        assert gx.isfinite(loss)
        one, two = tape.gradient(loss, [first, second])
        first.assign_sub(0.01 * one)
        second.assign_sub(0.01 * two)
        return loss

    return step


def mlp_assert_finite_by_hand(w1, w2, x, target):
    def loss_of(weights):
        return jnp.mean((jax.nn.relu(x @ weights[0]) @ weights[1] - target) ** 2)

    loss, gradients = jax.value_and_grad(loss_of)((w1, w2))
    fine = jnp.isfinite(loss)
    return tuple(jnp.where(fine, w - 0.01 * g, w) for w, g in zip((w1, w2), gradients, strict=True)), loss


def mlp_train(w1, w2):
    first, second = gx.Variable(w1), gx.Variable(w2)

    def step(x, target):
        with gx.GradientTape() as tape:
            loss = gx.mean((gx.nn.relu(x @ first) @ second - target) ** 2)
        for variable, gradient in zip([first, second], tape.gradient(loss, [first, second]), strict=True):
            variable.assign_sub(0.01 * gradient)
        return loss

    return step


def mlp_train_by_hand(w1, w2, x, target):
    def loss_of(weights):
        return jnp.mean((jax.nn.relu(x @ weights[0]) @ weights[1] - target) ** 2)

    loss, gradients = jax.value_and_grad(loss_of)((w1, w2))
    return tuple(w - 0.01 * g for w, g in zip((w1, w2), gradients, strict=True)), loss


def _sequence(draw, n, gates=1):
    return (
        draw.normal(n, 16, 32),
        draw.normal(16, 64),
        draw.normal(32, 64 * gates, scale=0.1),
        draw.normal(64, 64 * gates, scale=0.1),
        draw.normal(n, 16, 64),
    )


def _masked(draw, n):
    x, h, w, u, _ = _sequence(draw, n, 3)
    return x, draw.integers(n, 16), h, w, u


def _layered(draw, n):
    return (
        draw.normal(n, 16, 64),
        draw.normal(16, 64),
        draw.normal(3, 64, 64, scale=0.1),
        draw.normal(3, 64, 64, scale=0.1),
    )


def _transformer(draw, n):
    return (
        draw.normal(4, 32, 64),
        draw.normal(4, 32, 64),
        draw.normal(n, 64, 192, scale=0.1),
        draw.normal(n, 64, 64, scale=0.1),
        draw.normal(n, 64, 256, scale=0.1),
        draw.normal(n, 256, 64, scale=0.1),
    )


def _mlp(draw, n):
    return draw.normal(n, n, scale=0.05), draw.normal(n, 8, scale=0.05), draw.normal(64, n), draw.normal(64, 8)


WORKLOADS = (
    Workload(rnn_forward, rnn_forward_by_hand, lambda draw, n: _sequence(draw, n)[:4], 200, 4),
    Workload(rnn_train, rnn_train_by_hand, _sequence, 100, 4, gradient=(2, 3)),
    Workload(rnn_train_sum_of_losses, rnn_train_sum_of_losses_by_hand, _sequence, 100, 4, gradient=(2, 3)),
    Workload(lstm_train, lstm_train_by_hand, lambda draw, n: _sequence(draw, n, 4), 60, 4, gradient=(2, 3)),
    Workload(gru_with_mask, gru_with_mask_by_hand, _masked, 60, 4, gradient=(3, 4)),
    Workload(cells_in_layers, cells_in_layers_by_hand, _layered, 60, 4, gradient=(2, 3)),
    Workload(
        layers_train,
        layers_train_by_hand,
        lambda draw, n: (draw.normal(32, 64), draw.normal(n, 64, 64, scale=0.02)),
        200,
        3,
        gradient=(1,),
    ),
    Workload(
        layers_listed_train,
        layers_listed_train_by_hand,
        lambda draw, n: (draw.normal(32, 64), *(draw.normal(64, 64, scale=0.02) for _ in range(n))),
        100,
        3,
        gradient=(1, 2),
    ),
    Workload(transformer_step, transformer_step_by_hand, _transformer, 6, 2, gradient=(2, 3, 4, 5)),
    Workload(
        attention_by_position,
        attention_by_position_by_hand,
        lambda draw, n: tuple(draw.normal(n, 32, scale=0.3) for _ in range(3)),
        128,
        5,
        gradient=(0, 1, 2),
    ),
    Workload(
        hessian_product,
        hessian_product_by_hand,
        lambda draw, n: (draw.normal(16, n), draw.normal(n, n, scale=0.1), draw.normal(n, n)),
        32,
        4,
    ),
    Workload(mlp_assert_finite, mlp_assert_finite_by_hand, _mlp, 512, 8, state=2),
    Workload(mlp_train, mlp_train_by_hand, _mlp, 512, 8, state=2),
)
