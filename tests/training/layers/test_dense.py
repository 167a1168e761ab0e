"""Dense: values, shapes, initial values, bad input."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

X = np.random.default_rng(0).normal(size=(5, 3)).astype("float32")


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("use_bias", [False, True])
@pytest.mark.parametrize("activation", [None, "tanh", gx.nn.relu, lambda x: gx.where(x > 0, x, 0.1 * x)])
def test_the_output_is_what_the_formula_says(activation: Any, use_bias: bool, compiled: bool) -> None:
    layer = gx.layers.Dense(4, activation, use_bias)
    run = gx.function(lambda x: layer(x)) if compiled else layer
    run(gx.asarray(X))
    assert layer.kernel is not None
    wanted = X @ layer.kernel.numpy()
    if layer.bias is not None:
        layer.bias.assign([1.0, -1.0, 0.5, 0.0])
        wanted = wanted + layer.bias.numpy()
    assert (layer.bias is not None) is use_bias
    if activation is not None:
        function = getattr(gx.nn, activation) if isinstance(activation, str) else activation
        wanted = function(gx.asarray(wanted)).numpy()
    np.testing.assert_allclose(run(gx.asarray(X)).numpy(), wanted, rtol=1e-5, atol=1e-6)


def test_an_activation_with_python_control_flow_is_converted() -> None:
    def clipped(x: Any) -> Any:
        if gx.max(x) > 1.0:
            x = x / gx.max(x)
        return x

    layer = gx.layers.Dense(2, clipped, kernel_initializer="ones", in_features=2)
    run = gx.function(lambda x: layer(x))
    assert run(gx.asarray([2.0, 2.0])).tolist() == [1.0, 1.0]
    assert run(gx.asarray([0.2, 0.2])).tolist() == pytest.approx([0.4, 0.4])


@pytest.mark.parametrize("shape", [(3,), (2, 3), (2, 4, 3)])
def test_leading_axes_stay(shape: tuple[int, ...]) -> None:
    assert gx.layers.Dense(7)(gx.zeros(shape)).shape == (*shape[:-1], 7)


def test_arrays_and_lists_will_do() -> None:
    layer = gx.layers.Dense(1, kernel_initializer="ones")
    for x in ([[1.0, 2.0]], np.array([[1, 2]]), jnp.ones((1, 2)) * 1.5, gx.Variable([[1.0, 2.0]])):
        assert layer(x).tolist() == [[3.0]]


@pytest.mark.parametrize(
    ("name", "deviation"),
    [
        ("glorot_uniform", (2 / 500) ** 0.5),
        ("glorot_normal", (2 / 500) ** 0.5),
        ("he_uniform", (2 / 300) ** 0.5),
        ("he_normal", (2 / 300) ** 0.5),
        ("lecun_uniform", (1 / 300) ** 0.5),
        ("lecun_normal", (1 / 300) ** 0.5),
    ],
)
def test_initial_kernels_have_the_variance_of_their_name(name: str, deviation: float) -> None:
    gx.random.seed(1)
    kernel = gx.layers.Dense(200, kernel_initializer=name, in_features=300).kernel
    assert kernel is not None
    # 60,000 draws: the deviation is known to half a percent.
    np.testing.assert_allclose(kernel.numpy().std(), deviation, rtol=0.02)
    np.testing.assert_allclose(kernel.numpy().mean(), 0.0, atol=0.02 * deviation)
    if name.endswith("uniform"):
        assert np.abs(kernel.numpy()).max() <= deviation * 3**0.5


def test_the_seed_decides_the_initial_kernel() -> None:
    kernels: list[Any] = []
    for _ in range(2):
        gx.random.seed(3)
        kernels.append(gx.layers.Dense(4, in_features=4).kernel)
    kernels.append(gx.layers.Dense(4, in_features=4).kernel)
    assert (kernels[0].numpy() == kernels[1].numpy()).all()
    assert (kernels[0].numpy() != kernels[2].numpy()).any()


def test_a_function_as_initializer_and_another_dtype() -> None:
    layer = gx.layers.Dense(2, kernel_initializer=lambda shape, dtype: np.full(shape, 0.5, dtype), dtype="bfloat16")
    assert layer(gx.ones((1, 4), "bfloat16")).tolist() == [[2.0, 2.0]]
    assert layer.kernel is not None
    assert layer.bias is not None
    assert layer.kernel.dtype == layer.bias.dtype == jnp.bfloat16


def test_build_makes_the_variables_ahead() -> None:
    layer = gx.layers.Dense(2)
    assert layer.variables == []
    layer.build((None, 3))
    kernel = layer.kernel
    layer(gx.ones((1, 3)))
    assert layer.kernel is kernel
    assert [variable.shape for variable in layer.variables] == [(3, 2), (2,)]


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (lambda: gx.layers.Dense(0), InvalidArgumentError, "Dense: units must be an int of at least 1, got 0"),
        (lambda: gx.layers.Dense(2.5), InvalidArgumentError, "units must be an int of at least 1, got 2.5"),  # pyright: ignore
        (lambda: gx.layers.Dense(2, in_features=-1), InvalidArgumentError, "in_features must be an int of at least 1"),
        (lambda: gx.layers.Dense(2, "rleu"), InvalidArgumentError, "there is no activation 'rleu'.*relu"),
        (lambda: gx.layers.Dense(2, 3), InvalidTypeError, "activation must be a function, a name or None, got 3"),  # pyright: ignore
        (
            lambda: gx.layers.Dense(2, kernel_initializer="glorot"),
            InvalidArgumentError,
            "kernel_initializer must be.*'glorot_uniform'",
        ),
        (
            lambda: gx.layers.Dense(2, kernel_initializer=lambda shape, dtype: gx.ones(3), in_features=2, name="d"),
            InvalidArgumentError,
            r"layer 'd': kernel_initializer gave a kernel of shape \(3,\), shape \(2, 2\) was asked for",
        ),
        (
            lambda: gx.layers.Dense(2, name="d")(1.0),
            InvalidArgumentError,
            r"layer 'd' takes a tensor of at least one axis",
        ),
        (
            lambda: gx.layers.Dense(2, in_features=3, name="d")(gx.ones((5, 4))),
            InvalidArgumentError,
            r"layer 'd' takes tensors of shape \(..., 3\), got shape \(5, 4\)",
        ),
        (
            lambda: gx.function(gx.layers.Dense(2, in_features=3, name="d"))(gx.ones((5, 4))),
            InvalidArgumentError,
            r"layer 'd' takes tensors of shape \(..., 3\), got shape \(5, 4\)",
        ),
    ],
)
def test_bad_input_is_refused_with_the_users_line(make: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=f"(?s){message}.*test_dense.py"):
        make()


def test_a_failed_build_can_be_tried_again() -> None:
    layer = gx.layers.Dense(2)
    with pytest.raises(InvalidArgumentError, match="at least one axis"):
        layer(1.0)
    assert layer(gx.ones((1, 3))).shape == (1, 2)
