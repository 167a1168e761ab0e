"""Lowering: one XLA program, donation, control flow, names and lines in the HLO, and no forward pass computed twice."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.ops.derivatives import differentiate

X = gx.asarray(np.linspace(-1, 1, 8, dtype=np.float32))


def hlo(function: Any, *args: Any) -> str:
    return function.lower(*args).compile().as_text()


def line_of(function: Callable[..., Any], text: str) -> int:
    """The line of the file in which ``text`` stands in the function's source."""
    lines, first = inspect.getsourcelines(function)
    return first + next(index for index, line in enumerate(lines) if text in line)


def test_hlo_carries_the_users_names_files_and_lines() -> None:
    def step(x: Any) -> Any:
        y = gx.tanh(x)  # first
        return gx.sum(
            gx.exp(y)  # second
        )

    function = gx.function(step)
    text = function.lower(X).as_text(debug_info=True)
    for op, mark in (("tanh", "# first"), ("exp", "# second")):
        assert re.search(rf"test_lowering\.py\":{line_of(step, mark)}:", text), op
    assert re.search(r'"jit\(step\)/tanh\S*/tanh', text)
    compiled = hlo(function, X)
    assert 'op_name="jit(step)/tanh' in compiled
    assert "HloModule jit_step" in compiled


def test_lines_inside_loops_and_branches() -> None:
    def step(x: Any, n: Any) -> Any:
        while n > 0:
            x = gx.sin(x)  # in the loop
            if x[0] > 0:
                x = gx.cos(x)  # in the branch
            n = n - 1
        return x

    text = gx.function(step).lower(X, gx.asarray(3)).as_text(debug_info=True)
    for mark in ("# in the loop", "# in the branch"):
        assert f'test_lowering.py":{line_of(step, mark)}:' in text


@pytest.mark.parametrize(
    ("loop", "op"),
    [("while", "stablehlo.while"), ("for", "stablehlo.while"), ("scan", "stablehlo.while"), ("if", "stablehlo.case")],
)
def test_control_flow_stays_control_flow(loop: str, op: str) -> None:
    def step(x: Any) -> Any:
        if loop == "while":
            while gx.sum(x) < 100:
                x = x * 2 + 1
        elif loop == "for":
            for _ in range(100):
                x = gx.sin(x) + 1
        elif loop == "scan":
            total = gx.zeros(())
            for row in x:
                total = total + row
            return total
        elif x[0] > 0:
            x = gx.cumsum(x)  # too much to be computed on both sides
        else:
            x = gx.cos(x)
        return x

    function = gx.function(step)
    text = function.lower(X).as_text()
    assert text.count(op) == 1
    np.testing.assert_allclose(function(X).numpy(), step(X).numpy(), rtol=1e-5)


def test_a_call_is_one_program_and_compiles_once() -> None:
    variable = gx.Variable(np.zeros(8, np.float32))

    @gx.function
    def step(x: Any) -> Any:
        for _ in range(50):
            x = gx.sin(x) + variable
        variable.assign_add(x)
        return x, gx.sum(x)

    compiles: list[str] = []

    def listen(event: str, duration: float, **details: Any) -> None:
        if event == "/jax/core/compile/backend_compile_duration":
            compiles.append(event)

    step.trace(X)
    jax.monitoring.register_event_duration_secs_listener(listen)
    try:
        for _ in range(3):
            step(X)
        assert len(compiles) == 1
    finally:
        jax.monitoring.unregister_event_duration_listener(listen)
    assert hlo(step, X).count("ENTRY") == 1


def test_written_variables_are_donated_and_others_are_not() -> None:
    written, read = gx.Variable(np.zeros(8, np.float32)), gx.Variable(np.ones(8, np.float32))

    @gx.function
    def step(x: Any) -> Any:
        written.assign(written * 2 + read + x)
        return gx.sum(x)

    text = step.lower(X).as_text()
    arguments = re.search(r"func\.func public @main\((.*?)\) ->", text, re.DOTALL)
    assert arguments is not None
    assert [("tf.aliasing_output" in part) for part in arguments[1].split("%arg")[1:]] == [True, False, False]
    assert "input_output_alias={ {1}: (0, {}, may-alias) }" in hlo(step, X)


def test_a_variable_read_after_it_was_written_has_the_new_value() -> None:
    variable = gx.Variable(1.0)

    @gx.function
    def step() -> Any:
        before = variable.value()
        variable.assign_add(1.0)
        middle = variable.value()
        variable.assign(variable * 10)
        return before, middle, variable.value()

    assert [value.item() for value in step()] == [1, 2, 20]
    assert variable.item() == 20


def flops(lowered: Any) -> float:
    return lowered.compile().cost_analysis()["flops"]


@pytest.mark.parametrize("loop", [False, True], ids=["layers", "rolled loop"])
def test_the_forward_pass_is_computed_once(loop: bool) -> None:
    w1, w2 = (np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32) * 0.1 for _ in range(2))
    x = np.ones((32, 64), np.float32)

    def jax_loss(w1: Any, w2: Any, x: Any) -> Any:
        if loop:
            x = jax.lax.fori_loop(0, 20, lambda _, x: jnp.tanh(x @ w1), x)
        return jnp.mean((jnp.tanh(x @ w1) @ w2) ** 2)

    def our_loss(w1: Any, w2: Any, x: Any) -> Any:
        if loop:
            for _ in range(20):
                x = gx.tanh(x @ w1)
        return gx.mean((gx.tanh(x @ w1) @ w2) ** 2)

    @gx.function
    def by_tape(w1: Any, w2: Any, x: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch((w1, w2))
            loss = our_loss(w1, w2, x)
        return loss, tape.gradient(loss, (w1, w2))

    by_grad = gx.function(lambda w1, w2, x: gx.value_and_grad(our_loss, (0, 1))(w1, w2, x))
    theirs = jax.jit(jax.value_and_grad(jax_loss, (0, 1)))
    args = [gx.asarray(value) for value in (w1, w2, x)]
    value, gradients = theirs(w1, w2, x)
    for ours in (by_tape, by_grad):
        our_value, our_gradients = ours(*args)
        np.testing.assert_allclose(our_value.numpy(), value, rtol=1e-5)
        for one, other in zip(our_gradients, gradients, strict=True):
            np.testing.assert_allclose(one.numpy(), other, rtol=1e-4, atol=1e-6)
        assert flops(ours.lower(*args)) <= 1.02 * flops(theirs.lower(w1, w2, x))


def test_a_large_constant_and_weak_constants_lower_to_their_values() -> None:
    table = np.arange(5, dtype=np.int32)
    function = gx.function(lambda x: (x + table, x * 2, x * 2.0, x + np.float32(1), x + True))
    x = gx.asarray([1, 2, 3, 4, 5])
    for compiled, eager in zip(function(x), function.python_function(x), strict=True):
        assert compiled.dtype == eager.dtype
        np.testing.assert_array_equal(compiled.numpy(), eager.numpy())


def test_outputs_that_are_inputs_or_constants() -> None:
    variable = gx.Variable(3.0)
    function = gx.function(lambda x: (x, x, gx.ones((2,)), variable.value(), gx.asarray(1)))
    results = function(X)
    assert results[0].tolist() == results[1].tolist() == X.tolist()
    assert [result.tolist() for result in results[2:]] == [[1, 1], 3, 1]


def test_the_program_is_not_retraced_by_jax() -> None:
    """Where graphc finds a trace, JAX finds its program: a call makes no Python run below the executable."""
    calls: list[int] = []
    variable = gx.Variable(np.zeros(8, np.float32))

    @gx.function
    def step(x: Any) -> Any:
        variable.assign_add(x)
        return variable.value()

    kept = [step(X)]
    traced = step.trace(X)
    lowered = traced.executable.lowered.function
    object.__setattr__(traced.executable.lowered, "function", lambda *arrays: (calls.append(1), lowered(*arrays))[1])
    for _ in range(5):
        kept.append(step(X))
        step(gx.asarray(X.numpy()))
    assert calls == []
    assert kept[-1].numpy()[-1] == 10


def test_python_numbers_stacked_in_a_graph() -> None:
    assert gx.function(lambda: gx.stack([0, 1, 4]))().tolist() == [0, 1, 4]


def test_equal_layers_are_linearized_once_and_keep_their_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    linearized: list[int] = []
    original = differentiate._vjp_of

    def counted(*args: Any) -> Any:
        linearized.append(1)
        return original(*args)

    monkeypatch.setattr(differentiate, "_vjp_of", counted)

    def step(x: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = gx.tanh(x)  # first
            for _ in (None,) * 20:  # unrolled
                y = gx.tanh(y)
            y = gx.tanh(y)  # last
        return tape.gradient(y, x)

    x = gx.asarray(np.linspace(-1, 1, 11, dtype=np.float32))  # no other test may have lowered a tanh of this shape
    text = gx.function(step).lower(x).as_text(debug_info=True)
    assert 1 <= sum(linearized) <= 3  # once to know the type of the gradient
    for mark in ("# first", "# last"):
        assert re.search(rf"test_lowering\.py\":{line_of(step, mark)}:", text), mark
    np.testing.assert_allclose(gx.function(step)(x), step(x), rtol=1e-5)


def test_what_a_function_of_the_users_reads_is_read_at_each_lowering() -> None:
    scale = [2.0]

    def step(x: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            y = gx.call_jax(scaled, x)
        return tape.gradient(y, x)

    def scaled(x: Any) -> Any:
        return x * scale[0]

    found = []
    for scale[0] in (2.0, 3.0):
        compiled = gx.function(step)
        found.append(compiled(X).numpy()[0])
    assert found == [2.0, 3.0]
