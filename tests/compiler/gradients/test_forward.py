"""Derivatives along directions, against JAX and numerical differences."""

from __future__ import annotations

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

X, T = np.array([0.5, 1.5, 2.5], np.float32), np.array([1.0, 0.0, -0.5], np.float32)


def both(function: Callable[..., Any], *args: Any) -> list[Any]:
    return [function(*args), gx.function(function)(*args)]


def smooth(x: Any, y: Any) -> Any:
    return gx.sin(x) * y + gx.sum(x * x)


def test_jvp_is_jaxs() -> None:
    value, tangent = jax.jvp(lambda x, y: jnp.sin(x) * y + jnp.sum(x * x), (X, X[0]), (T, T[2]))
    for found in both(lambda *given: gx.jvp(smooth, given[:2], given[2:]), *map(gx.asarray, (X, X[0], T, T[2]))):
        np.testing.assert_allclose(found[0].numpy(), value, rtol=1e-6)
        np.testing.assert_allclose(found[1].numpy(), tangent, rtol=1e-5)


def test_linearize_is_jaxs() -> None:
    def f(x: Any, t: Any) -> Any:
        value, push = gx.linearize(smooth, x, 2.0)
        return value, push(t, 0.0), push(t * 2, 1.0)

    value, push = jax.linearize(lambda x, y: jnp.sin(x) * y + jnp.sum(x * x), X, 2.0)
    for found in both(f, gx.asarray(X), gx.asarray(T)):
        for part, wanted in zip(found, (value, push(T, 0.0), push(T * 2, 1.0)), strict=True):
            np.testing.assert_allclose(part.numpy(), wanted, rtol=1e-5)


def loops(x: Any) -> Any:
    total = gx.zeros(2)
    for i in range(12):
        total = total + x[:2] * x[2] ** i * 0.01
    for row in x:
        if row > 1.0:
            total = total + row * row
    steps = 0
    while gx.sum(total) < 40.0:
        total = total * total * 0.3 + x[1:]
        steps += 1
    return total, steps


def test_through_loops_whose_end_depends_on_data() -> None:
    step = 1e-3
    ends = [loops(gx.asarray(X + sign * step * T))[0].numpy() for sign in (1, -1)]
    found = both(lambda x, t: gx.jvp(loops, (x,), (t,)), gx.asarray(X), gx.asarray(T))
    for (value, steps), (tangent, none) in found:
        assert int(steps) == int(loops(gx.asarray(X))[1])
        assert none is None
        np.testing.assert_allclose(value.numpy(), loops(gx.asarray(X))[0].numpy(), rtol=1e-5)
        np.testing.assert_allclose(tangent.numpy(), (ends[0] - ends[1]) / (2 * step), rtol=0.02, atol=0.02)
    np.testing.assert_allclose(found[0][1][0].numpy(), found[1][1][0].numpy(), rtol=1e-4)


def test_a_compiled_loop_runs_forwards_only() -> None:
    def halve(x: Any) -> Any:
        while x > 1.0:
            x = x * 0.5
        return x

    f = gx.function(lambda x: gx.jvp(halve, (x,), (1.0,))[1])
    text = f.lower(gx.asarray(9.0)).as_text()
    assert text.count("stablehlo.while") == 1
    assert f(gx.asarray(9.0)).item() == 0.0625


def test_structures_and_auxiliary_results() -> None:
    def f(params: Any, x: Any) -> Any:
        return {"y": params["w"] * x, "n": gx.argmax(params["w"])}, [gx.sum(x), "text", params["b"]]

    def call(w: Any) -> Any:
        primals = ({"w": w, "b": 2.0}, [3.0][0])
        return gx.jvp(f, primals, [{"w": gx.ones(2), "b": 0.0}, 1.0], has_aux=True)

    for value, tangent, aux in both(call, gx.asarray([1.0, 5.0])):
        assert value["y"].tolist() == [3.0, 15.0]
        assert value["n"].item() == 1
        assert tangent["y"].tolist() == [4.0, 8.0]
        assert tangent["n"] is None
        assert [float(aux[0]), aux[1], float(aux[2])] == [3.0, "text", 2.0]


def test_what_does_not_depend_on_the_primals_has_a_tangent_of_zero() -> None:
    outside = gx.asarray([4.0, 5.0])
    for value, tangent in both(lambda x: gx.jvp(lambda x: (outside, x), (x,), (1.0,)), gx.asarray(2.0)):
        assert value[0].tolist() == [4.0, 5.0]
        assert tangent[0].tolist() == [0.0, 0.0]
        assert tangent[1].item() == 1.0


def test_variables_are_read_and_assigned() -> None:
    for call in (lambda function: function, gx.function):
        v = gx.Variable(3.0, name="v")

        def f(x: Any, v: Any = v) -> Any:
            v.assign_add(1.0)
            return v * x

        value, tangent = call(lambda x, f=f: gx.jvp(f, (x,), (1.0,)))(gx.asarray(2.0))
        assert (value.item(), tangent.item(), v.value().item()) == (8.0, 4.0, 4.0)
        by_value = call(lambda v=v: gx.jvp(lambda w: w * w, (v,), (1.0,)))()
        assert by_value[1].item() == 8.0


def squares(x: Any) -> Any:
    while x < 10.0:
        x = x * x
    return x


def test_with_gradients_in_any_order() -> None:
    x = gx.asarray(1.5)
    wanted = 8 * 7 * 1.5**6
    forward_over_reverse = lambda x: gx.jvp(gx.grad(squares), (x,), (1.0,))[1]  # noqa: E731
    reverse_over_forward = gx.grad(lambda x: gx.jvp(squares, (x,), (1.0,))[1])
    forward_over_forward = lambda x: gx.jvp(lambda y: gx.jvp(squares, (y,), (1.0,))[1], (x,), (1.0,))[1]  # noqa: E731
    for function in (forward_over_reverse, reverse_over_forward, forward_over_forward):
        for found in both(function, x):
            np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-5)

    @gx.function
    def compiled(x: Any) -> Any:
        return gx.jvp(squares, (x,), (1.0,))[1]

    np.testing.assert_allclose(gx.grad(compiled)(x).numpy(), wanted, rtol=1e-5)


def test_a_gradient_of_ones_own_is_the_derivative() -> None:
    @gx.custom_gradient
    def tripled(x: Any) -> Any:
        return x * x, lambda upstream: upstream * 3.0

    for _, tangent in both(lambda x: gx.jvp(tripled, (x,), (2.0,)), gx.asarray(5.0)):
        assert tangent.item() == 6.0


def test_exceptions_and_prints_happen_once(capfd: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print("x is", x)
        if x < 0:
            raise ValueError(f"{x} below zero")
        return x * x

    for call in (lambda x: gx.jvp(f, (x,), (1.0,)), gx.function(lambda x: gx.jvp(f, (x,), (1.0,)))):
        assert call(gx.asarray(3.0))[1].item() == 6.0
        assert capfd.readouterr().out == "x is 3.0\n"
        with pytest.raises(ValueError, match=r"-1.0 below zero"):
            call(gx.asarray(-1.0))
        assert capfd.readouterr().out == "x is -1.0\n"


def test_the_function_gets_copies() -> None:
    def f(x: Any) -> Any:
        x[0] = 7.0
        return x

    x = gx.asarray(X)
    for value, tangent in both(lambda x: gx.jvp(f, (x,), (gx.ones(3),)), x):
        assert value.tolist() == [7.0, 1.5, 2.5]
        assert tangent.tolist() == [0.0, 1.0, 1.0]
    assert x.tolist() == [0.5, 1.5, 2.5]


def test_tapes_see_no_more_than_the_values() -> None:
    x, w = gx.asarray(2.0), gx.Variable(3.0, name="w")
    with gx.GradientTape() as tape:
        value, tangent = gx.jvp(lambda x: w * x * x, (x,), (1.0,))
        total = value + tangent
    assert tape.gradient(total, w).item() == 8.0


@pytest.mark.parametrize(
    ("primals", "tangents", "kind", "message"),
    [
        (3.0, (1.0,), InvalidTypeError, "jvp: primals must be a tuple or list of arguments, got 3.0"),
        ((3.0,), 1.0, InvalidTypeError, "jvp: tangents must be a tuple or list of arguments, got 1.0"),
        ((3.0,), (1.0, 2.0), InvalidArgumentError, r"primals have the structure \(\*\), but tangents have \(\*, \*\)"),
        ((3,), (1.0,), InvalidTypeError, "jvp: an argument to differentiate must be floating, got the int 3"),
        ((X,), (T[:2],), InvalidArgumentError, r"a tangent of shape \(2,\) for a primal of shape \(3,\)"),
        ((X,), (T.astype(int),), InvalidTypeError, "a tangent of dtype int32 for a primal of dtype float32; convert"),
    ],
)
def test_mistakes_are_named(primals: Any, tangents: Any, kind: Any, message: str) -> None:
    def call() -> Any:
        return gx.jvp(lambda x: x, primals, tangents)

    for function in (call, gx.function(call)):
        with pytest.raises(kind, match=message) as raised:
            function()
        assert "return gx.jvp(lambda x: x, primals, tangents)" in str(raised.value)


def test_other_mistakes_are_named() -> None:
    with pytest.raises(InvalidTypeError, match=r"jvp: with has_aux=True the function must return \(value, aux\)"):
        gx.jvp(lambda x: x, (1.0,), (1.0,), has_aux=True)

    held: list[Any] = []

    @gx.function
    def stores(x: Any) -> Any:
        def f(x: Any) -> Any:
            held.append(x)
            return x

        return gx.jvp(f, (x,), (x,))

    with pytest.raises(UnimplementedError, match=r"in the function 'f' of gx.jvp changes an object from outside"):
        stores(gx.asarray(1.0))

    @gx.function
    def elsewhere(x: Any) -> Any:
        _, push = gx.linearize(gx.sin, x)
        while x < 9.0:
            x = x + push(x)
        return x

    with pytest.raises(FailedPreconditionError, match="outside the function or loop body"):
        elsewhere(gx.asarray(1.0))
