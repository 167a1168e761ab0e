"""Lists that grow in a loop, arrays that are filled, and gradients through both."""

from __future__ import annotations

import jax
import jax.numpy as jnp

import graphc as gx
from benchmarks.workloads.workload import Workload


def list_append(h, w, steps):
    states = []
    for _ in range(steps):
        h = gx.tanh(h @ w)
        states.append(h)
    return gx.stack(states)


def list_append_axis_1(h, w, steps):
    states = []
    for _ in range(steps):
        h = gx.tanh(h @ w)
        states.append(h)
    return gx.stack(states, axis=1)


def list_append_gradient(h, w, steps):
    states = []
    for _ in range(steps):
        h = gx.tanh(h @ w)
        states.append(h)
    return gx.sum(gx.stack(states) ** 2)


def list_last_and_mean_gradient(h, w, steps):
    """A list of which the last item is read again."""
    states = [h]
    for _ in range(steps):
        states.append(gx.tanh(states[-1] @ w))
    return gx.sum(states[-1]) + gx.sum(gx.mean(gx.stack(states), axis=0) ** 2)


def filled_array(h, w, steps):
    out = gx.zeros((steps, *h.shape))
    for t in range(steps):
        h = gx.tanh(h @ w)
        out[t] = h
    return out


def filled_array_gradient(h, w, steps):
    out = gx.zeros((steps, *h.shape))
    for t in range(steps):
        h = gx.tanh(h @ w)
        out[t] = h
    return gx.sum(out**2)


def filled_columns_gradient(h, w, steps):
    out = gx.zeros((h.shape[0], steps, h.shape[1]))
    for t in range(steps):
        h = gx.tanh(h @ w)
        out[:, t] = h
    return gx.sum(out**2)


def states_by_hand(h, w, steps):
    def step(h, _):
        h = jnp.tanh(h @ w)
        return h, h

    return jax.lax.scan(step, h, None, length=steps)[1]


def states_axis_1_by_hand(h, w, steps):
    return jnp.swapaxes(states_by_hand(h, w, steps), 0, 1)


def states_gradient_by_hand(h, w, steps):
    return jnp.sum(states_by_hand(h, w, steps) ** 2)


def last_and_mean_gradient_by_hand(h, w, steps):
    states = states_by_hand(h, w, steps)
    return jnp.sum(states[-1]) + jnp.sum(((h + jnp.sum(states, axis=0)) / (steps + 1)) ** 2)


def list_of_losses(x, y, w, rate):
    losses = []
    for i in range(x.shape[0] // 64):
        batch, target = x[i * 64 : (i + 1) * 64], y[i * 64 : (i + 1) * 64]
        with gx.GradientTape() as tape:
            tape.watch(w)
            loss = gx.mean((gx.tanh(batch @ w) - target) ** 2)
        w = w - rate * tape.gradient(loss, w)
        losses.append(loss)
    return w, gx.stack(losses)


def list_of_losses_by_hand(x, y, w, rate):
    def step(w, given):
        batch, target = given
        loss, gradient = jax.value_and_grad(lambda w: jnp.mean((jnp.tanh(batch @ w) - target) ** 2))(w)
        return w - rate * gradient, loss

    return jax.lax.scan(step, w, (x.reshape(-1, 64, x.shape[1]), y.reshape(-1, 64, y.shape[1])))


def decoder_list_of_tokens(h, w, embedding, noise):
    tokens, logs = [], gx.zeros(h.shape[0])
    token = gx.zeros(h.shape[0], dtype="int32")
    for t in range(noise.shape[0]):
        h = gx.tanh(h @ w + embedding[token])
        logits = h @ embedding.T
        token = gx.argmax(logits + noise[t], axis=-1)
        logs = logs + gx.take_along_axis(gx.nn.log_softmax(logits), token[:, None], axis=1)[:, 0]
        tokens.append(token)
    return gx.stack(tokens, axis=1), logs


def decoder_list_of_tokens_by_hand(h, w, embedding, noise):
    def step(carry, drawn):
        h, token, logs = carry
        h = jnp.tanh(h @ w + embedding[token])
        logits = h @ embedding.T
        token = jnp.argmax(logits + drawn, axis=-1)
        logs = logs + jnp.take_along_axis(jax.nn.log_softmax(logits), token[:, None], axis=1)[:, 0]
        return (h, token, logs), token

    start = h, jnp.zeros(h.shape[0], jnp.int32), jnp.zeros(h.shape[0])
    (_, _, logs), tokens = jax.lax.scan(step, start, noise)
    return tokens.T, logs


def decoder_until_end(h, w, embedding, longest):
    """Decodes greedily until the token 0 comes."""
    tokens = gx.zeros(longest, dtype="int32")
    token, t = gx.asarray(embedding.shape[0] - 1), 0
    while t < longest and token >= 1:
        h = gx.tanh(h @ w + embedding[token])
        token = gx.argmax(embedding @ h)
        tokens[t] = token
        t += 1
    return tokens, t


def decoder_until_end_by_hand(h, w, embedding, longest):
    def unfinished(carry):
        _, token, t, _ = carry
        return (t < longest) & (token >= 1)

    def step(carry):
        h, token, t, tokens = carry
        h = jnp.tanh(h @ w + embedding[token])
        token = jnp.argmax(embedding @ h).astype(jnp.int32)
        return h, token, t + 1, tokens.at[t].set(token)

    start = h, jnp.int32(embedding.shape[0] - 1), jnp.int32(0), jnp.zeros(longest, jnp.int32)
    _, _, t, tokens = jax.lax.while_loop(unfinished, step, start)
    return tokens, t


def two_lists(x):
    """A running minimum and maximum, kept in two lists and zipped."""
    lows, highs = [], []
    low, high = x[0], x[0]
    for value in x:
        low, high = gx.minimum(low, value), gx.maximum(high, value)
        lows.append(low)
        highs.append(high)
    total = gx.zeros(())
    for one, other in zip(lows, highs, strict=True):
        total = total + gx.sqrt(other - one + 1.0)
    return total


def two_lists_by_hand(x):
    def step(carry, value):
        low, high = jnp.minimum(carry[0], value), jnp.maximum(carry[1], value)
        return (low, high), (low, high)

    _, (lows, highs) = jax.lax.scan(step, (x[0], x[0]), x)
    return jax.lax.scan(lambda total, two: (total + jnp.sqrt(two[1] - two[0] + 1.0), None), 0.0, (lows, highs))[0]


def comprehension_of_rows(x, w):
    return gx.stack([gx.tanh(row @ w) / (1.0 + gx.sum(row * row)) for row in x])


def comprehension_of_rows_by_hand(x, w):
    return jax.lax.map(lambda row: jnp.tanh(row @ w) / (1.0 + jnp.sum(row * row)), x)


def filter_in_loop(x):
    """Keeps the positive values, in order."""
    out, count = gx.zeros_like(x), 0
    for value in x:
        if value > 0:
            out[count] = value
            count += 1
    return out, count


def filter_in_loop_by_hand(x):
    def step(carry, value):
        out, count = carry
        keep = value > 0
        out = out.at[count].set(jnp.where(keep, value, out[count]))
        return (out, count + keep), None

    return jax.lax.scan(step, (jnp.zeros_like(x), jnp.int32(0)), x)[0]


def _states(draw, n):
    return draw.normal(16, 64), draw.normal(64, 64, scale=0.125), n


def _decoder(draw, n):
    return draw.normal(8, 64), draw.normal(64, 64, scale=0.1), draw.normal(100, 64), draw.normal(n, 8, 100)


WORKLOADS = (
    Workload(list_append, states_by_hand, _states, 400, 5),
    Workload(list_append_axis_1, states_axis_1_by_hand, _states, 400, 5),
    Workload(list_append_gradient, states_gradient_by_hand, _states, 400, 5, gradient=(0, 1)),
    Workload(list_last_and_mean_gradient, last_and_mean_gradient_by_hand, _states, 200, 5, gradient=(0, 1)),
    Workload(filled_array, states_by_hand, _states, 400, 5),
    Workload(filled_array_gradient, states_gradient_by_hand, _states, 400, 5, gradient=(0, 1)),
    Workload(filled_columns_gradient, states_gradient_by_hand, _states, 400, 5, gradient=(0, 1)),
    Workload(
        list_of_losses,
        list_of_losses_by_hand,
        lambda draw, n: (draw.normal(64 * n, 32), draw.normal(64 * n, 16), draw.normal(32, 16), 0.01),
        50,
        3,
    ),
    Workload(decoder_list_of_tokens, decoder_list_of_tokens_by_hand, _decoder, 40, 4),
    Workload(
        decoder_until_end,
        decoder_until_end_by_hand,
        lambda draw, n: (draw.normal(64), draw.normal(64, 64, scale=0.2), draw.normal(1000, 64), n),
        100,
        5,
    ),
    Workload(two_lists, two_lists_by_hand, lambda draw, n: (draw.normal(n),), 2000, 6),
    Workload(
        comprehension_of_rows,
        comprehension_of_rows_by_hand,
        lambda draw, n: (draw.normal(n, 32), draw.normal(32, 32)),
        300,
        4,
    ),
    Workload(filter_in_loop, filter_in_loop_by_hand, lambda draw, n: (draw.normal(n),), 5000, 9),
)
