"""Compiled functions that are called while a graph is built: they become part of it, with what they do besides."""

from __future__ import annotations

from typing import Any

import pytest

import graphc as gx
from graphc.graphs import session

Variable: Any = gx.Variable
"""What it makes in a graph has more methods than in eager code."""


@pytest.fixture
def graph() -> Any:
    with gx.Graph().as_default() as graph:
        yield graph


def test_what_a_function_assigns_is_assigned_when_its_result_is_needed(graph: gx.Graph) -> None:
    w = Variable(1.0, name="w")

    @gx.function
    def step(x: Any) -> Any:
        w.assign_add(x)
        return {"doubled": w * 2.0, "name": "step"}

    x = gx.placeholder("float32", shape=())
    found = step(x)
    assert found["name"] == "step"
    with gx.Session(graph=graph) as run:
        run.run(w.initializer)
        assert run.run([found["doubled"], w], {x: 2.0})[0] == 6.0
        assert run.run(w) == 3.0


def test_a_function_without_effects_adds_its_nodes_only(graph: gx.Graph) -> None:
    w = Variable(3.0, name="w")

    @gx.function
    def scaled(x: Any) -> Any:
        return x * w

    y = scaled(gx.asarray(2.0))
    assert y.op.type == "Mul"
    (slope,) = session.gradients(y, [w])
    with gx.Session(graph=graph) as run:
        run.run(w.initializer)
        assert run.run([y, slope]) == [6.0, 2.0]


def test_what_a_function_prints_is_printed_in_each_run(graph: gx.Graph, capfd: pytest.CaptureFixture[str]) -> None:
    @gx.function
    def told(x: Any) -> Any:
        gx.print("x is", x)
        return x + 1.0

    x = gx.placeholder("float32", shape=())
    y = told(x)
    with gx.Session(graph=graph) as run:
        for value in (1.0, 2.0):
            run.run(y, {x: value})
    out, err = capfd.readouterr()
    assert (out + err).split() == ["x", "is", "1.0", "x", "is", "2.0"]
