"""ForwardAccumulator: derivatives along directions of what is computed inside a scope."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError

MODES = pytest.mark.parametrize("mode", [lambda f: f, gx.function], ids=["eager", "compiled"])
X, DIRECTION = gx.asarray([1.0, 2.0, 3.0]), gx.asarray([0.5, -1.0, 2.0])


def curve(x: Any) -> Any:
    """A loop that ends by values, a branch and a product."""
    y = x
    while gx.sum(y * y) < 1000.0:
        y = y * 1.5 + gx.sin(x)
    if gx.sum(y) > 0.0:
        y = y * x
    return y


@MODES
@pytest.mark.parametrize("function", [lambda x: x * x + gx.exp(x), curve], ids=["ops", "loop"])
def test_it_is_jvp_of_the_function(mode: Callable[..., Any], function: Any) -> None:
    @mode
    def accumulated(x: Any, direction: Any) -> Any:
        with gx.ForwardAccumulator(x, direction) as accumulator:
            y = function(x)
            inside = accumulator.jvp(y)
        return inside, accumulator.jvp(y)

    _, expected = gx.jvp(function, (X,), (DIRECTION,))
    for found in accumulated(X, DIRECTION):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


@MODES
def test_variables_structures_and_what_does_not_depend_on_them(mode: Callable[..., Any]) -> None:
    w = gx.Variable(3.0)

    @mode
    def f(x: Any) -> Any:
        with gx.ForwardAccumulator({"w": w, "x": x}, {"w": gx.asarray(1.0), "x": gx.asarray(10.0)}) as accumulator:
            results = {"product": w * x, "free": gx.sin(gx.asarray(1.0)), "count": gx.argmax(x)}
        return accumulator.jvp(results), accumulator.jvp(results, unconnected_gradients="zero"), accumulator.jvp(x)

    none, zero, own = f(gx.asarray(2.0))
    assert none["product"].item() == zero["product"].item() == 32.0
    assert none["free"] is none["count"] is None
    assert zero["free"].item() == zero["count"].item() == 0
    assert own.item() == 10.0


@MODES
def test_one_inside_another_gives_second_derivatives(mode: Callable[..., Any]) -> None:
    @mode
    def f(x: Any) -> Any:
        one = gx.ones_like(x)
        with gx.ForwardAccumulator(x, one) as outer:
            with gx.ForwardAccumulator(x, one) as inner:
                y = x**3
            first = inner.jvp(y)
        return first, outer.jvp(first)

    first, second = f(gx.asarray(2.0))
    assert first.item() == pytest.approx(12.0)
    assert second.item() == pytest.approx(12.0)


@MODES
def test_forward_over_reverse_is_a_product_with_the_hessian(mode: Callable[..., Any]) -> None:
    @mode
    def f(x: Any, direction: Any) -> Any:
        with gx.ForwardAccumulator(x, direction) as accumulator:
            with gx.GradientTape() as tape:
                tape.watch(x)
                y = gx.sum(x**3)
            slope = tape.gradient(y, x)
        return accumulator.jvp(slope)

    np.testing.assert_allclose(f(X, DIRECTION), 6.0 * X.numpy() * DIRECTION.numpy(), rtol=1e-6)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidTypeError, match="ForwardAccumulator"):
        gx.ForwardAccumulator(gx.asarray([1, 2]), gx.asarray([1, 2]))
    with pytest.raises(
        InvalidArgumentError, match=r"ForwardAccumulator: a tangent of shape \(\) for a primal of shape"
    ):
        gx.ForwardAccumulator(X, gx.asarray(1.0))
    with pytest.raises(InvalidArgumentError, match="ForwardAccumulator: primals have the structure"):
        gx.ForwardAccumulator(X, (DIRECTION,))


def test_a_tensor_from_outside_has_no_tangent() -> None:
    outside = X * 2.0
    with gx.ForwardAccumulator(X, DIRECTION) as accumulator:
        pass
    assert accumulator.jvp(outside) is None
    assert accumulator.jvp(outside, unconnected_gradients="zero").tolist() == [0.0, 0.0, 0.0]
