"""The update op: text, equality of programs, state on the devices of the variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import optax

import graphc as gx
from graphc.compiler.ir import OPS, parse_graph, verify


def test_the_text_of_an_update_parses_back() -> None:
    w, b = gx.Variable([1.0, 2.0]), gx.Variable(0.0)
    optimizer = gx.optim.AdamW(0.1)
    optimizer.build([w, b])

    @gx.function
    def step(gradient: Any) -> None:
        optimizer.apply_gradients([(gradient, w), (None, b)])

    graph = step.graph(gx.ones(2))
    node = next(node for node in graph.nodes if node.op.name == "optim.update")
    assert node.attrs["updated"] == (0,)
    assert node.attrs["transformation"].startswith("adamw(learning_rate=0.1, b1=0.9")
    parsed = parse_graph(str(graph))
    verify(parsed)
    assert str(parsed) == str(graph)


def test_equal_optimizers_share_their_compiled_updates() -> None:
    kernels = OPS["optim.update"].caches
    for rate in (0.125, 0.125, 0.25):
        gx.optim.SGD(rate).apply_gradients([(gx.ones(7), gx.Variable(gx.zeros(7)))])
    ours = [attrs for attrs in kernels if "0.125" in attrs["transformation"] or "0.25" in attrs["transformation"]]
    assert len({attrs["transformation"] for attrs in ours}) == len(ours)
    assert sum("learning_rate=0.125," in attrs["transformation"] for attrs in ours) == 1


def test_a_users_name_is_never_taken_for_an_optimizer_told_by_numbers() -> None:
    label = "sgd(learning_rate=0.0625, nesterov=False)"
    ours = gx.optim.Optimizer(optax.sgd(1.0), name=label)
    named = gx.optim.SGD(0.0625)
    a, b = gx.Variable(0.0), gx.Variable(0.0)
    ours.apply_gradients([(1.0, a)])
    named.apply_gradients([(1.0, b)])
    assert [a.item(), b.item()] == [-1.0, -0.0625]


def test_state_lives_where_its_variable_lives() -> None:
    with gx.device("CPU:1"):
        w = gx.Variable([1.0, 2.0])
    optimizer = gx.optim.Adam(0.5)
    for _ in range(2):
        optimizer.apply_gradients([(np.ones(2, "float32"), w)])
    assert w.device.endswith("CPU:1")
    assert {v.device for v in optimizer.variables} == {w.device}
    np.testing.assert_allclose(w.numpy(), [0.0, 1.0], atol=1e-5)


def test_a_higher_derivative_tape_does_not_see_the_update() -> None:
    w = gx.Variable(2.0)
    with gx.GradientTape() as tape:
        loss = w * w
        gx.optim.SGD(0.5).apply_gradients([(1.0, w)])
    assert tape.gradient(loss, w).item() == 4.0
    assert w.item() == 1.5
