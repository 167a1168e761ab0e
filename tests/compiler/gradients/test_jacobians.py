"""Jacobians and Hessians, of tapes and of functions, against JAX and numerical differences."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax as _jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
)

jax: Any = _jax

X = np.array([0.5, 1.5, 2.5], np.float32)


def both(function: Callable[..., Any], *args: Any) -> list[Any]:
    return [function(*args), gx.function(function)(*args)]


def differences(function: Callable[[Any], Any], x: np.ndarray[Any, Any], step: float = 1e-2) -> np.ndarray[Any, Any]:
    """Central differences: the axes of the result, then those of the argument."""
    columns = []
    for index in np.ndindex(x.shape):
        moved = np.zeros_like(x)
        moved[index] = step
        after, before = (function(gx.asarray(x + sign * moved)).numpy() for sign in (1, -1))
        columns.append((after - before) / (2 * step))
    return np.moveaxis(np.array(columns), 0, -1).reshape(*columns[0].shape, *x.shape)


def loops(x: Any) -> Any:
    total = gx.zeros(2)
    for i in range(12):
        total = total + x[:2] * x[2] ** i * 0.01
    while gx.sum(total) < 4.0:
        total = total * total * 0.3 + x[1:]
    if total[0] > 0.5:
        total = gx.sin(total)
    return total


def plain(x: Any) -> Any:
    return gx.stack([gx.sum(x**2), x[0] * x[1], gx.sin(x[2]), gx.max(x)])


def plain_in_jax(x: Any) -> Any:
    return jnp.stack([jnp.sum(x**2), x[0] * x[1], jnp.sin(x[2]), jnp.max(x)])


def test_jacobian_and_hessian_are_jaxs() -> None:
    cases = [
        (gx.jacobian(plain), jax.jacobian(plain_in_jax)),
        (gx.hessian(plain), jax.hessian(plain_in_jax)),
        (gx.hessian(lambda x: gx.sum(gx.exp(x) * x[0])), jax.hessian(lambda x: jnp.sum(jnp.exp(x) * x[0]))),
    ]
    for ours, jaxs in cases:
        expected = jax.jit(jaxs)(X)
        for found in both(ours, gx.asarray(X)):
            np.testing.assert_allclose(found.numpy(), expected, rtol=1e-6)


def test_the_jacobian_of_loops_and_branches() -> None:
    x = np.array([0.5, 1.0, 1.1], np.float32)
    for found in both(gx.jacobian(loops), gx.asarray(x)):
        np.testing.assert_allclose(found.numpy(), differences(loops, x, 1e-3), rtol=0.02, atol=0.02)
    eager, compiled = both(gx.hessian(loops), gx.asarray(x))
    assert eager.shape == (2, 3, 3)
    np.testing.assert_allclose(compiled.numpy(), eager.numpy(), rtol=1e-4, atol=1e-3)


def test_forwards_as_backwards() -> None:
    x = np.array([0.5, 1.0, 1.1], np.float32)
    wanted = gx.jacobian(loops)(gx.asarray(x))
    for found in both(gx.jacfwd(loops), gx.asarray(x)):
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), rtol=1e-4, atol=1e-4)
    hessian = jax.jit(jax.hessian(plain_in_jax))(X)
    for ours in (gx.jacfwd(gx.jacrev(plain)), gx.jacrev(gx.jacfwd(plain))):
        for found in both(ours, gx.asarray(X)):
            np.testing.assert_allclose(found.numpy(), hessian, rtol=1e-5, atol=1e-6)
    for found in both(gx.jacfwd(lambda x: gx.sum(x * x)), gx.asarray(X)):
        np.testing.assert_allclose(found.numpy(), 2 * X)


def test_forwards_by_structures() -> None:
    v = gx.Variable([2.0, 3.0], name="v")

    def f(pair: Any, w: Any, power: int) -> Any:
        return {"a": pair["x"] ** power * w[0]}, gx.argmax(w)

    def call(x: Any) -> Any:
        return gx.jacfwd(f, argnums=(0, 1), has_aux=True)({"x": x, "y": gx.ones(2)}, v, 2)

    for found, aux in both(call, gx.asarray([1.0, 5.0])):
        by_pair, by_w = found["a"]
        assert by_pair["x"].tolist() == [[4.0, 0.0], [0.0, 20.0]]
        assert by_pair["y"].tolist() == [[0.0, 0.0], [0.0, 0.0]]
        assert by_w.tolist() == [[1.0, 0.0], [25.0, 0.0]]
        assert aux.item() == 1
    with pytest.raises(
        InvalidTypeError, match=r"jacfwd: the function must return floating tensors, but it returned i32\[\]"
    ):
        gx.jacfwd(gx.argmax)(gx.asarray(X))
    with pytest.raises(InvalidArgumentError, match=r"jacfwd: argnums=3, but got 1 positional arguments"):
        gx.jacfwd(plain, 3)(gx.asarray(X))


@dataclasses.dataclass
class Point:
    x: Any
    y: Any


def test_structures_of_arguments_and_results() -> None:
    def f(point: Any, scale: Any, power: int) -> Any:
        return {"a": point.x * scale, "b": [gx.sum(point.y["v"] ** power)]}, "aux"

    def call() -> Any:
        point = Point(gx.asarray([1.0, 2.0]), {"v": gx.asarray([[3.0], [4.0]])})
        return gx.jacobian(f, argnums=(0, 1), has_aux=True)(point, 2.0, 3)

    for found, aux in both(call):
        assert aux == "aux"
        (by_point, by_scale) = found["a"]
        assert isinstance(by_point, Point)
        assert by_point.x.tolist() == [[2.0, 0.0], [0.0, 2.0]]
        assert by_point.y["v"].numpy().tolist() == np.zeros((2, 2, 1)).tolist()
        assert by_scale.tolist() == [1.0, 2.0]
        assert found["b"][0][0].y["v"].tolist() == [[27.0], [48.0]]
        assert found["b"][0][1].item() == 0.0


def test_the_hessian_by_several_arguments_has_a_block_for_each_pair() -> None:
    def f(x: Any, y: Any) -> Any:
        return gx.sum(x * x) * y[0] * y[1]

    wanted = jax.hessian(lambda x, y: jnp.sum(x * x) * y[0] * y[1], argnums=(0, 1))(X, X[:2])
    for found in both(lambda x, y: gx.hessian(f, argnums=(0, 1))(x, y), gx.asarray(X), gx.asarray(X[:2])):
        for row, wanted_row in zip(found, wanted, strict=True):
            for block, wanted_block in zip(row, wanted_row, strict=True):
                np.testing.assert_allclose(block.numpy(), wanted_block, rtol=1e-6)


def test_a_result_that_does_not_depend_on_the_argument_gives_zeros() -> None:
    constant = gx.asarray([1.0, 2.0])
    for found in both(gx.jacobian(lambda x: constant), gx.asarray(X)):
        assert found.tolist() == np.zeros((2, 3)).tolist()
    for found in both(gx.hessian(lambda x: gx.sum(x * 2.0)), gx.asarray(X)):
        assert found.tolist() == np.zeros((3, 3)).tolist()


def test_the_tapes_jacobian_by_variables_and_tensors() -> None:
    w = gx.Variable([[1.0, 2.0], [3.0, 4.0]], name="w")
    other = gx.Variable([1.0], name="other")

    def f(x: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = gx.tanh(w @ x)
        return tape.jacobian(y, {"w": w, "x": x, "other": other})

    def in_jax(w: Any, x: Any) -> Any:
        return jnp.tanh(w @ x)

    x = np.array([0.1, 0.2], np.float32)
    wanted = jax.jacobian(in_jax, argnums=(0, 1))(w.numpy(), x)
    for found in both(f, gx.asarray(x)):
        np.testing.assert_allclose(found["w"].numpy(), wanted[0], rtol=1e-5)
        np.testing.assert_allclose(found["x"].numpy(), wanted[1], rtol=1e-5)
        assert found["other"] is None


def test_the_batch_jacobian_is_that_of_each_row() -> None:
    def rows(x: Any) -> Any:
        return gx.stack([gx.sum(x**2, axis=1), x[:, 0] * x[:, 1]], axis=1)

    def f(x: Any) -> Any:
        with gx.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = rows(x)
        return tape.batch_jacobian(y, x), tape.jacobian(y, x)

    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    wanted = jax.vmap(jax.jacobian(lambda x: jnp.stack([jnp.sum(x**2), x[0] * x[1]])))(x)
    for batch, whole in both(f, gx.asarray(x)):
        np.testing.assert_allclose(batch.numpy(), wanted)
        np.testing.assert_allclose(np.einsum("ijik->ijk", whole.numpy()), wanted)


def test_a_scalar_for_each_row_and_sources_without_rows_of_their_own() -> None:
    x = gx.asarray([[1.0, 2.0], [3.0, 4.0]])
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = gx.sum(x * x, axis=1)
    assert tape.batch_jacobian(y, x).tolist() == [[2.0, 4.0], [6.0, 8.0]]
    assert tape.batch_jacobian(y, gx.ones((2, 5))) is None
    assert tape.batch_jacobian(y, gx.ones((2, 5)), unconnected_gradients="zero").shape == (2, 5)


def test_a_jacobian_is_differentiated_by_another_tape() -> None:
    def f(x: Any) -> Any:
        with gx.GradientTape() as outer:
            outer.watch(x)
            with gx.GradientTape() as inner:
                inner.watch(x)
                y = plain(x)
            total = gx.sum(inner.jacobian(y, x) ** 3)
        return outer.gradient(total, x)

    wanted = jax.grad(lambda x: jnp.sum(jax.jacobian(plain_in_jax)(x) ** 3))(X)
    for found in both(f, gx.asarray(X)):
        np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5)


def test_gradient_functions_of_ones_own() -> None:
    scale = gx.Variable(2.0, name="scale")

    @gx.custom_gradient
    def clipped(x: Any) -> Any:
        def gradient(upstream: Any) -> Any:
            if gx.sum(upstream) > 0.5:
                return upstream * scale
            return upstream * 0.0

        return x * x, gradient

    def f(x: Any) -> Any:
        return gx.jacobian(clipped)(x)

    for found in both(f, gx.asarray(X)):
        np.testing.assert_allclose(found.numpy(), np.eye(3) * 2.0)


def test_an_eager_jacobian_of_no_elements() -> None:
    for found in both(gx.jacobian(lambda x: x[:0]), gx.asarray(X)):
        assert found.shape == (0, 3)


def test_in_a_loop_of_a_compiled_function() -> None:
    @gx.function
    def newton(x: Any) -> Any:
        for _ in range(8):
            x = x - gx.linalg.solve(gx.jacobian(residual)(x), residual(x))
        return x

    def residual(x: Any) -> Any:
        return gx.stack([x[0] ** 2 + x[1] ** 2 - 4.0, x[0] - x[1]])

    np.testing.assert_allclose(newton(gx.asarray([1.0, 2.0])).numpy(), [2**0.5, 2**0.5], rtol=1e-5)


def test_mistakes_are_named() -> None:
    x = gx.asarray(X)
    with pytest.raises(InvalidTypeError, match=r"jacobian: argnums must be an int or a sequence of ints, got 'x'"):
        gx.jacobian(plain, argnums="x")  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidArgumentError, match=r"hessian: argnums=1, but got 1 positional arguments"):
        gx.hessian(plain, argnums=1)(x)
    with pytest.raises(InvalidTypeError, match=r"jacobian: an argument to differentiate must be floating, got the int"):
        gx.jacobian(plain)(3)
    with pytest.raises(InvalidTypeError, match=r"the function must return floating tensors, but it returned i32\[\]"):
        gx.jacobian(gx.argmax)(x)
    with pytest.raises(InvalidTypeError, match=r"the function must return floating tensors, but it returned 'text'"):
        gx.jacobian(lambda x: "text")(x)
    with pytest.raises(InvalidTypeError, match="derivatives of complex numbers do not form a complex matrix"):
        gx.jacobian(lambda x: x)(gx.asarray([1j]))
    with pytest.raises(InvalidTypeError, match=r"jacobian: with has_aux=True the function must return \(value, aux\)"):
        gx.jacobian(plain, has_aux=True)(x)


def test_mistakes_with_a_tape_are_named() -> None:
    x = gx.asarray(X)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = plain(x)
        z = gx.astype(x, "complex64")
    with pytest.raises(InvalidTypeError, match=r"jacobian\(\): the target must be one tensor"):
        tape.jacobian([y], x)
    with pytest.raises(FailedPreconditionError, match=r"jacobian\(\) was already called on this GradientTape"):
        tape.jacobian(y, x)
    for call, message in (
        (lambda t, y, z: t.jacobian(z, x), r"derivatives of complex numbers"),
        (lambda t, y, z: t.jacobian(y, "x"), r"jacobian\(\): a source must be a Tensor or a Variable"),
        (lambda t, y, z: t.jacobian(y, x, "some"), r"unconnected_gradients must be 'none' or 'zero'"),
        (lambda t, y, z: t.batch_jacobian(y, x), r"the same number of rows, got the shapes \(4,\) and \(3,\)"),
    ):
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = plain(x)
            z = gx.astype(x, "complex64")
        with pytest.raises((InvalidTypeError, InvalidArgumentError), match=message):
            call(tape, y, z)


def test_a_gradient_function_that_assigns_is_refused() -> None:
    calls = gx.Variable(0.0, name="calls")

    @gx.custom_gradient
    def counted(x: Any) -> Any:
        def gradient(upstream: Any) -> Any:
            if gx.sum(upstream) > 0:
                calls.assign_add(1.0)
            return upstream

        return x * 1.0, gradient

    with pytest.raises(UnimplementedError, match=r"the backward pass of a Jacobian assigns the Variable 'calls\w*'"):
        gx.jacobian(counted)(gx.asarray(X))


def test_what_a_gradient_does_not_depend_on_has_a_zero_that_is_not_computed() -> None:
    """The gradient of a linear op does not depend on the op's input: zero times an infinite factor would be NaN."""
    x = np.array([np.inf, 1.0, 2.0], np.float32)
    for function in (
        lambda lib, v: lib.sum(v * v),
        lambda lib, v: lib.sum(lib.where(v > 1.5, v * v, 3.0 * v)),
        lambda lib, v: lib.sum(lib.maximum(v * v, v)),
    ):
        expected = jax.hessian(lambda v, function=function: function(jnp, v))(x)
        for found in both(gx.hessian(lambda v, function=function: function(gx, v)), gx.asarray(x)):
            np.testing.assert_array_equal(found, expected)

    def third(v: gx.Tensor) -> tuple[Any, Any]:
        with gx.GradientTape() as outermost:
            outermost.watch(v)
            with gx.GradientTape() as outer:
                outer.watch(v)
                with gx.GradientTape() as inner:
                    inner.watch(v)
                    y = gx.sum(3.0 * v * v)
                first = inner.gradient(y, v)
            second = outer.gradient(first, v)
        return second, outermost.gradient(second, v)

    for second, none in both(third, gx.asarray(x)):
        assert second.tolist() == [6.0, 6.0, 6.0]
        assert none.tolist() == [0.0, 0.0, 0.0]
