"""MultiHeadAttention: against the formula, with masks."""

from __future__ import annotations

import pickle
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

RNG = np.random.default_rng(0)
QUERY = RNG.normal(size=(2, 5, 6)).astype("float32")
VALUE = RNG.normal(size=(2, 7, 3)).astype("float32")
VALID = np.array([[1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 0, 0, 0, 0]], bool)


def formula(weights: Any, query: Any, value: Any, mask: Any) -> Any:
    def heads(x: Any, weight: Any) -> Any:
        return (x @ weight[0] + weight[1]).reshape(*x.shape[:2], 2, 4)

    queries, keys, values = (heads(x, weights[i]) for i, x in enumerate((query, value, value)))
    scores = jnp.einsum("btnh,bsnh->bnts", queries, keys) / 2.0
    shares = jax.nn.softmax(jnp.where(mask, scores, -1e30), axis=-1)
    mixed = jnp.einsum("bnts,bsnh->btnh", shares, values)
    return mixed.reshape(*query.shape[:2], 8) @ weights[3][0] + weights[3][1]


def made() -> tuple[Any, Any]:
    layer = gx.layers.MultiHeadAttention(num_heads=2, key_dim=4)
    layer(QUERY, VALUE)
    parts = [(part.kernel, part.bias) for part in (layer.query, layer.key, layer.value, layer.output)]
    for _, bias in parts:
        bias.assign(RNG.normal(size=bias.shape).astype("float32"))
    return layer, parts


MASKS = {
    "none": ({}, np.ones((1, 1, 5, 7), bool)),
    "causal": ({"use_causal_mask": True}, np.tri(5, 7, dtype=bool)),
    "padding": ({"attention_mask": VALID[:, None, :]}, VALID[:, None, None, :]),
    "steps": ({"attention_mask": np.tri(5, 7, 2, dtype=bool)}, np.tri(5, 7, 2, dtype=bool)),
    "heads": ({"attention_mask": VALID[:, None, None, :]}, VALID[:, None, None, :]),
    "both": (
        {"attention_mask": VALID[:, None, :], "use_causal_mask": True},
        VALID[:, None, None] & np.tri(5, 7, dtype=bool),
    ),
}


@pytest.mark.parametrize("name", MASKS)
@pytest.mark.parametrize("compiled", [False, True])
def test_values_and_gradients_are_those_of_the_formula(name: str, compiled: bool) -> None:
    layer, parts = made()
    options, mask = MASKS[name]

    def run(query: Any, value: Any) -> Any:
        with gx.GradientTape() as tape:
            result = layer(query, value, **options)
            loss = gx.sum(gx.square(result))
        return result, tape.gradient(loss, [variable for part in parts for variable in part])

    def loss(weights: Any) -> Any:
        return jnp.sum(formula(weights, QUERY, VALUE, mask) ** 2)

    result, gradients = (gx.function(run) if compiled else run)(QUERY, VALUE)
    weights = [tuple(variable.raw for variable in part) for part in parts]
    np.testing.assert_allclose(result.numpy(), formula(weights, QUERY, VALUE, mask), rtol=1e-4, atol=1e-5)
    for given, expected in zip(gradients, jax.tree.leaves(jax.grad(loss)(weights)), strict=True):
        np.testing.assert_allclose(given.numpy(), expected, rtol=1e-3, atol=1e-4)


def test_keys_may_differ_from_values_and_a_layer_can_be_pickled() -> None:
    layer, _ = made()
    keys = VALUE[:, ::-1]
    assert not np.allclose(layer(QUERY, VALUE, keys).numpy(), layer(QUERY, VALUE).numpy())
    copied = pickle.loads(pickle.dumps(layer))
    np.testing.assert_array_equal(copied(QUERY, VALUE).numpy(), layer(QUERY, VALUE).numpy())
    assert sorted(layer.named_variables())[:2] == ["key/bias", "key/kernel"]


ATTENTION = gx.layers.MultiHeadAttention(2, 4)


@pytest.mark.parametrize(
    ("call", "kind", "match"),
    [
        (lambda: gx.layers.MultiHeadAttention(2, 4, dropout=0.1), InvalidTypeError, "'dropout': put a gx.layers.Drop"),
        (lambda: gx.layers.MultiHeadAttention(2, 0), InvalidArgumentError, "key_dim must be an int of at least 1"),
        (lambda: ATTENTION(QUERY[0], VALUE), InvalidArgumentError, r"\(batch, time, features\), got shape"),
        (lambda: ATTENTION(QUERY, VALUE[0]), InvalidArgumentError, r"got shapes .*\(7, 3\), \(7, 3\)"),
        (
            lambda: ATTENTION(QUERY, VALUE, attention_mask=VALID),
            InvalidArgumentError,
            r"broadcasts to bool\[2, 5, 7\], or with a second axis for 2 heads, got bool\[2,7\]",
        ),
        (
            lambda: ATTENTION(QUERY, VALUE, attention_mask=np.ones((5, 7), "float32")),
            InvalidArgumentError,
            r"broadcasts to bool\[2, 5, 7\].* got f32\[5,7\]",
        ),
    ],
)
def test_bad_arguments_are_told(call: Any, kind: type[Exception], match: str) -> None:
    with pytest.raises(kind, match=match):
        call()
