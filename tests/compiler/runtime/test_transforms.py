"""Gradients, tangents and maps of what lies on several devices are those of one device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base import nest

X = gx.asarray([0.3, 0.7])
ROWS = gx.asarray([0.1, 0.5, 0.9, 0.3])


def loop(x: Any) -> Any:
    """Rolled, of a known number of iterations."""
    y = x
    for i in range(12):
        with gx.device("cpu:1"):
            y = gx.sin(y)
        y = y * 1.5 + i
    return y


def until(x: Any) -> Any:
    """As long as a condition holds."""
    y = x
    while gx.sum(y) < 20:
        with gx.device("cpu:2"):
            y = y * gx.cosh(x)
        y = y + 0.5
    return y


def branch(x: Any) -> Any:
    """Two ways, each over two devices."""
    if gx.sum(x) > 1.05:
        with gx.device("cpu:1"):
            y = x * x
        return y + gx.exp(x)
    with gx.device("cpu:2"):
        y = x * 3
    return y - 1


def rows(values: Any) -> Any:
    """A loop over rows that collects others."""
    last = gx.zeros(())
    found = []
    for value in values:
        with gx.device("cpu:1"):
            last = last * 0.5 + value * value
        last = gx.sin(last)
        found.append(last)
    return gx.stack(found)


@gx.custom_gradient
def doubled(x: Any) -> Any:
    with gx.device("cpu:1"):
        y = gx.sin(x)

    def gradient(upstream: Any) -> Any:
        with gx.device("cpu:3"):
            scaled = upstream * 3
        return scaled * y

    return y * 2, gradient


def custom(x: Any) -> Any:
    """A function with a gradient of its own, in a loop."""
    for _ in range(6):
        x = doubled(x) + 0.1
    return x


def total(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda x: gx.sum(function(x))


def gradient_of_gradient(function: Callable[..., Any], x: Any) -> Any:
    return gx.grad(lambda x: gx.sum(gx.grad(total(function))(x) ** 2))(x)


TRANSFORMS = {
    "gradient": lambda function, x: gx.value_and_grad(total(function))(x),
    "gradient of the gradient": gradient_of_gradient,
    "tangent": lambda function, x: gx.jvp(function, (x,), (x * 2,)),
    "jacobian": lambda function, x: gx.jacobian(function)(x),
    "hessian": lambda function, x: gx.hessian(total(function))(x),
}


def assert_same(found: Any, expected: Any) -> None:
    for a, b in zip(nest.flatten(found)[0], nest.flatten(expected)[0], strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-4)


CASES = [
    *(("gradient", function, x) for function, x in [(loop, X), (until, X), (branch, X), (branch, -X), (rows, ROWS)]),
    ("gradient of the gradient", loop, X),
    ("gradient of the gradient", custom, X),
    ("tangent", until, X),
    ("tangent", custom, X),
    ("jacobian", rows, ROWS),
    ("hessian", branch, X),
]


@pytest.mark.drawn(3)
@pytest.mark.parametrize(("name", "function", "x"), CASES)
def test_derivatives_over_several_devices(name: str, function: Callable[..., Any], x: Any) -> None:
    """Taken inside a compiled function, and of a compiled function from outside, they are those of eager code."""
    transform = TRANSFORMS[name]
    expected = transform(function, x)
    assert_same(gx.function(lambda x: transform(function, x))(x), expected)
    assert_same(transform(gx.function(function), x), expected)


@pytest.mark.parametrize("function", [until, branch, custom])
def test_rows_of_what_lies_on_several_devices(function: Callable[..., Any]) -> None:
    """Rows may take different branches, and need different numbers of iterations."""
    batch = gx.asarray([[0.3, 0.7], [1.9, 0.4], [0.6, 0.1]])

    def both(x: Any) -> Any:
        return function(x), gx.grad(total(function))(x)

    values, slopes = zip(*map(both, batch), strict=True)
    assert_same(gx.function(gx.vmap(both))(batch), [gx.stack(values), gx.stack(slopes)])


def test_rows_of_rows_go_on_until_none_needs_more() -> None:
    batch = gx.asarray([[0.3, 0.7], [1.9, 0.4], [0.6, 0.1]])
    expected = gx.stack([gx.stack([until(gx.stack([a, b])) for b in batch[:, 1]]) for a in batch[:, 0]])
    pairs = gx.vmap(lambda a: gx.vmap(lambda b: until(gx.stack([a, b])))(batch[:, 1]))
    assert_same(gx.function(pairs)(batch[:, 0]), expected)


def test_gradients_are_where_their_tensors_are() -> None:
    with gx.device("cpu:1"):
        weight = gx.Variable([1.0, 2.0])
    bias = gx.Variable(0.5)
    said: list[float] = []

    @gx.function
    def step(x: Any) -> Any:
        y = x
        for i in range(12):
            with gx.device("cpu:1"):
                y = gx.tanh(y * weight)
            y = y + bias
            if i == 3:
                gx.pyfunc(lambda value: said.append(float(value)), None, gx.sum(y))
        return gx.sum(y)

    with gx.device("cpu:3"):
        x = X + 0
    with gx.GradientTape() as tape:
        tape.watch(x)
        loss = step(x)
    found = tape.gradient(loss, [x, weight, bias])
    assert [gradient.device for gradient in found] == ["/device:CPU:3", "/device:CPU:1", "/device:CPU:0"]
    assert len(said) == 1, "what the forward pass does to the world is done once"
    with gx.GradientTape() as tape:
        tape.watch(x)
        loss = step.python_function(x)
    assert_same(found, tape.gradient(loss, [x, weight, bias]))


def test_no_gradient_flows_from_what_is_read_to_what_was_assigned() -> None:
    with gx.device("cpu:1"):
        state = gx.Variable(2.0, trainable=False)

    def step(x: Any) -> Any:
        with gx.device("cpu:2"):
            y = x * 3
        state.assign(y)
        return y * state

    def slope(function: Callable[..., Any]) -> Any:
        x = gx.asarray(1.5)
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    assert_same(slope(gx.function(step)), slope(step))
    assert state.item() == 4.5


def test_a_call_that_fails_under_a_tape_raises_what_python_raises() -> None:
    def fail(value: Any) -> Any:
        raise KeyError("no", float(value))

    @gx.function
    def step(x: Any) -> Any:
        with gx.device("cpu:1"):
            y = x * 3
        if y > 5:
            raise ValueError("large", y)
        return gx.pyfunc(fail, gx.TensorSpec((), "float32"), y)

    with gx.GradientTape(), pytest.raises(ValueError, match="large"):
        step(gx.asarray(2.0))
    with gx.GradientTape(), pytest.raises(KeyError, match="no"):
        step(gx.asarray(1.0))


def test_a_pinned_body_on_one_device_is_one_program_there() -> None:
    @gx.function
    def mapped(x: Any) -> Any:
        with gx.device("cpu:2"):
            return gx.sin(x) * 2

    with gx.GradientTape() as tape:
        tape.watch(X)
        y = mapped(X)
    assert y.device == "/device:CPU:2"
    assert_same(tape.gradient(y, X), gx.cos(X) * 2)
