"""Parts of a device's work are steps of their own where that lets devices overlap."""

from __future__ import annotations

from collections import Counter
from typing import Any

import graphc as gx
from graphc.compiler.runtime import Plan
from graphc.compiler.runtime.steps import Segment

BATCHES = [gx.full((2, 2), float(number)) for number in range(4)]
with gx.device("cpu:1"):
    FIRST = gx.Variable(gx.eye(2))
with gx.device("cpu:2"):
    SECOND = gx.Variable(gx.eye(2) * 2)


def stages(batches: list[Any]) -> Any:
    total = gx.asarray(0.0)
    for batch in batches:
        with gx.device("cpu:1"):
            hidden = gx.tanh(batch @ FIRST)
        with gx.device("cpu:2"):
            total = total + gx.sum(hidden @ SECOND)
    return total


def segments(plan: Plan | None) -> list[Segment]:
    assert plan is not None
    return [step for step in plan.steps if isinstance(step, Segment)]


def test_no_stage_waits_for_micro_batches_that_it_does_not_need() -> None:
    compiled = gx.function(stages)
    found = segments(compiled.trace(BATCHES).plan)
    assert Counter(step.device[-1] for step in found if "matmul" in step.name) == {"1": 4, "2": 4}
    assert len({step.jitted for step in found if step.device[-1] == "1"}) == 1  # compiled once
    assert compiled(BATCHES).item() == stages(BATCHES).item()


def test_what_is_needed_together_stays_together() -> None:
    def joined(x: Any) -> Any:
        with gx.device("cpu:1"):
            a, b = gx.sin(x), gx.cos(x)
        with gx.device("cpu:2"):
            return a + b, gx.exp(a * b)

    names = [step.name for step in segments(gx.function(joined).trace(BATCHES[0]).plan)]
    assert names == ["sin__cos", "add__exp"]


def test_gradients_of_micro_batches_overlap_too() -> None:
    def step(batches: list[Any]) -> Any:
        with gx.device("cpu:1"):
            total = gx.zeros((2, 2))
        for batch in batches:
            with gx.GradientTape() as tape:
                with gx.device("cpu:1"):
                    hidden = gx.tanh(batch @ FIRST)
                with gx.device("cpu:2"):
                    loss = gx.sum(hidden @ SECOND)
            total = total + tape.gradient(loss, FIRST)
        return total

    plan = gx.function(step).trace(BATCHES).plan
    found = segments(plan)
    backward = [number for number, one in enumerate(found) if one.device[-1] == "2"]
    assert len(backward) == 4  # forward and backward of a micro-batch, each by itself
    assert plan is not None
    assert [step for step in plan.steps if step.kind == "transfer" and step.device[-1] == "1"]


def test_layers_of_a_recurrent_network_work_at_once_each_at_another_time() -> None:
    def network(x: Any) -> Any:
        first = second = x
        for _ in range(3):
            with gx.device("cpu:1"):
                first = gx.tanh(first @ FIRST)
            with gx.device("cpu:2"):
                second = gx.tanh(second + first)
        return second

    found = [(step.name[:3], step.device[-1]) for step in segments(gx.function(network).trace(BATCHES[0]).plan)]
    assert found == [("mat", "1"), ("add", "2")] * 3


def test_no_device_waits_for_later_work_that_it_does_not_need() -> None:
    def program(x: Any) -> Any:
        with gx.device("cpu:1"):
            shared = gx.sin(x)
            first = shared @ FIRST
        with gx.device("cpu:2"):
            second = shared @ SECOND
        return first, second

    def light(x: Any) -> Any:
        with gx.device("cpu:1"):
            shared = gx.sin(x)
            first = shared * 2
        with gx.device("cpu:2"):
            return first, shared * 3

    found = segments(gx.function(program).trace(BATCHES[0]).plan)
    assert [(step.name, step.device[-1]) for step in found] == [("sin", "1"), ("matmul", "1"), ("matmul_1", "2")]
    found = segments(gx.function(light).trace(BATCHES[0]).plan)
    assert [step.name for step in found] == ["sin__multiply", "multiply_1"]
