"""What the structure of a JAX program says about its derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from graphc.compiler.ops.derivatives.modes import dependence, has_custom_vjp
from graphc.compiler.ops.derivatives.reverse_while import while_loop


@jax.custom_vjp
def scaled(x: Any, y: Any) -> Any:
    return x * 2


scaled.defvjp(lambda x, y: (scaled(x, y), None), lambda _, cotangent: (cotangent * 3, cotangent * 0))

FUNCTIONS: list[tuple[Callable[..., Any], list[list[int]]]] = [
    (lambda x, y, n: (y, x, 1.0, n), [[1], [0], [], []]),
    (lambda x, y, n: (x * n, jnp.where(y > 0, x, 1.0)), [[0], [0]]),
    (lambda x, y, n: (x + y.astype(int).astype(float), lax.stop_gradient(x) * y), [[0], [1]]),
    (lambda x, y, n: jax.jit(lambda a, b: (b, a))(x, y), [[1], [0]]),
    (lambda x, y, n: lax.cond(x > 0, lambda: (x, y), lambda: (x * 2, x)), [[0], [0, 1]]),
    (lambda x, y, n: lax.switch(n, [lambda: (x, 1.0), lambda: (2.0, y)]), [[0], [1]]),
    (lambda x, y, n: lax.while_loop(lambda c: c[0] < y, lambda c: (c[0] + x, c[1]), (1.0, y)), [[0], [1]]),
    (lambda x, y, n: lax.while_loop(lambda c: c[0] < n, lambda c: (c[0] + 1, c[2], x), (0, y, 1.0)), [[], [0, 1], [0]]),
    (lambda x, y, n: lax.scan(lambda c, row: ((c[1], row), c[0]), (x, 1.0), jnp.stack([y, y])), [[0, 1], [1], [0, 1]]),
    (lambda x, y, n: scaled(x, y), [[0, 1]]),
]


@pytest.mark.parametrize(("function", "expected"), FUNCTIONS)
def test_dependence(function: Callable[..., Any], expected: list[list[int]]) -> None:
    program = jax.make_jaxpr(function)(1.0, 2.0, 3)
    assert [sorted(inputs) for inputs in dependence(program.jaxpr)] == expected


@pytest.mark.parametrize("wrap", [lambda f: f, jax.jit, lambda f: lambda x: lax.cond(x > 0, f, lambda x: x, x)])
def test_a_pullback_of_ones_own_is_found_wherever_it_is(wrap: Callable[..., Any]) -> None:
    def program(function: Callable[..., Any]) -> Any:
        return jax.make_jaxpr(wrap(function))(1.0).jaxpr

    assert has_custom_vjp(program(lambda x: scaled(x, x)))
    assert not has_custom_vjp(program(jnp.sin))
    assert not has_custom_vjp(program(lambda x: repeated(jnp.sin, x)))
    assert has_custom_vjp(program(lambda x: repeated(lambda x: scaled(x, x), x)))


def repeated(function: Callable[..., Any], x: Any) -> Any:
    return while_loop(lambda x, _: x < 3, lambda x, _: function(x), x, ())


def test_graphcs_own_loop_is_looked_into() -> None:
    def function(x: Any, y: Any, z: Any) -> Any:
        def gradient(x: Any, y: Any) -> Any:
            return while_loop(lambda c, _: c[0] < 3, lambda c, z: (c[0] * z, jnp.sin(c[0])), (x, y), z)[0]

        return gradient(x, y), jax.grad(gradient)(x, y)

    assert [sorted(inputs) for inputs in dependence(jax.make_jaxpr(function)(1.0, 2.0, 3.0).jaxpr)] == [[0, 2], [2]]
