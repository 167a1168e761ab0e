"""LSTM, GRU and Bidirectional: against NumPy's and JAX's versions of the formulas, with masks and states."""

from __future__ import annotations

import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

X = np.random.default_rng(0).normal(size=(3, 6, 4)).astype("float32")
MASK = np.array([[1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0], [0, 1, 0, 1, 1, 0]], bool)


def sigmoid(x: Any) -> Any:
    return 1.0 / (1.0 + jnp.exp(-x))


def lstm(weights: Any, x: Any, state: Any) -> Any:
    kernel, recurrent, bias = weights
    h, c = state
    i, f, g, o = jnp.split(x @ kernel + h @ recurrent + bias, 4, axis=-1)
    c = sigmoid(f) * c + sigmoid(i) * jnp.tanh(g)
    return sigmoid(o) * jnp.tanh(c), c


def gru(weights: Any, x: Any, state: Any) -> Any:
    kernel, recurrent, bias = weights
    (h,) = state
    xs, hs = jnp.split(x @ kernel + bias[0], 3, axis=-1), jnp.split(h @ recurrent + bias[1], 3, axis=-1)
    z, r = sigmoid(xs[0] + hs[0]), sigmoid(xs[1] + hs[1])
    return (z * h + (1 - z) * jnp.tanh(xs[2] + r * hs[2]),)


CELLS: list[tuple[Any, Any, int]] = [(gx.layers.LSTM, lstm, 2), (gx.layers.GRU, gru, 1)]


def reference(cell: Any, count: int, weights: Any, mask: Any = None, backwards: bool = False, state: Any = None) -> Any:
    """All outputs, step by step in Python."""
    state = (jnp.zeros((len(X), 5)),) * count if state is None else state
    outputs: list[Any] = []
    for step in reversed(range(X.shape[1])) if backwards else range(X.shape[1]):
        new = cell(weights, X[:, step], state)
        if mask is not None:
            new = [jnp.where(mask[:, step, None], after, before) for after, before in zip(new, state, strict=True)]
        state = tuple(new)
        outputs.append(state[0])
    return jnp.stack(outputs, 1), state


def made(kind: Any, **options: Any) -> Any:
    """A layer with weights that differ in all gates."""
    layer = kind(5, **options)
    layer(X)
    for seed, variable in enumerate(layer.trainable_variables):
        variable.assign(np.random.default_rng(seed).normal(size=variable.shape).astype("float32"))
    return layer


def weights_of(layer: Any) -> list[Any]:
    return [layer.kernel.raw, layer.recurrent_kernel.raw, layer.bias.raw]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("masked", [False, True])
@pytest.mark.parametrize("backwards", [False, True])
@pytest.mark.parametrize(("kind", "cell", "count"), CELLS)
def test_outputs_and_states_are_those_of_the_formula(
    kind: Any, cell: Any, count: int, backwards: bool, masked: bool, compiled: bool
) -> None:
    layer = made(kind, return_sequences=True, return_state=True, go_backwards=backwards)
    mask = MASK if masked else None
    outputs, *states = (gx.function(layer) if compiled else layer)(X, mask=mask)
    expected, last = reference(cell, count, weights_of(layer), mask, backwards)
    np.testing.assert_allclose(outputs.numpy(), expected, rtol=2e-5, atol=1e-6)
    np.testing.assert_allclose(states, last, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize(("kind", "cell", "count"), CELLS)
def test_gradients_are_jaxs_and_the_loop_is_rolled(kind: Any, cell: Any, count: int) -> None:
    layer = made(kind)
    start = [gx.asarray(np.full((3, 5), 0.5, "float32"))] * count

    @gx.function
    def gradients(x: Any) -> Any:
        with gx.GradientTape() as tape:
            loss = gx.sum(gx.square(layer(x, mask=MASK, initial_state=start)))
        return tape.gradient(loss, [layer.kernel, layer.recurrent_kernel, layer.bias])

    def loss(weights: Any) -> Any:
        return jnp.sum(reference(cell, count, weights, MASK, state=(jnp.full((3, 5), 0.5),) * count)[1][0] ** 2)

    for given, expected in zip(gradients(X), jax.grad(loss)(weights_of(layer)), strict=True):
        np.testing.assert_allclose(given.numpy(), expected, rtol=1e-4, atol=1e-5)
    forward = gx.function(layer)
    assert len(forward.graph(gx.ones((3, 6, 4))).nodes) == len(forward.graph(gx.ones((3, 600, 4))).nodes)


@pytest.mark.parametrize("sequences", [False, True])
def test_both_directions(sequences: bool) -> None:
    layer = gx.layers.Bidirectional(gx.layers.GRU(5, return_sequences=sequences))
    result = layer(X, mask=MASK)
    forward, backward = layer.forward_layer, layer.backward_layer
    assert not np.array_equal(forward.kernel.numpy(), backward.kernel.numpy())
    ahead, last = reference(gru, 1, weights_of(forward), MASK)
    behind, first = reference(gru, 1, weights_of(backward), MASK, backwards=True)
    expected = [ahead, behind[:, ::-1]] if sequences else [last[0], first[0]]
    np.testing.assert_allclose(result.numpy(), jnp.concatenate(expected, -1), rtol=1e-5, atol=1e-6)
    assert len(layer.trainable_variables) == 6
    layer.merge_mode = "ave"
    np.testing.assert_allclose(layer(X, mask=MASK).numpy(), (expected[0] + expected[1]) / 2, rtol=1e-5, atol=1e-6)


def test_a_model_of_text_learns_and_can_be_pickled() -> None:
    gx.random.seed(0)
    words = np.random.default_rng(0).integers(0, 10, (64, 8))
    labels = (words == 3).any(1).astype("float32")
    model = gx.layers.Sequential([gx.layers.Embedding(10, 8), gx.layers.LSTM(16), gx.layers.Dense(1)])
    optimizer = gx.optim.Adam(0.05)

    @gx.function
    def train() -> Any:
        loss = gx.asarray(0.0)
        for _ in range(60):
            loss = optimizer.minimize(
                lambda: gx.mean(gx.losses.sigmoid_cross_entropy(labels, model(words)[:, 0])), model
            )
        return loss

    assert train().item() < 0.1
    copied = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copied(words).numpy(), model(words).numpy())


def test_it_starts_with_orthogonal_rows_and_an_open_forget_gate() -> None:
    layer = gx.layers.LSTM(5)
    layer(X)
    rows = layer.recurrent_kernel.numpy()
    np.testing.assert_allclose(rows @ rows.T, np.eye(5), atol=1e-5)
    assert layer.bias.tolist() == [0.0] * 5 + [1.0] * 5 + [0.0] * 10
    assert gx.layers.GRU(5, use_bias=False)(X).shape == (3, 5)


def bidirectional(**options: Any) -> Any:
    return gx.layers.Bidirectional(gx.layers.LSTM(2, **options.pop("layer", {})), **options)


@pytest.mark.parametrize(
    ("call", "kind", "match"),
    [
        (lambda: gx.layers.LSTM(0), InvalidArgumentError, "LSTM: units must be an int of at least 1, got 0"),
        (
            lambda: gx.layers.LSTM(2, dropout=0.1),
            InvalidTypeError,
            "LSTM: there is no option 'dropout': put a gx.layer",
        ),
        (lambda: gx.layers.GRU(2, foo=1), InvalidTypeError, "GRU: there is no option 'foo'"),
        (lambda: gx.layers.GRU(2, "swush"), InvalidArgumentError, "GRU: there is no activation 'swush'"),
        (lambda: gx.layers.LSTM(2)(X[0]), InvalidArgumentError, r"'lstm' takes tensors of shape \(batch, time, feat"),
        (lambda: gx.layers.LSTM(2)(X[:, :0]), InvalidArgumentError, r"\(batch, time > 0, 4\), got shape \(3, 0, 4\)"),
        (lambda: gx.layers.GRU(2)(X, mask=MASK[0]), InvalidArgumentError, r"a mask of bool\[3, 6\], got bool\[6\]"),
        (lambda: gx.layers.LSTM(2)(X, initial_state=np.ones((3, 2))), InvalidArgumentError, r"initial_state of 2 x"),
        (lambda: gx.layers.Bidirectional(gx.layers.Dense(2)), InvalidTypeError, "takes a gx.layers.LSTM or GRU"),
        (lambda: bidirectional(layer={"go_backwards": True}), InvalidArgumentError, "must be a new layer, without"),
        (lambda: bidirectional(merge_mode="max"), InvalidArgumentError, "merge_mode must be one of 'concat', 'sum'"),
    ],
)
def test_bad_arguments_are_told(call: Any, kind: type[Exception], match: str) -> None:
    with pytest.raises(kind, match=match):
        call()
