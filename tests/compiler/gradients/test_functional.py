"""grad and value_and_grad."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from tests.compiler.gradients.agreement import assert_close, f


def loss(x: Tensor, y: Tensor, scale: float = 1.0) -> Tensor:
    return gx.sum(gx.sin(x) * y * y) * scale


def reference(x: Any, y: Any, scale: float = 1.0) -> Any:
    return jax.numpy.sum(jax.numpy.sin(x) * y * y) * scale


X, Y = f(0.5, 1.5), f(-1.0, 2.0)


@pytest.mark.parametrize("argnums", [0, 1, (0,), (0, 1), (1, 0)])
def test_argnums(argnums: Any) -> None:
    value, expected = jax.value_and_grad(reference, argnums)(X.numpy(), Y.numpy(), 3.0)
    for way in (gx.value_and_grad(loss, argnums), gx.function(gx.value_and_grad(loss, argnums))):
        found_value, found = way(X, Y, scale=3.0)
        assert_close(found_value, value)
        assert isinstance(found, tuple) == isinstance(argnums, tuple)
        for one, other in zip(jax.tree.leaves(expected), found if isinstance(found, tuple) else [found], strict=True):
            assert_close(other, one)


def test_grad_of_numbers_arrays_and_structures() -> None:
    assert gx.grad(lambda x: x**3)(2.0).item() == 12.0
    assert gx.grad(lambda x: gx.sum(x * x))(np.array([1.0, 2.0], np.float32)).tolist() == [2.0, 4.0]

    def run(params: Any) -> Tensor:
        return gx.sum(params["w"] * params["b"][0]) + params["b"][1]

    found = gx.grad(run)({"w": f(1.0, 2.0), "b": (f(3.0), f(4.0))})
    assert found["w"].tolist() == [3.0, 3.0]
    assert [value.item() for value in found["b"]] == [3.0, 1.0]


def test_grad_of_variables() -> None:
    w = gx.Variable([1.0, 2.0])
    value, found = gx.value_and_grad(lambda v: gx.sum(v * v))(w)
    assert value.item() == 5.0
    assert found.tolist() == [2.0, 4.0]


def test_aux() -> None:
    def run(x: Tensor) -> Any:
        return gx.sum(x * x), {"doubled": x * 2, "note": "kept"}

    for way in (gx.grad(run, has_aux=True), gx.function(gx.grad(run, has_aux=True))):
        found, aux = way(f(1.0, 2.0))
        assert found.tolist() == [2.0, 4.0]
        assert aux["doubled"].tolist() == [2.0, 4.0]
        assert aux["note"] == "kept"
    (value, _), found = gx.value_and_grad(run, has_aux=True)(f(1.0, 2.0))
    assert value.item() == 5.0


def test_nested_grad() -> None:
    def run(x: Tensor) -> Tensor:
        return gx.exp(2 * x)

    third = gx.grad(gx.grad(gx.grad(run)))
    for way in (third, gx.function(third), gx.grad(gx.function(gx.grad(gx.function(gx.grad(run)))))):
        assert_close(way(f(0.5)), 8 * np.exp(1.0))


def test_an_argument_that_is_not_used_has_gradient_zero() -> None:
    found = gx.grad(lambda x, y: x * 2, argnums=(0, 1))(f(1.0), f(1.0, 2.0))
    assert found[0].item() == 2.0
    assert found[1].tolist() == [0.0, 0.0]


def test_one_tensor_for_two_arguments() -> None:
    x = f(3.0)
    first, second = gx.grad(lambda a, b: a * a * b, argnums=(0, 1))(x, x)
    assert (first.item(), second.item()) == (18.0, 9.0)


def test_a_position_counted_from_the_end() -> None:
    assert gx.grad(lambda a, b: a * b, argnums=-1)(f(3.0), f(5.0)).item() == 3.0


def test_aux_that_is_missing() -> None:
    with pytest.raises(InvalidTypeError, match=r"must return \(value, aux\)"):
        gx.grad(lambda x: x * x, has_aux=True)(f(1.0))


def test_a_function_that_closes_over_what_is_differentiated() -> None:
    x = f(3.0)
    assert gx.grad(lambda a: a * x)(x).item() == 3.0


@pytest.mark.parametrize(
    ("function", "args", "error", "message"),
    [
        (
            lambda x: x * 2,
            (f(1.0, 2.0),),
            InvalidArgumentError,
            r"must return a scalar tensor, but it returned f32\[2\]",
        ),
        (lambda x: 2.0, (f(1.0),), InvalidArgumentError, r"must return a scalar tensor, but it returned 2\.0"),
        (lambda x: x * x, (3,), InvalidTypeError, r"must be floating, got the int 3; write 3\.0"),
        (lambda x: x * x, (gx.asarray(3),), InvalidTypeError, r"must be floating, got i32\[\]"),
        (lambda x: x * x, ("x",), InvalidTypeError, "'x'"),
        (lambda x: x * x, (), InvalidArgumentError, "argnums=0, but got 0 positional arguments"),
    ],
)
def test_bad_input(function: Any, args: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        gx.grad(function)(*args)
    with pytest.raises(error, match=message):
        gx.function(lambda: gx.grad(function)(*args))()


@pytest.mark.parametrize("argnums", [1, (0, -2), "x", 1.5, (), True])
def test_argnums_that_name_no_argument(argnums: Any) -> None:
    with pytest.raises((InvalidArgumentError, InvalidTypeError), match="argnums"):
        gx.grad(lambda x: x * x, argnums=argnums)(f(1.0))
