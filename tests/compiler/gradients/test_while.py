"""Gradients through loops that end on data agree with the eager tape's and with JAX's, and with closed forms."""

from __future__ import annotations

import functools
import itertools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.ops.derivatives.modes import SLOTS
from tests.compiler.autograph.differential import kinds_of
from tests.compiler.gradients.agreement import assert_close, check, check_second_order, f, taped


def squared(x: Any) -> Any:
    while x < 100:
        x = x * x
    return x


@pytest.mark.parametrize("value", [200.0, 50.0, 3.0, 1.01])
def test_a_while(value: float) -> None:
    check(squared, squared, f(value))


def test_a_while_at_second_order() -> None:
    check_second_order(squared, squared, f(3.0))


@pytest.mark.drawn(3)
@pytest.mark.parametrize("ways", list(itertools.product((gx.grad, gx.jacfwd), repeat=3)))
def test_a_while_at_third_order_by_all_ways(ways: Any) -> None:
    derivative = functools.reduce(lambda function, way: way(function), ways, squared)
    assert_close(gx.function(derivative)(f(3.0)), 8 * 7 * 6 * 3.0**5)  # of x ** 8
    assert_close(gx.function(lambda x: gx.jvp(derivative, (x,), (x,))[1])(f(3.0)), 8 * 7 * 6 * 5 * 3.0**5)


def damped(x: Any, w: Any, n: Any) -> Any:
    steps = 0
    while steps < n:
        x = x * w + 0.001
        steps += 1
    return x


def damped_gradients(x: Tensor, w: Tensor, n: Tensor) -> Any:
    with gx.GradientTape() as tape:
        tape.watch([x, w])
        y = damped(x, w, n)
    return tape.gradient(y, [x, w], unconnected_gradients="zero")


COMPILED_GRADIENTS = gx.function(damped_gradients)


@pytest.mark.parametrize("trips", [0, 1, 2, SLOTS - 1, SLOTS, SLOTS + 1, SLOTS * SLOTS + 3, 5000])
def test_a_number_of_iterations_known_at_run_time(trips: int) -> None:
    """The closed form: x w^n + 0.001 (1 + w + ... + w^(n - 1))."""
    x, w = 2.0, 0.999
    powers = w ** np.arange(trips + 1)
    dw = x * trips * powers[trips - 1] if trips else 0.0
    dw += 0.001 * sum(k * w ** (k - 1) for k in range(1, trips))
    for way in (damped_gradients, COMPILED_GRADIENTS) if trips < 100 else (COMPILED_GRADIENTS,):
        found = way(f(x), f(w), gx.asarray(trips))
        assert_close([value.item() for value in found], [powers[trips], dw], 1e-3)


def newton(a: Any) -> Any:
    """The square root, to a tolerance."""
    x, step = a, a
    while abs(step) > 1e-6 * x:
        step = (x - a / x) / 2
        x = x - step
    return x


def test_newtons_iteration() -> None:
    for way in (taped(newton), gx.function(taped(newton)), taped(gx.function(newton))):
        for a in (2.0, 9.0, 1e4):
            (found,) = way(f(a))
            assert_close(found, 0.5 / np.sqrt(a))


def test_newtons_iteration_at_second_order() -> None:
    second = gx.function(gx.grad(gx.grad(newton)))
    assert_close(second(f(2.0)), -0.25 * 2.0**-1.5)
    assert_close(gx.grad(gx.grad(newton))(f(2.0)), -0.25 * 2.0**-1.5)


def test_a_norm_that_becomes_zero_is_no_trouble_where_only_the_test_reads_it() -> None:
    def root(a: Tensor) -> Tensor:
        x, length = a, gx.asarray(1.0)
        while length > 0:
            following = (x + a / x) / 2
            length = gx.sqrt((following - x) ** 2)
            x = following
        return x

    for way in (taped(root), gx.function(taped(root)), taped(gx.function(root))):
        assert way(f(4.0))[0].item() == 0.25


def test_several_values_of_several_dtypes() -> None:
    def function(x: Any, y: Any) -> Any:
        n, up = x * 0 + 1, x > 0
        count = 0
        while n < 50:
            if up:
                x = x + y.sum() / n
            else:
                x = x - n * 0.1
            y = y * 0.9
            n = n * 1.5
            up = x < 2
            count += 1
        return x * count + (y * y).sum() * n

    def in_jax(x: Any, y: Any) -> Any:
        return function(jnp.asarray(x), jnp.asarray(y))

    for value in (3.0, -3.0):
        check(function, in_jax, f(value), f(0.5, -1.5, 2.0))


def test_a_while_true_with_break_and_continue() -> None:
    def function(x: Any, w: Any) -> Any:
        k = 0
        while True:
            k = k + 1
            if x > 20:
                break
            if x < 1:
                x = x + 0.75
                continue
            x = x * w + k * 0.1
        return x * k

    for value in (0.1, 5.0, 30.0):
        check(function, function, f(value), f(1.3))


def test_a_for_with_break() -> None:
    def function(x: Any, w: Any) -> Any:
        for i in range(20):
            x = x * w + i
            if x > 30:
                break
        return x

    check(function, function, f(1.0), f(1.5))
    check(function, function, f(0.0), f(0.1))
    assert "while(" in str(gx.function(function).graph(f(1.0), f(1.5)))


def test_a_for_over_rows_with_an_early_return() -> None:
    def function(rows: Any, w: Any) -> Any:
        total = w * 0
        for row in rows:
            total = total * w + row
            if total > 4:
                return total * total
        return total

    rows = gx.asarray(np.linspace(0, 2, 9, dtype=np.float32))
    check(function, function, rows, f(0.9))
    check(function, function, rows, f(0.1))


def test_a_range_with_a_tensor_bound() -> None:
    def function(x: Tensor, n: Tensor) -> Tensor:
        for i in range(n):
            x = gx.sin(x) * 1.5 + i * 0.1
        return x

    def gradient(x: Tensor, n: Tensor) -> Tensor:
        return gx.grad(function)(x, n)

    def reference(x: Any) -> Any:
        for i in range(6):
            x = jnp.sin(x) * 1.5 + i * 0.1
        return x

    assert_close(gx.function(gradient)(f(0.4), gx.asarray(6)), jax.grad(reference)(0.4))


def test_closures_and_variables() -> None:
    w, c = gx.Variable(0.5), f(3.0)

    def gradients(x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            tape.watch([x, c])
            while gx.sum(x) < 10:
                x = x * (1 + w) + c
        return tape.gradient(x, [w, c])

    expected = [value.numpy() for value in gradients(f(0.5, 1.0))]
    assert_close([value.numpy() for value in gx.function(gradients)(f(0.5, 1.0))], expected)


def test_no_gradient_passes_from_one_iteration_to_the_next_through_a_variable() -> None:
    def gradient(v: gx.Variable, x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = x
            while y < 60:
                y = y + v * x
                v.assign(v * x)
        return tape.gradient(y, x), y

    eager = [value.item() for value in gradient(gx.Variable(1.0), f(2.0))]
    assert [value.item() for value in gx.function(gradient)(gx.Variable(1.0), f(2.0))] == eager


def test_nested_whiles() -> None:
    def function(x: Any, w: Any) -> Any:
        total = x * 0
        while total < 8:
            y = x
            while y < 3:
                y = y * w + 0.2
            total = total + y * x
            x = x * 0.9 + 0.1
        return total

    check(function, function, f(0.7), f(1.4))
    second = gx.function(gx.grad(gx.grad(function)))(f(0.7), f(1.4))
    assert_close(second, jax.grad(jax.grad(function))(jnp.float32(0.7), jnp.float32(1.4)))


def test_a_while_in_a_rolled_loop_and_the_other_way_round() -> None:
    def inside(x: Any, w: Any) -> Any:
        for i in range(7):
            while x < 2:
                x = x * w + 0.3
            x = x * 0.3 + i * 0.01
        return x

    def outside(x: Any, w: Any) -> Any:
        while x < 1e6:
            for i in range(7):
                x = x * w + i * 0.1
        return x

    assert kinds_of(inside, f(0.5), f(1.2)) == ["while", "rolled"]
    assert kinds_of(outside, f(0.5), f(1.2)) == ["rolled", "while"]
    check(inside, inside, f(0.5), f(1.2))
    check(outside, outside, f(0.5), f(1.2))


def test_a_while_in_a_branch() -> None:
    def function(x: Any) -> Any:
        if x > 0:
            while x < 50:
                x = x * x + 1
        else:
            x = x * 3
        return x

    check(function, function, f(0.5))
    check(function, function, f(-0.5))


def test_a_tape_in_a_while_under_a_tape() -> None:
    """Gradient descent until the slope is small, differentiated: its limit is the parameter."""

    def descend(target: Tensor) -> Tensor:
        x, slope = target * 0, target * 0 + 1
        while gx.abs(slope) > 1e-4:
            slope = gx.grad(lambda x: (x - target) ** 2 / 2)(x)
            x = x - 0.5 * slope
        return x

    check(descend, lambda target: target * (1 - 0.5**15), f(3.0))


def test_a_custom_gradient_in_a_while() -> None:
    @gx.custom_gradient
    def halved(x: Tensor) -> Any:
        return x * 1.0, lambda upstream: upstream * 0.5

    def function(x: Tensor) -> Tensor:
        while x < 100:
            x = halved(x * 3)
        return x

    for way in (taped(function), gx.function(taped(function)), taped(gx.function(function))):
        assert way(f(2.0))[0].item() == 1.5**4
    twice = gx.grad(gx.grad(lambda x: function(x) ** 2))
    assert_close(gx.function(twice)(f(2.0)), twice(f(2.0)))


def test_random_numbers_in_a_while() -> None:
    def function(x: Tensor) -> Tensor:
        while x < 20:
            x = x * (1 + gx.random.uniform(())) + 0.1
        return x

    results: list[float] = []
    for way in (taped(function), gx.function(taped(function)), taped(gx.function(function))):
        gx.random.seed(7)
        results.append(way(f(0.5))[0].item())
    assert_close(results, results[0])


def test_a_while_that_the_target_does_not_depend_on() -> None:
    def function(x: Tensor) -> Tensor:
        n = gx.asarray(0)
        while n < 5:
            n = n + 1
        return x * gx.astype(n, "float32")

    check(function, lambda x: x * 5, f(3.0))


@settings(max_examples=12, deadline=None)
@given(
    matrix=st.lists(st.floats(-0.5, 0.5, width=16), min_size=4, max_size=4),
    start=st.lists(st.floats(-1, 1, width=16), min_size=2, max_size=2),
    trips=st.integers(0, 70),
)
def test_random_affine_maps_under_tanh(matrix: list[float], start: list[float], trips: int) -> None:
    args = gx.asarray(np.reshape(matrix, (2, 2)).astype(np.float32)), gx.asarray(np.float32(start)), gx.asarray(trips)
    for eager, compiled in zip(_squashed(*args), SQUASHED(*args), strict=True):
        assert_close(compiled, eager)


def _squashed(matrix: Tensor, x: Tensor, trips: Tensor) -> Any:
    with gx.GradientTape() as tape:
        tape.watch([matrix, x])
        y, k = x, gx.asarray(0)
        while k < trips:
            y = gx.tanh(matrix @ y + y + 0.01)
            k = k + 1
        score = gx.sum(y * y)
    return tape.gradient(score, [matrix, x], unconnected_gradients="zero")


SQUASHED = gx.function(_squashed)


def test_what_a_loop_prints_it_prints_once(capsys: pytest.CaptureFixture[str]) -> None:
    def gradient(x: Tensor) -> Tensor:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = x
            while y < 100:
                print("y =", y)
                y = y * y
        return tape.gradient(y, x)

    for way in (gradient, gx.function(gradient)):
        assert way(f(3.0)).item() == 8 * 3.0**7
        assert capsys.readouterr().out.splitlines() == ["y = 3.0", "y = 9.0", "y = 81.0"]


def test_python_that_runs_in_the_loop_is_refused_since_it_would_run_again() -> None:
    @gx.function
    def gradient(x: Tensor) -> Tensor:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = x
            while y < 100:
                y = y * gx.pyfunc(lambda value: value.item() + 1, "float32", y)
        return tape.gradient(y, x)

    with pytest.raises(UnimplementedError, match="call pyfunc before a while loop, not in it") as caught:
        gradient(f(3.0))
    assert 'y = y * gx.pyfunc(lambda value: value.item() + 1, "float32", y)' in "".join(
        [str(caught.value), *caught.value.__notes__]
    )


def test_memory_does_not_grow_with_the_iterations() -> None:
    @gx.function
    def gradient(x: Tensor, n: Tensor) -> Tensor:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(n):
                y = gx.sin(y)
        return tape.gradient(y, x)

    x = gx.asarray(np.linspace(0, 1, 10_000, dtype=np.float32))
    memory = gradient.lower(x, gx.asarray(10_000)).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 1.2 * SLOTS * 4 * 10_000
    expected = jax.grad(lambda x: jnp.sum(jax.lax.fori_loop(0, 50, lambda _, x: jnp.sin(x), x)))(x.numpy())
    assert_close(gradient(x, gx.asarray(50)), expected)


def test_the_loop_runs_forwards_once() -> None:
    """The program of a tape has one loop for the value and one, with others inside, for the gradient."""

    @gx.function
    def both(x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = x
            while gx.sum(y) < 100:
                y = y * y + 1
        return y, tape.gradient(y, x)

    text = both.lower(f(1.0, 2.0)).as_text()
    body = text[text.index("@main") :]
    outermost = [line for line in body.splitlines() if line.startswith("    ") and line[4] == "%"]
    assert sum("stablehlo.while" in line for line in outermost) == 2
