"""Losses against figures of Keras 3.15, with weights and smoothed labels; gradients at the extremes; bad input."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import optax
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError

losses = gx.losses


def wave(*shape: int, k: float = 1.0) -> Any:
    return np.sin(np.arange(np.prod(shape)) * k + 0.3).reshape(shape).astype("float32")


BITS = np.array([0, 1, 1, 0, 1], "float32")
SHARES = np.array([0.1, 0.8, 0.4, 0.6, 0.99], "float32")
LOGITS = np.array([-2, 1.5, -0.5, 0.3, 4], "float32")
WEIGHTS = np.array([1, 2, 0, 0.5, 1], "float32")
ROWS = np.array([[0.7, 0.2, 0.1], [0.3, 0.5, 0.2], [0.2, 0.6, 0.2]], "float32")
X, Y = wave(4, 3), wave(4, 3, k=2.0) * 2

RECORDED: dict[str, tuple[Any, tuple[Any, ...], float]] = {
    "binary": (losses.BinaryCrossentropy(), (BITS, SHARES), 0.4342271685600281),
    "binary, weights": (
        losses.BinaryCrossentropy(from_logits=True, label_smoothing=0.1),
        (BITS[:, None], LOGITS[:, None], WEIGHTS),
        0.28351646661758423,
    ),
    "categorical": (losses.CategoricalCrossentropy(label_smoothing=0.1), (np.eye(3), ROWS), 0.9256108403205872),
    "categorical, weights": (
        losses.CategoricalCrossentropy(from_logits=True, label_smoothing=0.2),
        (np.eye(3), ROWS * 4, WEIGHTS[:3]),
        0.6278765797615051,
    ),
    "sparse": (
        losses.SparseCategoricalCrossentropy(from_logits=True),
        (np.arange(3), ROWS * 4, WEIGHTS[:3]),
        0.4412098824977875,
    ),
    "magnitudes": (losses.MeanAbsoluteError(), (X, Y, WEIGHTS[:4]), 1.0637978315353394),
    "squares": (losses.MeanSquaredError(), (X, Y, WEIGHTS[:4, None]), 2.284158229827881),
    "huber": (losses.Huber(delta=0.7), (X, Y, WEIGHTS[:4]), 0.5625028610229492),
    "hinge": (losses.Hinge(), (np.sign(X), Y, WEIGHTS[:4]), 1.135695457458496),
    "hinge, 0 and 1": (losses.Hinge(reduction="sum"), ((X > 0).astype("float32"), Y), 5.381350517272949),
}


@pytest.mark.parametrize("name", RECORDED)
def test_the_figures_are_those_of_keras(name: str) -> None:
    loss, arguments, wanted = RECORDED[name]
    tensors = [gx.asarray(argument) for argument in arguments]
    assert loss(*tensors).item() == pytest.approx(wanted, rel=2e-6)
    assert gx.function(loss)(*tensors).item() == pytest.approx(wanted, rel=2e-6)


def test_weights_divide_the_weighted_mean_and_not_the_mean() -> None:
    weights, squares = WEIGHTS[:4], ((X - Y) ** 2).mean(-1)
    for reduction, wanted in (
        ("none", squares * weights),
        ("sum", (squares * weights).sum()),
        ("mean", (squares * weights).mean()),
        ("weighted_mean", np.average(squares, weights=weights)),
    ):
        found = losses.mean_squared_error(X, Y, sample_weight=weights, reduction=reduction)  # pyright: ignore
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-6)
    zeros = losses.huber(X, Y, sample_weight=np.zeros(4), reduction="weighted_mean")
    assert zeros.item() == 0.0
    plain = losses.hinge(X, Y, reduction="weighted_mean")
    assert plain.item() == losses.hinge(X, Y).item()


def test_a_weight_counts_as_often_as_it_has_losses_in_the_weighted_mean() -> None:
    weights = np.array([2, 0, 1], "int32")  # of sequences of two labels
    labels, logits = np.array([[0, 1], [2, 3], [3, 0]]), wave(3, 2, 4)
    figures = losses.sparse_softmax_cross_entropy(labels, logits, reduction="none").numpy()
    wanted = np.average(figures, weights=np.repeat(weights[:, None], 2, 1))
    for given in (weights, weights.astype("float32"), np.repeat(weights[:, None], 2, 1)):
        found = losses.sparse_softmax_cross_entropy(labels, logits, sample_weight=given, reduction="weighted_mean")
        assert found.item() == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "uint8"])
def test_weights_are_summed_in_the_dtype_of_the_losses(dtype: str) -> None:
    weights = np.array([200, 100, 250, 150], "uint8").astype(dtype) * np.array(250 if dtype == "float16" else 1, dtype)
    squares = ((X - Y) ** 2).mean(-1)
    found = losses.mean_squared_error(X, Y, sample_weight=weights, reduction="weighted_mean")
    assert found.item() == pytest.approx(np.average(squares, weights=weights.astype("float64")), rel=1e-6)
    with gx.config.scope(enable_x64=True):
        wide = losses.mean_squared_error(gx.asarray(X), gx.asarray(Y), sample_weight=weights.astype("float64"))
        assert wide.dtype == "float32"


def test_gradients_of_a_weighted_mean_are_finite_where_all_weights_are_zero() -> None:
    def loss(x: Any, weights: Any) -> Any:
        return losses.mean_squared_error(x, np.zeros((4, 3)), sample_weight=weights, reduction="weighted_mean")

    for gradient in gx.grad(loss, argnums=(0, 1))(gx.asarray(X), gx.zeros(4)):
        assert np.isfinite(gradient.numpy()).all()
    half = gx.grad(loss)(gx.asarray(X), gx.asarray([0.25, 0.25, 0.0, 0.0]))  # whose weights' sum is below one
    wanted = np.where(np.arange(4)[:, None] < 2, X / 3, 0)
    np.testing.assert_allclose(half.numpy(), wanted, rtol=1e-5)


def test_gradients_are_those_of_optax_and_finite_at_the_extremes() -> None:
    labels, logits = BITS, LOGITS
    slopes = gx.grad(lambda x: losses.sigmoid_cross_entropy(labels, x, reduction="sum"))(gx.asarray(logits))
    wanted = jax.grad(lambda x: optax.sigmoid_binary_cross_entropy(x, labels).sum())(logits)
    np.testing.assert_allclose(slopes.numpy(), wanted, rtol=1e-5)
    far = gx.asarray([-1e4, 1e4])
    loss = losses.sigmoid_cross_entropy([1.0, 0.0], far, reduction="none")
    assert loss.tolist() == [1e4, 1e4]
    slopes = gx.grad(lambda x: losses.sigmoid_cross_entropy([1.0, 0.0], x, reduction="sum"))(far)
    assert slopes.tolist() == [-1.0, 1.0]
    slopes = gx.grad(lambda x: losses.huber([0.0, 0.0], x, 2.0, reduction="sum"))(gx.asarray([1.0, -5.0]))
    assert slopes.tolist() == [1.0, -2.0]


def test_half_precision_is_added_up_in_float32() -> None:
    ones = gx.ones((1000,), dtype="bfloat16")
    loss = losses.mean_squared_error(gx.zeros(1000), ones, reduction="sum")
    assert (loss.item(), loss.dtype.name) == (1000.0, "float32")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: losses.huber(X, Y, 0.0), "huber: delta must be a number above zero, got 0.0"),
        (
            lambda: losses.sigmoid_cross_entropy([1.0], [1.0], label_smoothing=2.0),
            "label_smoothing must be a number fr",
        ),
        (
            lambda: losses.sigmoid_cross_entropy([1.0], [[1.0]]),
            r"labels have shape \(1,\) and logits \(1, 1\); they mu",
        ),
        (lambda: losses.hinge(X, Y, sample_weight=[1.0]), r"sample_weight has shape \(1,\), the examples have shape"),
        (lambda: losses.Hinge()(X, Y, [1.0]), r"sample_weight has shape \(1,\), the examples have shape \(4,\)"),
    ],
)
def test_bad_input_is_refused_with_the_users_line(call: Any, message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"(?s){message}.*test_keras_figures.py"):
        call()
