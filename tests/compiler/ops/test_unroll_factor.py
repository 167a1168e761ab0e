"""How many iterations of a loop make one step."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.ops import iterations_per_step

LARGE, SMALL = (500, 500), (10, 10)
cpu_only = pytest.mark.skipif(jax.default_backend() != "cpu", reason="the rule is for the CPU")


def steps_of(body: Any, shape: tuple[int, ...], length: int = 50, **options: Any) -> int:
    """How many iterations make a step of a loop with this body."""

    def program(x: Tensor) -> Any:
        for i in range(length):
            x = body(x, i)
        return x

    (node,) = [node for node in gx.function(program, **options).graph(gx.zeros(shape)).nodes if node.op.name == "scan"]
    return node.attrs.get("unroll", 1)


@cpu_only
def test_cheap_arithmetic_on_large_arrays_is_done_four_iterations_at_a_time() -> None:
    assert steps_of(lambda x, i: x * 0.99 + i, LARGE) == 4
    assert steps_of(lambda x, i: gx.where(x > 0, x - 0.01 * (x * x - 0.5), -x), LARGE) == 4


def test_all_else_is_done_one_iteration_at_a_time() -> None:
    assert steps_of(lambda x, i: x * 0.99 + i, SMALL) == 1
    assert steps_of(lambda x, i: gx.tanh(x), LARGE) == 1
    assert steps_of(lambda x, i: x - gx.sum(x) * 0.01, LARGE) == 1
    assert steps_of(lambda x, i: x @ x, LARGE) == 1
    assert steps_of(lambda x, i: x * 0.99 + i, LARGE, length=7) == 1
    assert iterations_per_step([], [], 100) == 1


def test_unroll_says_how_many() -> None:
    assert steps_of(lambda x, i: gx.tanh(x), SMALL, unroll=3) == 3
    assert steps_of(lambda x, i: x * 0.99 + i, LARGE, unroll=False) == 1


@pytest.mark.parametrize(
    ("length", "unroll", "step"),  # the steps leave none, one or more iterations, or there is one step alone
    [(6, 2, 1), (7, 3, -2), (23, 4, 1), (6, 4, -2), (9, 3, -2)],
)
def test_every_iteration_is_done_once_and_in_order(length: int, unroll: int, step: int) -> None:
    def program(x: Tensor) -> Any:
        total = x
        for i in range(5, 5 + length * step, step):
            total = total * 0.5 + i
        return total

    def rows(xs: Tensor) -> Any:
        total = xs[0]
        for x in xs:
            total = total * 0.5 + x
        return total

    x, xs = gx.asarray(1.0), gx.arange(length) * 1.5
    for function, argument in ((program, x), (rows, xs)):
        expected, found = function(argument), gx.function(function, unroll=unroll)(argument)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-6)
        gradient = gx.function(gx.grad(function), unroll=unroll)(argument)
        np.testing.assert_allclose(gradient.numpy(), gx.grad(function)(argument).numpy(), rtol=1e-6)


@cpu_only
def test_the_report_says_why() -> None:
    def program(x: Tensor) -> Any:
        for _ in range(50):
            x = x * 0.99 + 0.5
        return x

    (loop,) = gx.function(program).trace(gx.zeros(LARGE)).loops
    assert loop.kind == "rolled"
    assert loop.reason.endswith("; 4 iterations at a time, as its body is cheap arithmetic on large arrays")
    (loop,) = gx.function(program, unroll=5).trace(gx.zeros(LARGE)).loops
    assert loop.reason.endswith("; 5 iterations at a time, by unroll=5")
