"""The losses: values and gradients against NumPy and optax, both modes, extremes, bad input."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.ir import parse_graph, verify

_RNG = np.random.default_rng(0)
LOGITS = _RNG.normal(size=(6, 4)).astype("float32")
CLASSES = np.array([0, 3, 1, 2, 2, 0])
ONE_HOT = np.eye(4, dtype="float32")[CLASSES]
TARGETS = _RNG.normal(size=(6, 4)).astype("float32")

CASES: dict[str, tuple[Any, np.ndarray[Any, Any], np.ndarray[Any, Any], Any]] = {
    "mean_squared_error": (
        gx.losses.mean_squared_error,
        TARGETS,
        LOGITS,
        lambda labels, x: jnp.mean((x - labels) ** 2, axis=-1),
    ),
    "softmax_cross_entropy": (
        gx.losses.softmax_cross_entropy,
        ONE_HOT,
        LOGITS,
        lambda labels, x: optax.softmax_cross_entropy(x, labels),
    ),
    "sparse_softmax_cross_entropy": (
        gx.losses.sparse_softmax_cross_entropy,
        CLASSES,
        LOGITS,
        lambda labels, x: optax.softmax_cross_entropy_with_integer_labels(x, labels),
    ),
}
REDUCE: dict[str, Any] = {"mean": jnp.mean, "sum": jnp.sum, "none": lambda losses: losses}


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("name", CASES)
def test_values_and_gradients_are_the_references(name: str, reduction: Any, compiled: bool) -> None:
    loss, labels, outputs, reference = CASES[name]

    def evaluate(labels: Any, outputs: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(outputs)
            value = loss(labels, outputs, reduction=reduction)
        return value, tape.gradient(value, outputs)

    run = gx.function(evaluate) if compiled else evaluate
    value, gradient = run(gx.asarray(labels), gx.asarray(outputs))

    def wanted(outputs: jax.Array) -> jax.Array:
        return REDUCE[reduction](reference(jnp.asarray(labels), outputs))

    np.testing.assert_allclose(value.numpy(), wanted(jnp.asarray(outputs)), rtol=1e-6)
    expected = jax.grad(lambda x: wanted(x).sum())(jnp.asarray(outputs))
    np.testing.assert_allclose(gradient.numpy(), expected, rtol=1e-5, atol=1e-7)


@given(
    hnp.arrays("float32", (3, 5), elements=st.floats(-5, 5, width=32)),
    st.lists(st.integers(0, 4), min_size=3, max_size=3),
)
def test_the_two_cross_entropies_agree(logits: np.ndarray[Any, Any], classes: list[int]) -> None:
    sparse = gx.losses.sparse_softmax_cross_entropy(classes, logits, reduction="none")
    dense = gx.losses.softmax_cross_entropy(np.eye(5, dtype="float32")[classes], logits, reduction="none")
    np.testing.assert_allclose(sparse.numpy(), dense.numpy(), rtol=1e-5, atol=1e-6)
    assert (sparse.numpy() >= -1e-6).all()


def test_large_logits_do_not_overflow() -> None:
    logits = [[1e4, 0.0], [0.0, 1e4]]
    assert gx.losses.sparse_softmax_cross_entropy([0, 0], logits, reduction="none").tolist() == [0.0, 1e4]
    dense = gx.losses.softmax_cross_entropy([[1.0, 0.0], [1.0, 0.0]], logits, reduction="none")
    assert dense.tolist() == [0.0, 1e4]


@pytest.mark.parametrize("label", [-1, 2, 7])
def test_a_label_that_names_no_class_gives_nan(label: int) -> None:
    losses = gx.losses.sparse_softmax_cross_entropy([label, 1], [[1.0, 2.0], [1.0, 2.0]], reduction="none").numpy()
    assert np.isnan(losses[0])
    assert np.isfinite(losses[1])


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int32"])
def test_labels_of_any_integer_dtype(dtype: str) -> None:
    # 200 classes are more than an int8 can count.
    logits = np.zeros((1, 200), "float32")
    loss = gx.losses.sparse_softmax_cross_entropy(np.array([100], dtype), logits)
    np.testing.assert_allclose(loss.item(), np.log(200.0), rtol=1e-6)


def test_squares_of_one_number_for_each_example() -> None:
    assert gx.losses.mean_squared_error([1.0, 2.0], [3.0, 2.0], reduction="none").tolist() == [4.0, 0.0]
    assert gx.losses.mean_squared_error(1.0, gx.asarray(3.0)).item() == 4.0
    assert gx.losses.mean_squared_error([1, 2], [3.0, 2.0]).item() == 2.0


def test_a_loss_is_one_node_whose_text_parses_back() -> None:
    @gx.function
    def loss(labels: Any, logits: Any) -> Any:
        return gx.losses.sparse_softmax_cross_entropy(labels, logits)

    graph = loss.graph(gx.asarray(CLASSES), gx.asarray(LOGITS))
    assert [node.op.name for node in graph.nodes] == ["losses.sparse_softmax_cross_entropy"]
    verify(parse_graph(str(graph)))
    assert str(parse_graph(str(graph))) == str(graph)


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (
            lambda: gx.losses.mean_squared_error(np.zeros(3), np.zeros((3, 1), "float32")),
            InvalidArgumentError,
            r"labels have shape \(3,\) and predictions \(3, 1\).*gx.reshape",
        ),
        (
            lambda: gx.losses.mean_squared_error([1], [1]),
            InvalidTypeError,
            r"mean_squared_error: predictions must have a floating dtype, got i32\[1\]",
        ),
        (
            lambda: gx.losses.mean_squared_error([1.0], [1.0], reduction="average"),  # pyright: ignore
            InvalidArgumentError,
            "reduction must be one of 'mean', 'sum', 'none', 'weighted_mean', got 'average'",
        ),
        (
            lambda: gx.losses.softmax_cross_entropy([1, 2], [[1.0, 2.0], [3.0, 4.0]]),
            InvalidArgumentError,
            r"labels have shape \(2,\) and logits \(2, 2\).*sparse_softmax_cross_entropy",
        ),
        (
            lambda: gx.losses.sparse_softmax_cross_entropy([0.0], [[1.0, 2.0]]),
            InvalidTypeError,
            r"labels are f32\[1\], integers are expected.*gx.astype\(labels, 'int32'\)",
        ),
        (
            lambda: gx.losses.sparse_softmax_cross_entropy([[0]], [[1.0, 2.0]]),
            InvalidArgumentError,
            r"labels have shape \(1, 1\), shape \(1,\) is expected for logits of shape \(1, 2\)",
        ),
        (
            lambda: gx.losses.sparse_softmax_cross_entropy(0, 1.0),
            InvalidArgumentError,
            r"logits need a last axis of at least one class, got shape \(\)",
        ),
        (
            lambda: gx.losses.softmax_cross_entropy("cat", [[1.0]]),  # pyright: ignore
            InvalidTypeError,
            "softmax_cross_entropy: labels: .*'cat'",
        ),
    ],
)
def test_bad_input_is_refused_with_the_users_line(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"(?s){message}.*test_standard.py"):
        call()


def test_bad_input_is_refused_when_traced_too() -> None:
    @gx.function
    def loss(labels: Any, logits: Any) -> Any:
        return gx.losses.sparse_softmax_cross_entropy(labels, logits)

    with pytest.raises(InvalidTypeError, match=r"(?s)labels are f32\[6,4\].*test_standard.py"):
        loss(gx.asarray(ONE_HOT), gx.asarray(LOGITS))
