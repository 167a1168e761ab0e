"""Compiled loops that are optimized mean what they meant: results, gradients, prints, failures, devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base import config
from tests.compiler.gradients.agreement import assert_close

X = gx.asarray(np.linspace(0.5, 2.0, 9).reshape(3, 3).astype(np.float32))
W = gx.asarray(np.arange(9).reshape(3, 3).astype(np.float32) / 10)


@pytest.fixture(autouse=True)
def verified(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "verify", True)


def ops(function: Callable[..., Any], *args: Any) -> list[str]:
    """The ops of a compiled function, those of bodies after a ``>``."""
    graph = gx.function(function).graph(*args)
    top = [node.op.name for node in graph.nodes]
    return [*top, ">", *(node.op.name for node in graph.walk() if node not in graph.nodes)]


def again(x: Any) -> Any:
    y = x
    for _ in range(1000):
        y = x + 1
    return y


def test_a_loop_that_computes_the_same_again_is_one_iteration() -> None:
    assert ops(again, X) == ["constant", "add", ">"]
    assert_close(gx.function(again)(X), X + 1)


def last_of_a_nest(x: Any, w: Any) -> Any:
    y, total = x, x * 0
    for i in range(7):
        for row in x:
            y = row * i + x @ w
        total = total + gx.sort(w, axis=0) * y
    return y * total


def left_early(x: Any, w: Any) -> Any:
    total = y = x
    for i in range(20):
        y = gx.sort(x @ w, axis=0)
        total = total + y * i
        if gx.sum(total) > 40.0:
            break
    return total * y


def until(x: Any, w: Any) -> Any:
    y, n = x, gx.sum(w)
    while n < 9.0:
        y = gx.sqrt(x @ w)
        n = n + 1
    return y


@pytest.mark.parametrize("function", [last_of_a_nest, left_early, until])
def test_gradients_are_those_of_eager_code_with_the_tape_inside_and_around(function: Callable[..., Any]) -> None:
    def inside(x: Any, w: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch([x, w])
            loss = gx.sum(function(x, w) ** 2)
        return loss, *tape.gradient(loss, [x, w])

    expected = inside(X, W)
    for found, wanted in zip(gx.function(inside)(X, W), expected, strict=True):
        assert_close(found, wanted)
    with gx.GradientTape() as tape:
        tape.watch([X, W])
        loss = gx.sum(gx.function(function)(X, W) ** 2)
    for found, wanted in zip(tape.gradient(loss, [X, W]), expected[1:], strict=True):
        assert_close(found, wanted)


def test_a_gradient_of_a_gradient_goes_through_what_is_left_of_a_loop() -> None:
    def second(x: Any, w: Any) -> Any:
        first = gx.grad(lambda x: gx.sum(gx.sin(last_of_a_nest(x, w))))
        return gx.grad(lambda x: gx.sum(first(x) ** 2))(x)

    assert_close(gx.function(second)(X * 0.1, W), second(X * 0.1, W))


def test_an_infinite_derivative_does_not_count_where_a_while_does_not_run() -> None:
    compiled = gx.function(until)
    zero = gx.zeros((3, 3))
    with gx.GradientTape() as tape:
        tape.watch(zero)
        y = gx.sum(compiled(zero, W + 9))
    assert_close(tape.gradient(y, zero), gx.ones((3, 3)))


def test_prints_and_python_calls_happen_as_often_as_before(capsys: pytest.CaptureFixture[str]) -> None:
    def noisy(x: Any, w: Any) -> Any:
        y = x
        for i in range(6):
            y = x @ w
            if i > 2:
                print("round", gx.sum(y) + i)
        return y

    noisy(X, W)
    expected = capsys.readouterr().out
    compiled = gx.function(noisy)
    assert_close(compiled(X, W), X @ W)
    gx.wait_all()
    assert capsys.readouterr().out == expected
    assert expected.count("round") == 3

    calls: list[int] = []

    def counted(x: Any) -> Any:
        jax.debug.callback(lambda: calls.append(1))
        return x + 1

    @gx.function
    def opaque(x: Any) -> Any:
        y = x
        for _ in range(6):
            y = gx.call_jax(counted, x)
        return y

    assert_close(opaque(X), X + 1)
    jax.effects_barrier()
    assert len(calls) == 6


def test_a_failure_in_a_loop_is_raised_as_before() -> None:
    @gx.function
    def f(x: Any, w: Any) -> Any:
        y = x
        for i in range(6):
            if gx.sum(w) > i:
                raise ValueError("too large")
            y = x @ w
        return y

    assert_close(f(X, W - 9), X @ (W - 9))
    with pytest.raises(ValueError, match="too large"):
        f(X, W)


def test_variables_are_as_they_were() -> None:
    variable = gx.Variable(np.ones((3, 3), np.float32))
    kept = gx.Variable(np.float32(2))

    @gx.function
    def f(x: Any, w: Any) -> Any:
        y = x
        for i in range(6):
            variable.assign(x @ w * i)
            y = variable * kept
            kept.assign(kept + 0)
        return y

    assert_close(f(X, W), X @ W * 10)
    assert_close(variable, X @ W * 5)
    assert kept.numpy() == 2


def test_pinned_nodes_stay_where_they_are_pinned() -> None:
    @gx.function
    def f(x: Any, w: Any) -> Any:
        total = x
        for _ in range(6):
            with gx.device("cpu:1"):
                product = gx.sort(x @ w, axis=0)
            total = total + product
        return total, product

    graph = f.graph(X, W)
    assert {node.op.name: node.device for node in graph.nodes if node.device} == {
        "matmul": "/device:CPU:1",
        "sort": "/device:CPU:1",
    }
    total, product = f(X, W)
    assert_close(total, X + 6 * gx.sort(X @ W, axis=0))
    assert "CPU:1" in str(product.device).upper()


def test_what_the_user_ordered_stays_in_order() -> None:
    def f(x: Any, w: Any) -> Any:
        y = x
        for _ in range(6):
            y = x @ w
        with gx.control_dependencies([y]):
            return x + 1

    assert ops(f, X, W) == ["call", "constant", "add", ">", "matmul"]
    assert_close(gx.function(f)(X, W), X + 1)


def test_loops_in_vmap_are_optimized_too() -> None:
    def f(x: Any, w: Any) -> Any:
        def one(row: Any) -> Any:
            y = row
            for i in range(6):
                y = row @ w + i
            return y

        return gx.vmap(one)(x)

    assert "scan" not in ops(f, X, W)
    assert_close(gx.function(f)(X, W), X @ W + 5)


def test_explain_says_which_lines_are_computed_once() -> None:
    notes = {line.location.line: line.notes for line in gx.explain(again, X, compile=False).lines}
    first = again.__code__.co_firstlineno
    assert "computed once, not in each iteration" in notes[first + 3]
