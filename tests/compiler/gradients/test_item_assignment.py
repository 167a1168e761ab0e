"""Gradients through item assignment: eager, compiled, and around compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import UnimplementedError
from tests.compiler.gradients.agreement import assert_close, f, taped


def check(function: Callable[..., Tensor], reference: Callable[..., Any], *args: Tensor) -> None:
    """Asserts that the gradients agree with JAX's, whoever is compiled; each way gets tensors of its own."""
    expected = jax.grad(reference, argnums=tuple(range(len(args))))(*[arg.numpy() for arg in args])
    ways: Sequence[Callable[..., Any]] = (
        taped(function),
        gx.function(taped(function)),
        taped(gx.function(function)),
        gx.function(taped(gx.function(function))),
        gx.grad(function, argnums=tuple(range(len(args)))),
        gx.function(gx.grad(function, argnums=tuple(range(len(args))))),
    )
    for way in ways:
        for found, wanted in zip(way(*[arg.copy() for arg in args]), expected, strict=True):
            assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
            assert_close(found, wanted)


X, V = f(1.0, 2.0, -3.0, 4.0), f(5.0, -6.0)


def assigns(x: Any, v: Any) -> Any:
    x[1:3] = v * v
    x[0] *= x[1]
    return gx.sum(x * x * x)


def assigns_reference(x: Any, v: Any) -> Any:
    x = x.at[1:3].set(v * v)
    x = x.at[0].multiply(x[1])
    return jnp.sum(x * x * x)


def intermediate(x: Any, v: Any) -> Any:
    y = x * x
    y[0] = v[0] * y[3]
    y[y > 10] *= 0.5
    z = y * v[1]
    y[1] = 100.0
    return gx.sum(z * y)


def intermediate_reference(x: Any, v: Any) -> Any:
    y = x * x
    y = y.at[0].set(v[0] * y[3])
    y = jnp.where(y > 10, y * 0.5, y)
    z = y * v[1]
    y = y.at[1].set(100.0)
    return jnp.sum(z * y)


def positions(x: Any, v: Any) -> Any:
    x[gx.argmax(x)] = v[0]
    x[[0, 2]] += v
    y = gx.zeros((2, 4)) + x
    y[1] = x * v[1]
    y[:, 1] = v
    return gx.sum(y**2)


def positions_reference(x: Any, v: Any) -> Any:
    x = x.at[jnp.argmax(x)].set(v[0])
    x = x.at[jnp.array([0, 2])].add(v)
    y = jnp.zeros((2, 4)) + x
    y = y.at[1].set(x * v[1]).at[:, 1].set(v)
    return jnp.sum(y**2)


def loops(x: Any, v: Any) -> Any:
    y = gx.zeros(12)
    for i in range(1, 12):
        y[i] = y[i - 1] * 0.5 + x[i % 4] * v[0]
        if y[i] > 3:
            x[1] *= 0.9
    return gx.sum(y * y) + x[1] * v[1]


def loops_reference(x: Any, v: Any) -> Any:
    y = jnp.zeros(12)
    for i in range(1, 12):
        y = y.at[i].set(y[i - 1] * 0.5 + x[i % 4] * v[0])
        x = jnp.where(y[i] > 3, x.at[1].multiply(0.9), x)
    return jnp.sum(y * y) + x[1] * v[1]


def roots(x: Any, v: Any) -> Any:
    x[x > 0] **= 0.5
    return gx.sum(x * v[0])


def roots_reference(x: Any, v: Any) -> Any:
    return jnp.sum(jnp.where(x > 0, jnp.where(x > 0, x, 1.0) ** 0.5, x) * v[0])


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (assigns, assigns_reference),
        (intermediate, intermediate_reference),
        (positions, positions_reference),
        (loops, loops_reference),
        (roots, roots_reference),
    ],
    ids=lambda function: function.__name__,
)
def test_gradients_agree_with_jax(function: Any, reference: Any) -> None:
    check(function, reference, X, V)


def both(function: Any) -> Any:
    """Runs a test's body eagerly and compiled."""
    return pytest.mark.parametrize("run", [function, gx.function(function)], ids=["eager", "compiled"])


# --- which value of a tensor a gradient is taken with respect to


def watched_then_assigned(x: Any) -> Any:
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        x[0] = 0.0
        z = x * x
    return tape.gradient(y, x), tape.gradient(z, x), tape.gradient([y, z], x)


@both(watched_then_assigned)
def test_with_respect_to_the_value_that_was_watched(run: Any) -> None:
    first, second, together = run(f(1, 2, 3))
    assert first.tolist() == [2.0, 4.0, 6.0]
    assert second.tolist() == [0.0, 4.0, 6.0]
    assert together.tolist() == [2.0, 8.0, 12.0]


def unwatched_intermediate(x: Any) -> Any:
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 2
        before = gx.sum(y * y)
        y[0] = 10.0
        after = gx.sum(y * y * y)
    return tape.gradient(after, y), tape.gradient(before, y, unconnected_gradients="zero"), tape.gradient(after, x)


@both(unwatched_intermediate)
def test_with_respect_to_the_current_value_of_an_intermediate(run: Any) -> None:
    after, before, whole = run(f(1, 2))
    assert after.tolist() == [300.0, 48.0]
    assert before.tolist() == [0.0, 0.0]
    assert whole.tolist() == [0.0, 96.0]


def assigned_after_the_tape(x: Any) -> Any:
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
        z = y * x
    x[0], y[0] = 100.0, 100.0
    return tape.gradient(z, x), tape.gradient(z, y)


@both(assigned_after_the_tape)
def test_a_recorded_step_keeps_the_values_that_it_saw(run: Any) -> None:
    gradient, gone = run(f(1, 2))
    assert gradient.tolist() == [3.0, 12.0]
    assert gone is None


def watched_again(x: Any) -> Any:
    with gx.GradientTape() as tape:
        tape.watch(x)
        x[0] = 3.0
        tape.watch(x)
        y = x * x
    return tape.gradient(y, x)


@both(watched_again)
def test_the_last_watch_counts(run: Any) -> None:
    assert run(f(1, 2)).tolist() == [6.0, 4.0]


def itself(x: Any) -> Any:
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        same = tape.gradient(x, x)
        x[0] = x[1] * 3
    return same, tape.gradient(x, x)


@both(itself)
def test_a_target_is_taken_as_it_is_now(run: Any) -> None:
    before, after = run(f(1, 2))
    assert before.tolist() == [1.0, 1.0]
    assert after.tolist() == [0.0, 4.0]


def second_order(x: Any) -> Any:
    with gx.GradientTape() as outer:
        outer.watch(x)
        with gx.GradientTape() as inner:
            inner.watch(x)
            y = x * x
            y[0] = x[0] ** 3
            x[1] = 1.0
            z = gx.sum(y * x)
        first = inner.gradient(z, x)
        total = gx.sum(first * first)
    return first, outer.gradient(total, x)


@both(second_order)
def test_higher_orders(run: Any) -> None:
    def value(x: Any) -> Any:
        y = (x * x).at[0].set(x[0] ** 3)
        return jnp.sum(y * x.at[1].set(1.0))

    x = np.array([2.0, 3.0], np.float32)
    first, second = run(f(*x))
    assert_close(first, jax.grad(value)(x))
    assert_close(second, jax.grad(lambda x: jnp.sum(jax.grad(value)(x) ** 2))(x))


# --- compiled functions under a tape


@gx.function
def normalise(x: Any) -> Any:
    x[0] = x[1] * x[2]
    return gx.sum(x)


def test_what_is_computed_from_an_argument_that_was_written_back() -> None:
    x = f(1, 2, 3)
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        total = normalise(x)
        y = gx.sum(x * x)
    assert x.tolist() == [6.0, 2.0, 3.0]
    assert tape.gradient(total, x).tolist() == [0.0, 4.0, 3.0]
    assert tape.gradient(y, x).tolist() == [0.0, 40.0, 30.0]

    z = f(1, 2, 3)
    with gx.GradientTape() as tape:
        tape.watch(z)
        w = z * 2
        normalise(w)
        y = gx.sum(w * w)
    assert tape.gradient(y, [z, w])[0].tolist() == [0.0, 592.0, 408.0]


def through_two_calls(x: Any) -> Any:
    with gx.GradientTape() as tape:
        tape.watch(x)
        normalise(x)
        normalise(x)
        y = x[0] * x[0]
    return tape.gradient(y, x)


@pytest.mark.parametrize(
    "run", [through_two_calls, gx.function(through_two_calls)], ids=["compiled functions under a tape", "all compiled"]
)
def test_one_call_after_another(run: Any) -> None:
    x = f(1, 2, 3)
    assert run(x).tolist() == [0.0, 36.0, 24.0]
    assert x.tolist() == [6.0, 2.0, 3.0]


def test_a_captured_tensor_is_watched_as_it_is_at_each_call() -> None:
    outside = f(1, 2)

    @gx.function
    def gradient(x: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(outside)
            y = gx.sum(outside * outside * x)
        return tape.gradient(y, outside)

    assert gradient(f(1, 1)).tolist() == [2.0, 4.0]
    outside[0] = 10.0
    assert gradient(f(1, 1)).tolist() == [20.0, 4.0]


# --- variables


def test_a_variable_is_assigned_as_by_assign() -> None:
    variable = gx.Variable([1.0, 2.0])

    def step(x: Any) -> Any:
        with gx.GradientTape() as tape:
            y = gx.sum(variable * variable * x)
        gradient = tape.gradient(y, variable)
        variable[0] = x[1]
        return gradient

    found = []
    for run in (step, gx.function(step)):
        variable.assign([1.0, 2.0])
        found.append([run(f(1, 5)).tolist(), variable.tolist(), run(f(1, 5)).tolist()])
    assert found[0] == found[1] == [[2.0, 20.0], [5.0, 2.0], [10.0, 20.0]]


def read_value(x: Any) -> Any:
    variable = VARIABLE
    with gx.GradientTape() as tape:
        value = variable.value()
        value[0] = x
        y = gx.sum(value * value)
    return tape.gradient(y, variable)


VARIABLE = gx.Variable([3.0, 4.0])


@both(read_value)
def test_a_value_read_from_a_variable(run: Any) -> None:
    assert run(f(9.0)).tolist() == [0.0, 8.0]


# --- functions with gradients of their own, and gradients of functions


@gx.custom_gradient
def clipped(x: Any) -> Any:
    x[0] = 0.0

    def pull(upstream: Any) -> Any:
        upstream[1] = 100.0
        return upstream * x

    return x * 2, pull


def uses_clipped(x: Any) -> Any:
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = clipped(x)
        z = y * 1.0
    return y, tape.gradient(z, x), x * 1


@both(uses_clipped)
def test_a_custom_gradient_works_on_copies(run: Any) -> None:
    y, gradient, x = run(f(5, 6, 7))
    assert y.tolist() == [0.0, 12.0, 14.0]
    assert gradient.tolist() == [0.0, 600.0, 7.0]
    assert x.tolist() == [5.0, 6.0, 7.0]


def test_a_custom_gradient_that_changes_what_is_outside() -> None:
    def outer(x: Any) -> Any:
        total = x * 1

        @gx.custom_gradient
        def scaled(y: Any) -> Any:
            total[0] = y[0]
            return y * 2, lambda upstream: upstream

        return scaled(x) + total

    assert outer(f(1, 2)).tolist() == [3.0, 6.0]
    with pytest.raises(
        UnimplementedError, match=r"(?s)items of a tensor in the custom-gradient function 'scaled' .*total\[0\] = y"
    ):
        gx.function(outer)(f(1, 2))


def test_grad_passes_copies_of_what_it_differentiates() -> None:
    def value(x: Any, y: Any) -> Any:
        x[0] = 0.0
        y[0] = 1.0
        return gx.sum(x * x)

    for way in (gx.value_and_grad(value), gx.value_and_grad(gx.function(value))):
        x, y = f(1, 2), f(0, 0)
        found, gradient = way(x, y)
        assert (found.item(), gradient.tolist()) == (4.0, [0.0, 4.0])
        assert (x.tolist(), y.tolist()) == ([1.0, 2.0], [1.0, 0.0])


# --- gradients are tensors of their own


def shares(x: Any) -> Any:
    upstream = x * 1
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x + 0.0
    first, second = tape.gradient(y, [y, y], upstream)
    first[0] = 50.0
    return first, second, upstream


@both(shares)
def test_gradients_do_not_share_items(run: Any) -> None:
    first, second, upstream = run(f(1, 2))
    assert first.tolist() == [50.0, 2.0]
    assert second.tolist() == upstream.tolist() == [1.0, 2.0]


def test_a_target_that_was_assigned_outside_the_tape() -> None:
    def run(x: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = x * 2
        y[0] = 1.0
        return tape.gradient(y, x)

    for way in (run, gx.function(run)):
        assert way(f(1, 2)) is None


def test_the_keys_of_a_tape_are_not_used_again() -> None:
    x = f(1, 2)
    with gx.GradientTape(persistent=True) as tape:
        tape.watch(x)
        for _ in range(50):  # each assignment drops a value that the tape knew
            x[0] = x[1] * 2
            y = x * 1
        fresh = [gx.ones(2) * 3 for _ in range(50)]
    assert all(tape.gradient(other, x) is None for other in fresh)
    assert tape.gradient(y, x).tolist() == [0.0, 3.0]


def test_a_tape_holds_no_values_after_its_gradient() -> None:
    x = f(1, 2)
    with gx.GradientTape() as tape:
        tape.watch(x)
        x[0] = 3.0
        y = x * x
    tape.gradient(y, x)
    assert (tape._records, tape._connected, tape._given) == ([], {}, {})
