"""Gradients through branches, loops, variables and compiled functions agree with JAX's."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import UnimplementedError
from tests.compiler.autograph.differential import kinds_of
from tests.compiler.gradients.agreement import assert_close, check, check_second_order, f, taped


@pytest.mark.parametrize("value", [2.0, -3.0])
def test_a_branch(value: float) -> None:
    def function(x: Tensor, y: Tensor) -> Tensor:
        if x > 0:
            z = x * x * y
        else:
            z = gx.sin(y) - x
        return z * 2

    def reference(x: Any, y: Any) -> Any:
        return lax.cond(x > 0, lambda: x * x * y, lambda: jnp.sin(y) - x) * 2

    check(function, reference, f(value), f(0.5))


@pytest.mark.parametrize("value", [2.0, -3.0])
def test_a_branch_at_second_order(value: float) -> None:
    check_second_order(
        lambda x: x**3 if x > 0 else gx.exp(x), lambda x: lax.cond(x > 0, lambda: x**3, lambda: jnp.exp(x)), f(value)
    )


@pytest.mark.parametrize("value", [2.0, -3.0])
def test_early_returns(value: float) -> None:
    def function(x: Tensor) -> Tensor:
        if x > 0:
            return x * 5
        y = x * x
        if y > 100:
            return y
        return y * y

    check(function, lambda x: jnp.where(x > 0, x * 5, x**4), f(value))


def loop(x: Tensor, w: Tensor) -> Tensor:
    for i in range(12):
        x = gx.tanh(x * w) + i * 0.1
    return gx.sum(x)


def loop_reference(x: Any, w: Any) -> Any:
    return jnp.sum(lax.fori_loop(0, 12, lambda i, c: jnp.tanh(c * w) + i * 0.1, x))


def test_a_rolled_loop() -> None:
    assert kinds_of(loop, f(0.1, 0.2), f(1.5)) == ["rolled"]
    check(loop, loop_reference, f(0.1, 0.2), f(1.5))


def test_a_rolled_loop_at_second_and_third_order() -> None:
    def function(w: Tensor) -> Tensor:
        x = w * 0 + 0.3
        for _ in range(7):
            x = x * w + gx.sin(x)
        return x

    def reference(w: Any) -> Any:
        return lax.fori_loop(0, 7, lambda _, x: x * w + jnp.sin(x), w * 0 + 0.3)

    assert kinds_of(function, f(0.9)) == ["rolled"]
    check_second_order(function, reference, f(0.9))
    third = gx.function(gx.grad(gx.grad(gx.grad(function))))
    assert_close(third(f(0.9)), jax.grad(jax.grad(jax.grad(reference)))(0.9), 1e-3)


def test_an_unrolled_loop() -> None:
    def function(x: Tensor) -> Tensor:
        scale = 1
        for i in range(6):
            scale = scale * 2
            x = x * x / scale + i
        return x

    def reference(x: Any) -> Any:
        for i in range(6):
            x = x * x / 2 ** (i + 1) + i
        return x

    check(function, reference, f(0.3))


def test_rows_of_a_tensor() -> None:
    def function(x: Tensor, w: Tensor) -> Tensor:
        h = gx.zeros(2)
        for row in x:
            h = gx.tanh(h * w + row)
        return gx.sum(h * h)

    def reference(x: Any, w: Any) -> Any:
        return jnp.sum(lax.scan(lambda h, row: (jnp.tanh(h * w + row), None), jnp.zeros(2), x)[0] ** 2)

    check(function, reference, gx.asarray(np.linspace(-1, 1, 12, dtype=np.float32).reshape(6, 2)), f(0.7))


def test_nested_loops_with_a_branch_inside() -> None:
    def function(x: Tensor, y: Tensor) -> Tensor:
        for i in range(6):
            for j in range(5):
                if x > 0.5:
                    x = x * 0.5 + y
                else:
                    x = x + y * y * (i + j)
        return x

    def reference(x: Any, y: Any) -> Any:
        for i in range(6):
            for j in range(5):
                x = jnp.where(x > 0.5, x * 0.5 + y, x + y * y * (i + j))
        return x

    check(function, reference, f(0.2), f(0.3))


def test_a_loop_that_updates_by_index() -> None:
    def function(x: Tensor) -> Tensor:
        y = gx.zeros(6)
        for i in range(6):
            y = y.at[i].set(x[i] * x[-1] * i)
        return gx.sum(y * y)

    def reference(x: Any) -> Any:
        return jnp.sum((x * x[-1] * jnp.arange(6)) ** 2)

    check(function, reference, f(1.0, 2.0, -1.0, 0.5, 3.0, -2.0))


def test_a_loop_with_integer_state_beside() -> None:
    def function(x: Tensor) -> Tensor:
        count = gx.asarray(0)
        for i in range(8):
            if x > 3:
                count = count + i
            x = x * 1.5
        return x * gx.astype(count, "float32")

    check(function, lambda x: x * 1.5**8 * 25.0, f(1.0))


def test_random_numbers_in_a_differentiated_loop() -> None:
    def function(x: Tensor) -> Tensor:
        for _ in range(6):
            x = x * gx.random.uniform(()) + 1
        return x

    results = []
    for way in (taped(function), gx.function(taped(function)), taped(gx.function(function))):
        gx.random.seed(7)
        results.append(way(f(2.0))[0].item())
    assert_close(results[1], results[0])
    assert_close(results[2], results[0])


# --- variables


def test_a_variable_that_a_loop_reads() -> None:
    w = gx.Variable(1.5)

    def gradient(x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            for _ in range(9):
                x = gx.sin(x * w)
        return tape.gradient(x, w)

    expected = jax.grad(lambda v: lax.fori_loop(0, 9, lambda _, c: jnp.sin(c * v), 0.4))(1.5)
    assert_close(gradient(f(0.4)), expected)
    assert_close(gx.function(gradient)(f(0.4)), expected)


def test_a_variable_that_a_branch_reads() -> None:
    w, v = gx.Variable(1.5), gx.Variable(2.0)

    def gradient(x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            y = x * w if x > 0 else x * v * v
        return tape.gradient(y, [w, v], unconnected_gradients="zero")

    for x, expected in ((3.0, (3.0, 0.0)), (-3.0, (0.0, -12.0))):
        for way in (gradient, gx.function(gradient)):
            assert [value.item() for value in way(f(x))] == list(expected)


def test_a_variable_read_before_in_and_after_a_loop() -> None:
    w = gx.Variable(1.1)

    def gradient(x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            x = x + w
            for _ in range(6):
                x = x * w
            x = x * w
        return tape.gradient(x, w)

    expected = jax.grad(lambda v: (0.5 + v) * v**7)(1.1)
    for way in (gradient, gx.function(gradient)):
        assert_close(way(f(0.5)), expected)


def test_a_variable_that_a_loop_assigns() -> None:
    def gradient(v: gx.Variable, x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            for _ in range(6):
                v.assign(v * 0.5)
                x = x * 2 + v
        return tape.gradient(x, x), x

    for way in (gradient, gx.function(gradient)):
        v = gx.Variable(64.0)
        way(v, f(1.0))
        assert v.numpy() == 1.0


def test_the_gradient_of_a_tensor_past_a_variable_that_the_loop_assigns() -> None:
    v = gx.Variable(0.0)

    def gradient(x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in range(6):
                v.assign(y * 0.5)
                y = y * 2 + v * 10
        return tape.gradient(y, x)

    eager = gradient(f(1.0)).item()
    assert eager == 64.0
    assert gx.function(gradient)(f(1.0)).item() == eager


def test_no_gradient_passes_from_one_iteration_to_the_next_through_a_variable() -> None:
    def gradient(v: gx.Variable, x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in gx.arange(6):
                y = y + v * x
                v.assign(v * x)
        return tape.gradient(y, x)

    eager = gradient(gx.Variable(1.0), f(2.0)).item()
    assert eager == 64.0
    assert gx.function(gradient)(gx.Variable(1.0), f(2.0)).item() == eager


def test_the_gradient_with_respect_to_a_variable_that_the_loop_assigns_is_refused() -> None:
    v = gx.Variable(1.0)

    @gx.function
    def gradient(x: Tensor) -> Any:
        with gx.GradientTape() as tape:
            for _ in range(6):
                x = x * v
                v.assign(v * 0.5)
        return tape.gradient(x, v)

    with pytest.raises(UnimplementedError, match=r"open the tape inside the loop body") as caught:
        gradient(f(1.0))
    assert "return tape.gradient(x, v)" in str(caught.value)
    assert v.numpy() == 1.0


def test_a_training_loop_with_the_tape_inside() -> None:
    def train(v: gx.Variable, x: Tensor) -> Tensor:
        loss = gx.zeros(())
        for _ in range(20):
            with gx.GradientTape() as tape:
                loss = gx.sum((v * x - 1) ** 2)
            v.assign_sub(0.1 * tape.gradient(loss, v))
        return loss

    results = []
    for way in (train, gx.function(train)):
        v = gx.Variable([0.0, 0.5])
        results.append((way(v, f(1.0, 2.0)).item(), v.numpy()))
    assert_close(results[0][0], results[1][0])
    assert_close(results[0][1], results[1][1])
    v = gx.Variable([0.0, 0.5])
    assert kinds_of(train, v, f(1.0, 2.0)) == ["rolled"]


def test_a_tape_in_a_while_and_in_a_branch() -> None:
    def descend(x: Tensor) -> Tensor:
        gradient = x
        while gx.abs(gradient) > 0.1:
            with gx.GradientTape() as tape:
                tape.watch(x)
                y = (x - 3) ** 2
            gradient = tape.gradient(y, x)
            x = x - 0.2 * gradient
        if x > 2:
            x = gx.grad(lambda v: v**3)(x)
        return x

    assert_close(descend(f(9.0)), gx.function(descend)(f(9.0)))


def test_the_forward_pass_may_be_a_loop_and_the_step_too() -> None:
    def inner(w: Tensor) -> Tensor:
        x = w
        for _ in range(6):
            x = gx.sin(x) * w
        return x

    def train(w: Tensor) -> Tensor:
        for _ in range(8):
            w = w - 0.1 * gx.grad(inner)(w)
        return w

    def reference(w: Any) -> Any:
        gradient = jax.grad(lambda v: lax.fori_loop(0, 6, lambda _, x: jnp.sin(x) * v, v))
        return lax.fori_loop(0, 8, lambda _, v: v - 0.1 * gradient(v), w)

    assert_close(gx.function(train)(f(0.8)), reference(0.8))
    assert_close(train(f(0.8)), reference(0.8))


def test_the_gradient_of_a_gradient_inside_a_loop() -> None:
    def penalty(w: Tensor) -> Tensor:
        total = w * 0
        for _ in range(6):
            total = total + gx.grad(lambda v: v**3)(w) ** 2
        return total

    check(penalty, lambda w: 6 * 9 * w**4, f(0.7))


# --- compiled functions under an eager tape


def test_closures_and_variables_of_a_compiled_function() -> None:
    w, c = gx.Variable(2.0), f(3.0)
    compiled = gx.function(lambda x: w * w * c * x)
    for _ in range(2):
        with gx.GradientTape() as tape:
            tape.watch([c])
            y = compiled(f(5.0))
        dw, dc = tape.gradient(y, [w, c])
        assert (dw.item(), dc.item()) == (60.0, 20.0)


def test_a_closure_computed_under_the_tape() -> None:
    x = f(3.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        c = x * x
        y = gx.function(lambda v: v * c)(x)
    assert tape.gradient(y, x).item() == 27.0


def test_a_compiled_function_that_assigns_a_variable_under_a_tape() -> None:
    count, w = gx.Variable(0.0), gx.Variable(2.0)

    @gx.function
    def compiled(x: Tensor) -> Tensor:
        count.assign_add(1.0)
        return x * w * count

    for step in (1.0, 2.0):
        with gx.GradientTape() as tape:
            y = compiled(f(5.0))
        assert tape.gradient(y, w).item() == 5.0 * step
        assert count.numpy() == step


def test_variables_and_structures_as_arguments() -> None:
    w = gx.Variable([1.0, 2.0])

    @gx.function
    def compiled(params: Any, x: Tensor) -> Any:
        return {"loss": gx.sum(params["w"] * params["w"] * x), "extra": (x, 3)}

    x = f(1.0, 10.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        result = compiled({"w": w}, x)
    dw, dx = tape.gradient(result["loss"], [w, x])
    assert dw.tolist() == [2.0, 40.0]
    assert dx.tolist() == [1.0, 4.0]


def test_second_order_over_a_compiled_function() -> None:
    w = gx.Variable(2.0)
    compiled = gx.function(lambda x: w**3 * gx.sin(x))
    x = f(0.5)
    with gx.GradientTape() as outer:
        outer.watch(x)
        with gx.GradientTape() as inner:
            y = compiled(x)
        dw = inner.gradient(y, w)
    ddw, dwdx = outer.gradient(dw, [w, x])
    assert_close(ddw, 12 * np.sin(0.5))
    assert_close(dwdx, 12 * np.cos(0.5))


def test_mixed_eager_and_compiled_code_under_one_tape() -> None:
    double = gx.function(lambda v: v * 2)
    x = f(3.0)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = double(gx.sin(double(x))) * x
    assert_close(tape.gradient(y, x), 2 * np.sin(6) + 4 * 3 * np.cos(6))


def test_integer_arguments_of_a_compiled_function() -> None:
    compiled = gx.function(lambda x, k: x * gx.astype(k, "float32"))
    x, k = f(3.0), gx.asarray(4)
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = compiled(x, k)
    assert tape.gradient(y, x).item() == 4.0


@pytest.mark.parametrize("place", ["around", "inside"])
def test_what_nothing_depends_on_has_no_gradient(place: str) -> None:
    """A tape that sees a loop, a branch or a call as one step gives None where eager code does, and not zeros."""
    used, unused, cut = gx.Variable(2.0), gx.Variable(3.0), gx.Variable(4.0)

    def function(x: Any) -> Any:
        y = x
        for _ in range(20):
            y = y * used + gx.stop_gradient(cut)
        if gx.sum(y) > 0:
            y = y * 2
        print(unused)
        return gx.sum(y)

    def gradients(function: Any) -> Any:
        x = gx.asarray([0.1, 0.2])
        with gx.GradientTape() as tape:
            tape.watch(x)
            loss = function(x)
        return tape.gradient(loss, [x, used, unused, cut])

    expected = gradients(function)
    found = gradients(gx.function(function)) if place == "around" else gx.function(lambda: gradients(function))()
    assert [gradient is None for gradient in found] == [gradient is None for gradient in expected]
    assert [gradient is None for gradient in found] == [False, False, True, True]
