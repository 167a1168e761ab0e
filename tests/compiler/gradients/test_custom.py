"""custom_gradient: eager, compiled, in loops, at second order."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from tests.compiler.gradients.agreement import assert_close, f, taped


@gx.custom_gradient
def log1pexp(x: Tensor) -> Any:
    e = gx.exp(x)
    return gx.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e))


@gx.custom_gradient
def reversed_gradient(x: Tensor) -> Any:
    return x * 1.0, lambda upstream: -upstream


@gx.custom_gradient
def product(x: Tensor, y: Tensor) -> Any:
    return (x * y, x + y), lambda first, second: (first * y * 10.0, second * 100.0)


WAYS = pytest.mark.parametrize("compiled", [False, True], ids=["eager", "compiled"])


def gradients(function: Any, compiled: bool) -> Any:
    return gx.function(taped(function)) if compiled else taped(function)


@WAYS
def test_the_given_gradient_is_used(compiled: bool) -> None:
    (found,) = gradients(lambda x: gx.sum(reversed_gradient(x) * 3), compiled)(f(1.0, 2.0))
    assert found.tolist() == [-3.0, -3.0]
    (stable,) = gradients(log1pexp, compiled)(f(100.0))
    assert stable.item() == 1.0


@WAYS
def test_several_arguments_and_outputs(compiled: bool) -> None:
    def function(x: Tensor, y: Tensor) -> Tensor:
        first, second = product(x, y)
        return first + second

    dx, dy = gradients(function, compiled)(f(3.0), f(5.0))
    assert (dx.item(), dy.item()) == (50.0, 100.0)


@WAYS
def test_an_output_that_is_not_used(compiled: bool) -> None:
    dx, dy = gradients(lambda x, y: product(x, y)[1], compiled)(f(3.0), f(5.0))
    assert (dx.item(), dy.item()) == (0.0, 100.0)


@WAYS
def test_second_order(compiled: bool) -> None:
    def inner(x: Tensor) -> Tensor:
        return taped(log1pexp)(x)[0]

    import math

    sigmoid = 1 / (1 + math.exp(-0.5))
    (found,) = gradients(inner, compiled)(f(0.5))
    assert_close(found, sigmoid * (1 - sigmoid))


def test_in_a_rolled_loop_that_is_differentiated() -> None:
    def function(x: Tensor) -> Tensor:
        for _ in range(7):
            x = reversed_gradient(x) * 2 + log1pexp(x) * 0
        return x

    for compiled in (False, True):
        (found,) = gradients(function, compiled)(f(0.5))
        assert_close(found, -(2.0**7))
    assert [loop.kind for loop in gx.function(function).trace(f(0.5)).loops] == ["rolled"]


def test_second_order_where_the_given_gradient_is_another_than_that_of_the_function() -> None:
    """Outputs have the given gradient; what the gradient function uses has that of what computed it."""

    @gx.custom_gradient
    def tripled(x: Any) -> Any:
        y = gx.sin(x)
        return y * 2, lambda upstream: upstream * 3 * y

    def slope(x: Any) -> Any:
        def repeated(x: Any) -> Any:
            for _ in range(3):
                x = tripled(x)
            return x

        return gx.grad(lambda x: gx.grad(repeated)(x))(x)

    expected = slope(gx.asarray(0.7)).item()
    assert gx.function(slope, unroll=True)(gx.asarray(0.7)).item() == pytest.approx(expected, rel=1e-5)
    assert gx.function(slope, unroll=False)(gx.asarray(0.7)).item() == pytest.approx(expected, rel=1e-5)


def test_orders_are_those_of_eager_code() -> None:
    @gx.custom_gradient
    def other(x: Tensor) -> Any:
        y = x * x * gx.sin(x)
        return y, lambda upstream: upstream * gx.exp(x) * y

    def of_order(order: int) -> Any:
        function: Any = lambda x: other(x) * x  # noqa: E731
        for _ in range(order):
            function = gx.grad(function)
        return function

    for order in (1, 2, 3):
        eager, compiled = of_order(order)(f(0.7)), gx.function(of_order(order))(f(0.7))
        assert compiled.item() == pytest.approx(eager.item(), rel=1e-5)


def test_the_function_calls_python_once() -> None:
    calls: list[float] = []

    def double(v: Any) -> Any:
        calls.append(float(v))
        return 2 * v

    @gx.custom_gradient
    def doubled(x: Tensor) -> Any:
        return gx.pyfunc(double, gx.TensorSpec(()), x), lambda upstream: upstream * 2

    def function(x: Tensor) -> Tensor:
        return doubled(x) * x

    for way in (taped(function), gx.function(taped(function)), taped(gx.function(function))):
        calls.clear()
        assert way(f(3.0))[0].item() == 12.0
        assert calls == [3.0]


def test_in_a_branch_and_over_rows() -> None:
    def function(x: Tensor) -> Tensor:
        total = gx.zeros(())
        for row in x:
            total = total + (reversed_gradient(row) if row > 0 else row)
        return total

    for compiled in (False, True):
        (found,) = gradients(function, compiled)(f(1.0, -1.0, 2.0))
        assert found.tolist() == [-1.0, 1.0, -1.0]


@WAYS
def test_what_the_function_closes_over_gets_no_gradient(compiled: bool) -> None:
    def function(x: Tensor, c: Tensor) -> Tensor:
        scaled = gx.custom_gradient(lambda v: (v * c, lambda upstream: upstream * c * 2))
        return scaled(x)

    dx, dc = gradients(function, compiled)(f(3.0), f(5.0))
    assert (dx.item(), dc.item()) == (10.0, 0.0)


@WAYS
def test_a_variable_inside(compiled: bool) -> None:
    v = gx.Variable(4.0)

    def function(x: Tensor) -> Tensor:
        return gx.custom_gradient(lambda u: (u * v, lambda upstream: upstream * v * 2))(x)

    assert gradients(function, compiled)(f(3.0))[0].item() == 8.0


def test_the_tape_around_a_compiled_function() -> None:
    (found,) = taped(gx.function(lambda x: reversed_gradient(x) * 3))(f(1.0))
    assert found.item() == -3.0


@WAYS
def test_control_flow_inside(compiled: bool) -> None:
    @gx.custom_gradient
    def clipped(x: Tensor) -> Any:
        y = gx.where(x > 1, x * 0 + 1, x)

        def pull(upstream: Tensor) -> Tensor:
            if upstream > 2:
                return upstream * 0 + 2
            return upstream

        return y, pull

    assert gradients(lambda x: clipped(x) * 5, compiled)(f(0.5))[0].item() == 2.0
    assert gradients(lambda x: clipped(x) * 1.5, compiled)(f(0.5))[0].item() == 1.5


@WAYS
def test_a_gradient_of_none_counts_as_zero(compiled: bool) -> None:
    @gx.custom_gradient
    def first_only(x: Tensor, y: Tensor) -> Any:
        return x + y, lambda upstream: (upstream, None)

    dx, dy = gradients(first_only, compiled)(f(1.0), f(2.0))
    assert (dx.item(), dy.item()) == (1.0, 0.0)


def test_the_value_and_its_name() -> None:
    assert log1pexp.__name__ == "log1pexp"
    assert_close(log1pexp(f(0.0)), 0.6931472)
    assert_close(log1pexp(0.0), 0.6931472)


@WAYS
@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: x * 2, r"must return \(outputs, gradient_function\)"),
        (lambda x: (x, x, x), r"must return \(outputs, gradient_function\)"),
        (lambda x: (x, 3.0), r"must return \(outputs, gradient_function\)"),
        (lambda x: (x * 2, lambda upstream: (upstream, upstream)), "returned 2 gradients for 1 arguments"),
    ],
)
def test_bad_input(function: Any, message: str, compiled: bool) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        gradients(gx.custom_gradient(function), compiled)(f(1.0))


@WAYS
def test_a_gradient_of_another_shape(compiled: bool) -> None:
    wrong = gx.custom_gradient(lambda x: (x * 2, lambda upstream: gx.ones(3)))
    with pytest.raises(InvalidArgumentError, match=r"shape"):
        gradients(wrong, compiled)(f(1.0))


def test_an_argument_that_is_no_tensor() -> None:
    with pytest.raises(InvalidTypeError, match="'x'"):
        log1pexp("x")
