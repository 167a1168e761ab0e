"""Graphs that were printed, parsed back, and run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.base.errors import InvalidArgumentError, NotFoundError, VerificationError
from graphc.ir import Graph


def reread(graph: Graph) -> Graph:
    again = gx.parse_graph(str(graph))
    assert again == graph
    return again


def test_a_function_with_loop_branch_and_gradient_runs_from_its_text() -> None:
    def f(x: Any) -> Any:
        total = gx.zeros(())
        for i in range(50):
            total = total + gx.sum(x * i)
        if total > 0:
            total = total * 2
        while total > 10:
            total = total / 2
        return total, gx.grad(lambda v: gx.sum(gx.tanh(v)))(x)

    x = gx.asarray([1.0, 2.0, 3.0])
    compiled = gx.function(f)
    run = gx.from_graph(reread(compiled.graph(x)))
    for got, wanted in zip(run(x), f(x), strict=True):
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-6)
    np.testing.assert_allclose(run([-1.0, 0.5, 0.0])[0].numpy(), f(gx.asarray([-1.0, 0.5, 0.0]))[0].numpy(), rtol=1e-6)


def test_variables_are_given_by_name_and_updated() -> None:
    w = gx.Variable([1.0, 2.0], name="reread_w")

    @gx.function
    def step(x: Any) -> Any:
        for _ in range(20):
            w.assign_add(x)
        return gx.sum(w)

    text = str(step.graph(gx.asarray([1.0, 1.0])))
    other = gx.Variable([0.0, 10.0])
    run = gx.from_graph(gx.parse_graph(text), {w.name: other})
    assert run(gx.asarray([1.0, 2.0])).item() == 70.0
    np.testing.assert_array_equal(other.numpy(), [20.0, 50.0])
    np.testing.assert_array_equal(w.numpy(), [1.0, 2.0])


def test_weak_inputs_take_python_numbers() -> None:
    weak = gx.ones((), dtype="float32") * 0 + gx.asarray(2.0)
    f = gx.function(lambda x, y: x * y)
    half = gx.asarray(np.float16(3.0))
    graph = f.graph(half, weak)
    assert gx.from_graph(graph)(np.float16(3.0), 2.0).numpy() == f(half, weak).numpy()


def test_no_output_gives_none() -> None:
    v = gx.Variable(1.0, name="none_v")

    @gx.function
    def bump(x: Any) -> None:
        v.assign_add(x)

    assert gx.from_graph(bump.graph(gx.asarray(2.0)), {v.name: v})(gx.asarray(2.0)) is None
    assert v.numpy() == 3.0


def test_a_missing_variable_is_named() -> None:
    w = gx.Variable(1.0, name="absent_w")
    graph = gx.function(lambda x: x * w).graph(gx.asarray(1.0))
    with pytest.raises(NotFoundError, match=r"uses the variables \['absent_w'\]; give them"):
        gx.from_graph(graph)


def test_other_types_and_counts_are_refused() -> None:
    run = gx.from_graph(gx.function(lambda x: x + 1, name="plus").graph(gx.ones((2,))))
    with pytest.raises(InvalidArgumentError, match=r"plus: argument 'x' is f32\[3\], the graph takes f32\[2\]"):
        run(gx.ones((3,)))
    with pytest.raises(InvalidArgumentError, match=r"argument 'x' is i32\[2\]"):
        run(gx.asarray([1, 2]))
    with pytest.raises(InvalidArgumentError, match="2 arguments given, the graph takes 1"):
        run(gx.ones((2,)), gx.ones((2,)))


def test_a_graph_that_breaks_a_rule_is_refused() -> None:
    good = gx.function(lambda x: x + 1).graph(gx.ones((2,)))
    with pytest.raises(VerificationError):
        gx.from_graph(Graph((), good.nodes, good.outputs))


def test_tapes_and_traces_see_into_a_parsed_graph() -> None:
    x = gx.asarray(2.0)
    w = gx.Variable(3.0, name="seen_w")
    run = gx.from_graph(reread(gx.function(lambda x: x * x * w).graph(x)), {w.name: w})
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = run(x) + x
    assert [gradient.item() for gradient in tape.gradient(y, [x, w])] == [13.0, 4.0]
    assert gx.function(lambda x: run(x) * 2)(x).item() == 24.0
