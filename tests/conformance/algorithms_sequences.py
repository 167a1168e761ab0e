"""Sequence models and layers over time, as people write them first."""

# ruff: noqa: PERF401  the programs are as people write them at first

from __future__ import annotations

from functools import partial
from typing import Any

import graphc as gx
from graphc import Tensor
from tests.conformance import harness
from tests.conformance.harness import f as floats
from tests.conformance.harness import i as ints

program = partial(harness.program, construct="whole algorithms")

XS = [[0.1, 0.2], [0.3, -0.4], [-0.5, 0.6]]
W = [[0.5, -0.3], [0.2, 0.8]]
U = [[0.1, 0.4], [-0.6, 0.3]]
TABLE = [[0.1, 2.0, 0.3, 0.0], [0.0, 0.1, 3.0, 0.2], [0.2, 0.1, 0.0, 1.5], [1.0, 0.0, 0.0, 0.0]]
ENDLESS = [[0.1, 2.0, 0.3, 0.0], [3.0, 0.1, 0.2, 0.2], [0.2, 0.1, 0.0, 1.5], [1.0, 0.0, 0.0, 0.0]]


@program("sequences/rnn", inputs=[(floats(XS), floats(W), floats(U))], gradient=True)
def rnn(xs: Tensor, w: Tensor, u: Tensor) -> Any:
    h = gx.zeros(2)
    outputs = []
    for x in xs:
        h = gx.tanh(x @ w + h @ u)
        outputs.append(h)
    return gx.stack(outputs), h


@program(
    "sequences/rnn_with_lengths",
    inputs=[(floats(XS), floats(W), ints(2)), (floats(XS), floats(W), ints(3)), (floats(XS), floats(W), ints(0))],
)
def rnn_with_lengths(xs: Tensor, w: Tensor, length: Tensor) -> Any:
    """Steps past the length are left out."""
    h = gx.zeros(2)
    outputs = []
    for t in range(xs.shape[0]):
        if t >= length:
            outputs.append(gx.zeros(2))
            continue
        h = gx.tanh(xs[t] @ w + h)
        outputs.append(h)
    return gx.stack(outputs), h


@program("sequences/gru", inputs=[(floats(XS), floats(W), floats(U))], gradient=True)
def gru(xs: Tensor, w: Tensor, u: Tensor) -> Tensor:
    def cell(x: Tensor, h: Tensor) -> Tensor:
        z = gx.nn.sigmoid(x @ w + h @ u)
        r = gx.nn.sigmoid(x @ u + h @ w)
        candidate = gx.tanh(x @ w + (r * h) @ u)
        return (1 - z) * h + z * candidate

    h = gx.zeros(xs.shape[-1])
    states = []
    for t in range(len(xs)):
        h = cell(xs[t], h)
        states.append(h)
    return gx.stack(states, axis=0)


class LSTMCell:
    """Weights in attributes; a call gives the new state."""

    def __init__(self, w: Tensor, u: Tensor) -> None:
        self.w, self.u = w, u

    def __call__(self, x: Tensor, state: tuple[Tensor, Tensor]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        h, c = state
        gates = x @ self.w + h @ self.u
        i, f = gx.nn.sigmoid(gates), gx.nn.sigmoid(-gates)
        c = f * c + i * gx.tanh(gates)
        h = gx.tanh(c) * i
        return h, (h, c)


@program("sequences/lstm", inputs=[(floats(XS), floats(W), floats(U))], gradient=True)
def lstm(xs: Tensor, w: Tensor, u: Tensor) -> Any:
    cell = LSTMCell(w, u)
    state = (gx.zeros(2), gx.zeros(2))
    for x in xs:
        output, state = cell(x, state)
    return output, state


@program("sequences/bidirectional_rnn", inputs=[(floats(XS), floats(W), floats(U))], gradient=True)
def bidirectional_rnn(xs: Tensor, w: Tensor, u: Tensor) -> Tensor:
    def run(rows: Any, kernel: Tensor) -> list[Tensor]:
        h, out = gx.zeros(2), []
        for x in rows:
            h = gx.tanh(x @ kernel + h)
            out.append(h)
        return out

    forward = run(xs, w)
    backward = run(reversed(xs), u)[::-1]
    return gx.stack([gx.concat([f, b]) for f, b in zip(forward, backward, strict=True)])


@program("sequences/stacked_rnn", inputs=[(floats(XS), floats(W), floats(U))], gradient=True)
def stacked_rnn(xs: Tensor, w: Tensor, u: Tensor) -> Any:
    """The states of the layers are a list that the loop over time changes."""
    layers = [w, u, w + u]
    states = [gx.zeros(2) for _ in layers]
    for t in range(xs.shape[0]):
        signal = xs[t]
        for k, kernel in enumerate(layers):
            states[k] = gx.tanh(signal @ kernel + states[k])
            signal = states[k]
    return gx.stack(states)


@program(
    "sequences/greedy_decoding",
    inputs=[(floats(TABLE), ints(0)), (floats(ENDLESS), ints(0)), (floats(TABLE), ints(3))],
    python_numbers=True,
)
def greedy_decoding(logits: Tensor, start: Tensor) -> Any:
    """Class 3 ends the sentence."""
    tokens = gx.full((6,), 3)
    token = start
    for t in range(6):
        token = gx.argmax(logits[token])
        tokens[t] = token
        if token == 3:
            break
    return tokens, t


@program(
    "sequences/greedy_decoding_list", inputs=[(floats(TABLE), ints(0)), (floats(ENDLESS), ints(0))], python_numbers=True
)
def greedy_decoding_list(logits: Tensor, start: Tensor) -> Any:
    tokens = [start]
    for _ in range(5):
        following = gx.argmax(logits[tokens[-1]])
        if following == 3:
            break
        tokens.append(following)
    return len(tokens), tokens[-1]


@program("sequences/sampling", inputs=[(floats(TABLE), ints(0), 1), (floats(TABLE), ints(1), 7)], python_numbers=True)
def sampling(logits: Tensor, token: Tensor, seed: int) -> Any:
    gx.random.seed(seed)
    count = 0
    while token != 3 and count < 8:
        token = gx.random.categorical(logits[token])
        count += 1
    return token, count


@program("sequences/beam_search", inputs=[(floats(TABLE), 2), (floats(ENDLESS), 3)])
def beam_search(logits: Tensor, width: int) -> Any:
    n = logits.shape[0]
    log_p = gx.nn.log_softmax(logits, axis=-1)
    scores = gx.where(gx.arange(width) == 0, 0.0, -1e9)
    last = gx.zeros(width, dtype="int32")
    alive = gx.ones(width, dtype=bool)
    paths = [last]
    for _ in range(4):
        step = gx.where(alive[:, None], log_p[last], gx.where(gx.arange(n) == 3, 0.0, -1e9))
        scores, flat = gx.top_k(gx.reshape(scores[:, None] + step, (width * n,)), width)
        parent, last = flat // n, flat % n
        paths = [p[parent] for p in paths]
        paths.append(last)
        alive = last != 3
        if not gx.any(alive):
            break
    return scores, paths[-1]


@program("sequences/beam_search_fixed", inputs=[(floats(TABLE), 2), (floats(ENDLESS), 3)])
def beam_search_fixed(logits: Tensor, width: int) -> Any:
    """Without an early end, so that all paths have one length."""
    n = logits.shape[0]
    log_p = gx.nn.log_softmax(logits)
    beams = [(gx.asarray(0.0), [gx.asarray(0)])]
    for _ in range(3):
        scores = gx.concat([score + log_p[path[-1]] for score, path in beams])
        best, flat = gx.top_k(scores, width)
        histories = gx.stack([gx.stack(path) for _, path in beams])
        beams = []
        for k in range(width):
            history = histories[flat[k] // n]
            beams.append((best[k], [*gx.unstack(history), flat[k] % n]))
    return [score for score, _ in beams], gx.stack([gx.stack(path) for _, path in beams])


@program("sequences/attention_loop", inputs=[(floats(XS), floats(W), floats(U))], gradient=True)
def attention_loop(xs: Tensor, w: Tensor, u: Tensor) -> Tensor:
    """Causal attention, a query at a time."""
    keys, values = xs @ w, xs @ u
    out = []
    for t in range(xs.shape[0]):
        scores = keys[: t + 1] @ xs[t] / xs.shape[1] ** 0.5
        weights = gx.nn.softmax(scores)
        out.append(weights @ values[: t + 1])
    return gx.stack(out)


@program("sequences/layer_norm", inputs=[(floats(XS), 1e-3), (floats([[1.0, 1.0], [2.0, 2.0]]), 1e-3)], gradient=True)
def layer_norm(xs: Tensor, epsilon: float) -> Tensor:
    rows = []
    for row in xs:
        mean = sum(row) / len(row)
        variance = sum((v - mean) ** 2 for v in row) / len(row)
        rows.append((row - mean) / gx.sqrt(variance + epsilon))
    return gx.stack(rows)


@program("sequences/softmax_stable", inputs=[(floats(1.0, 2.0, 3.0),), (floats(1000.0, 0.0, -1000.0),)], gradient=True)
def softmax_stable(x: Tensor) -> Tensor:
    largest = max(x)
    exponents = [gx.exp(v - largest) for v in x]
    total = sum(exponents)
    return gx.stack([e / total for e in exponents])


@program("sequences/logsumexp_loop", inputs=[(floats(1.0, 2.0, 3.0),), (floats(90.0, 0.0, -1000.0),)], gradient=True)
def logsumexp_loop(x: Tensor) -> Tensor:
    """In one pass, with a maximum that moves."""
    largest, total = x[0], gx.asarray(1.0)
    for value in x[1:]:
        if value > largest:
            total = total * gx.exp(largest - value) + 1.0
            largest = value
        else:
            total = total + gx.exp(value - largest)
    return largest + gx.log(total)


@program("sequences/convolution_1d", inputs=[(floats(1.0, 2.0, -1.0, 0.5), floats(0.5, -0.5))], gradient=True)
def convolution_1d(x: Tensor, kernel: Tensor) -> Tensor:
    n, k = len(x), len(kernel)
    out = gx.zeros(n - k + 1)
    for i in range(n - k + 1):
        for j in range(k):
            out[i] += x[i + j] * kernel[j]
    return out


@program(
    "sequences/convolution_2d",
    inputs=[(floats([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]]), floats(W), 1)],
    gradient=True,
)
def convolution_2d(image: Tensor, kernel: Tensor, stride: int) -> Tensor:
    size = kernel.shape[0]
    rows = []
    for i in range(0, image.shape[0] - size + 1, stride):
        row = []
        for j in range(0, image.shape[1] - size + 1, stride):
            row.append(gx.sum(image[i : i + size, j : j + size] * kernel))
        rows.append(gx.stack(row))
    return gx.stack(rows)


@program("sequences/max_pool", inputs=[(floats([[1.0, 2.0, 0.0, 1.0], [3.0, 0.0, 5.0, 4.0]]),)], gradient=True)
def max_pool(image: Tensor) -> Tensor:
    rows, columns = image.shape
    out = gx.full((rows // 2, columns // 2), -float("inf"))
    for i in range(rows):
        for j in range(columns):
            if image[i, j] > out[i // 2, j // 2]:
                out[i // 2, j // 2] = image[i, j]
    return out


@program(
    "sequences/moving_average", inputs=[(floats(1.0, 2.0, 3.0, 4.0, 5.0), 3), (floats(1.0, 5.0), 3)], gradient=True
)
def moving_average(x: Tensor, width: int) -> Tensor:
    """A window kept as a list, popped at the left."""
    window, out = [], []
    for value in x:
        window.append(value)
        if len(window) > width:
            window.pop(0)
        out.append(sum(window) / len(window))
    return gx.stack(out)


@program("sequences/exponential_average", inputs=[(floats(1.0, 2.0, 3.0),), (floats(5.0, -1.0, 2.0),)], gradient=True)
def exponential_average(x: Tensor) -> Any:
    """None stands for no average yet."""
    average = None
    history = []
    for value in x:
        average = value if average is None else 0.9 * average + 0.1 * value
        history.append(average)
    return average, gx.stack(history)


@program("sequences/embedding_bag", inputs=[(ints(0, 2, 1, 0),), (ints(3, 3, 3, 3),)], python_numbers=True)
def embedding_bag(tokens: Tensor) -> Any:
    """Token 3 is padding."""
    table = gx.asarray(TABLE)
    total, count = gx.zeros(4), 0
    for token in tokens:
        if token == 3:
            continue
        total = total + table[token]
        count += 1
    if count > 0:
        total = total / count
    return total, count
