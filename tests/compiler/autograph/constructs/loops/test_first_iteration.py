"""A ``while`` whose test is a Python value before the first iteration, and a tensor after it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx

X = np.asarray([3.0, -1.0, 4.0, 1.0, -5.0, 9.0, 2.0, 6.0], np.float32)


def _stack(x: Any) -> Any:
    """Walks down a heap, with a list as the stack."""
    stack, total = [gx.asarray(0)], gx.zeros(())
    while stack:
        gx.loop_options(max_iterations=20)
        node = stack.pop()
        total = total + x[node] * 0.5
        if 2 * node + 2 < 8 and x[node] > 0:
            stack.append(2 * node + 1)
            stack.append(2 * node + 2)
    return total


def _pointer(x: Any) -> Any:
    top, total = 3, gx.zeros(())
    while top > 0:
        top -= 1
        if x[top] > 3:
            top -= 1
        total = total + x[top]
    return top, total


def _error(x: Any) -> Any:
    error, steps = 1.0, 0
    while error > 1e-2:
        x = x / 2
        error = gx.max(gx.abs(x))
        steps += 1
    return x, error, steps


def _bound_inside(x: Any) -> Any:
    found = 0.0
    while found < 5:
        last = x * 2
        found = found + gx.abs(x[1])
    return last, found


@pytest.mark.parametrize("program", [_stack, _pointer, _error, _bound_inside])
def test_the_whole_loop_is_one_node(program: Callable[[Any], Any]) -> None:
    compiled, x = gx.function(program), gx.asarray(X)
    for one, other in zip(gx.nest.flatten(compiled(x)), gx.nest.flatten(program(x)), strict=True):
        np.testing.assert_allclose(np.asarray(one), np.asarray(other), rtol=1e-5)
    graph = compiled.graph(x)
    assert sum(node.op.name == "while" for node in graph.nodes) == 1
    assert [(loop.kind, loop.reason) for loop in gx.explain(compiled, x).loops] == [("while", "its test is a tensor")]


def test_a_pop_of_an_empty_list_raises_with_its_line() -> None:
    @gx.function
    def program(x: Any) -> Any:
        stack, total = [gx.asarray(0.0)], 0.0
        while total < 10:
            gx.loop_options(max_iterations=20)
            total = total + gx.abs(stack.pop())
            if x[0] > total:
                stack.append(x[0])
        return total

    with pytest.raises(IndexError, match="pop from empty list") as caught:
        program(gx.asarray(X))
    assert "test_first_iteration.py" in str(caught.value) or caught.traceback[-1].path.name == "test_first_iteration.py"


def test_a_loop_that_does_not_end_within_its_bound_raises() -> None:
    @gx.function
    def program(x: Any) -> Any:
        stack = [x[0]]
        while stack:
            gx.loop_options(max_iterations=20)
            top = stack.pop()
            if top > -1:
                stack.append(top)
                stack.append(top)
        return gx.sum(x)

    with pytest.raises(gx.errors.FailedPreconditionError, match="max_iterations=20"):
        program(gx.asarray(X))
    assert program(gx.asarray(-X)).item() == -X.sum()


def test_python_runs_the_first_iteration_if_it_needs_python() -> None:
    taken: list[int] = []

    @gx.function(side_effects="ignore")
    def program(x: Any) -> Any:
        numbers, total = iter([1.0, 2.0, 3.0]), 0.0
        scale: Any = None
        while total < 4:
            if scale is None:
                scale = next(numbers)
                taken.append(1)
            total = total + gx.abs(x[0]) * scale
        return total

    assert program(gx.asarray(X)).item() == 6.0
    assert taken == [1]


def test_a_loop_of_numbers_is_run_by_python() -> None:
    @gx.function
    def program(x: Any) -> Any:
        rate, rows = 1.0, [x, x + 1, x + 2]
        while rate > 0.2:
            rate /= 2
            x = x * rate
        while rows:
            x = x + rows.pop()
        return x

    np.testing.assert_allclose(program(gx.asarray(X)).numpy(), X / 64 + 3 * X + 3, rtol=1e-6)
    assert not any(node.op.name == "while" for node in program.graph(gx.asarray(X)).nodes)
