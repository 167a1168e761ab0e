"""Gradients of gradients of loops and branches: equal to JAX's, in as many loops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx

W = np.asarray([[0.3, -0.2], [0.5, 0.1]], np.float32)
X = np.asarray([0.4, -0.9], np.float32)
V = np.asarray([[1.0, 2.0], [-0.5, 0.3]], np.float32)


def rolled(x: Any, w: Any) -> Any:
    for _ in range(12):
        x = gx.tanh(w @ x) + 0.1 * x
    return x


def rolled_by_hand(x: Any, w: Any) -> Any:
    return jax.lax.fori_loop(0, 12, lambda _, x: jnp.tanh(w @ x) + 0.1 * x, x)


def until(x: Any, w: Any) -> Any:
    while gx.sum(x * x) < 50.0:
        x = gx.sin(w @ x) + 1.5 * x
    return x


def until_by_hand(x: Any, w: Any) -> Any:
    def step(x: Any, _: Any) -> Any:
        return jnp.where(jnp.sum(x * x) < 50.0, jnp.sin(w @ x) + 1.5 * x, x), None

    return jax.lax.scan(step, x, None, length=20)[0]


def chosen(x: Any, w: Any) -> Any:
    if gx.sum(x) < 0:
        x = gx.sin(w @ x) ** 2
    else:
        x = gx.cos(w @ x)
    return x


def chosen_by_hand(x: Any, w: Any) -> Any:
    return jax.lax.cond(jnp.sum(x) < 0, lambda: jnp.sin(w @ x) ** 2, lambda: jnp.cos(w @ x))


PAIRS = [(rolled, rolled_by_hand), (until, until_by_hand), (chosen, chosen_by_hand)]

Grad = Callable[..., Any]


def hessian_product(grad: Grad, xp: Any, f: Any, x: Any, w: Any, v: Any) -> Any:
    return grad(lambda w: xp.sum(grad(lambda w: xp.mean(f(x, w) ** 2))(w) * v))(w)


def by_both(grad: Grad, xp: Any, f: Any, x: Any, w: Any, v: Any) -> Any:
    """The cotangents of the first gradient depend on w too, and so do other addends."""

    def penalty(x: Any, w: Any) -> Any:
        gx, gw = grad(lambda x, w: xp.sum(f(x, w) ** 3) + xp.sum(w**4), (0, 1))(x, w)
        return xp.sum(gx * gx) + xp.sum(gw * v) + xp.sum(f(x, w) * w[0])

    return grad(penalty, (0, 1))(x, w)


def of_two(grad: Grad, xp: Any, f: Any, x: Any, w: Any, v: Any) -> Any:
    """Two gradients of one loop, for different outputs of it."""

    def product(w: Any) -> Any:
        one = grad(lambda w: f(x, w)[0])(w)
        other = grad(lambda w: xp.sum(f(x, w) * f(x, w)[1]))(w)
        return xp.sum(one * other * v)

    return grad(product)(w)


def linear(grad: Grad, xp: Any, f: Any, x: Any, w: Any, v: Any) -> Any:
    """The gradient with respect to the cotangents alone is a Jacobian-vector product."""
    return grad(lambda c: xp.sum(grad(lambda w: xp.sum(f(x, w) * c))(w) * v))(x)


def separate(grad: Grad, xp: Any, f: Any, x: Any, w: Any, v: Any) -> Any:
    """What flows through the first gradient is not added to what flows through the outputs."""
    second = grad(lambda w: xp.sum(grad(lambda w: xp.sum(f(x, w)))(w) * v))(w)
    return second, grad(lambda w: xp.sum(f(x, w)))(w)


def third(grad: Grad, xp: Any, f: Any, x: Any, w: Any, v: Any) -> Any:
    return grad(lambda w: xp.sum(hessian_product(grad, xp, f, x, w, v) * v))(w)


@pytest.mark.drawn(3)
@pytest.mark.parametrize("program", [hessian_product, by_both, of_two, linear, separate, third])
@pytest.mark.parametrize(("ours", "by_hand"), PAIRS, ids=[ours.__name__ for ours, _ in PAIRS])
def test_it_is_jaxs_gradient(program: Any, ours: Any, by_hand: Any) -> None:
    @gx.function
    def compiled(x: Any, w: Any, v: Any) -> Any:
        return program(gx.grad, gx, ours, x, w, v)

    found = compiled(*map(gx.asarray, (X, W, V)))
    expected = jax.jit(lambda x, w, v: program(jax.grad, jnp, by_hand, x, w, v))(X, W, V)
    for one, other in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(np.asarray(one), other, rtol=2e-3, atol=2e-3 * np.max(np.abs(other)))


@pytest.mark.parametrize(("program", "loops"), [(hessian_product, 4), (by_both, 6), (linear, 2)])
def test_it_has_as_many_loops_as_jaxs(program: Any, loops: int) -> None:
    @gx.function
    def compiled(x: Any, w: Any, v: Any) -> Any:
        return program(gx.grad, gx, rolled, x, w, v)

    text = compiled.lower(*map(gx.asarray, (X, W, V))).as_text()
    by_hand = jax.jit(lambda x, w, v: program(jax.grad, jnp, rolled_by_hand, x, w, v)).lower(X, W, V).as_text()
    assert text.count("stablehlo.while") <= by_hand.count("stablehlo.while") == loops
