"""How a placed graph is cut into steps."""

from __future__ import annotations

from collections import Counter
from typing import Any

import graphc as gx
from graphc.compiler.runtime import Plan

X = gx.ones((2, 2))


def plan(function: Any, *args: Any) -> Plan:
    found = gx.function(function).trace(*args).plan
    assert found is not None
    return found


def segments(found: Plan) -> list[tuple[str, str]]:
    return [(step.name, step.device[-1]) for step in found.steps if step.kind == "segment"]


def test_ops_that_wait_for_the_same_are_one_segment() -> None:
    def chain(x: Any) -> Any:
        with gx.device("cpu:1"):
            y = gx.tanh(gx.exp(x)) * x
        with gx.device("cpu:2"):
            z = gx.sin(y) + gx.cos(y)
        return gx.sum(z)  # where its operand is

    assert segments(plan(chain, X)) == [("exp__multiply", "1"), ("sin__sum", "2")]


def test_no_op_waits_for_what_it_does_not_need() -> None:
    def chains(x: Any) -> Any:
        with gx.device("cpu:1"):
            a = gx.tanh(x)
        with gx.device("cpu:2"):
            b = gx.exp(x)
        with gx.device("cpu:1"):
            c = a + b  # must not hold up the next one
            d = gx.sin(a)
        return c, d

    found = plan(chains, X)
    assert segments(found) == [("tanh__sin", "1"), ("exp", "2"), ("add", "1")]


def test_segments_do_not_wait_for_each_other() -> None:
    def there_and_back(x: Any) -> Any:
        y = x + 1
        with gx.device("cpu:1"):
            z = gx.exp(y)
        return y * 2 + z

    assert segments(plan(there_and_back, X)) == [("add__multiply", "0"), ("exp", "1"), ("add_1", "0")]


def test_a_value_is_moved_once_to_each_device() -> None:
    def used_often(x: Any) -> Any:
        y = gx.exp(x)
        results = []
        for number in (1, 2, 1, 2, 1):
            with gx.device(f"cpu:{number}"):
                results.append(gx.sin(y) * number + y)
        return results

    moves = Counter((step.name, step.device[-1]) for step in plan(used_often, X).steps if step.kind == "transfer")
    assert moves["exp", "1"] == moves["exp", "2"] == 1


def test_constants_are_not_moved() -> None:
    def with_constants(x: Any) -> Any:
        table = gx.asarray([[1.0, 2.0], [3.0, 4.0]])
        with gx.device("cpu:1"):
            y = x @ table
        with gx.device("cpu:0"):
            return y @ table + 3.0

    moved = {step.name for step in plan(with_constants, X).steps if step.kind == "transfer"}
    assert moved == {"x", "matmul"}


def test_values_are_released_after_their_last_use() -> None:
    def chain(x: Any) -> Any:
        for number in (1, 2, 3, 1, 2):
            with gx.device(f"cpu:{number}"):
                x = gx.tanh(x)
        return x

    found = plan(chain, X)
    held = set(range(found.num_inputs))
    most = 0
    for step, dying in zip(found.steps, found.last_uses, strict=True):
        held |= set(step.outputs)
        most = max(most, len(held))
        held -= set(dying)
    assert most <= 3
    assert held == set(found.outputs)


def test_a_loop_on_one_device_is_one_step_and_one_that_spans_is_driven() -> None:
    def loops(x: Any) -> Any:
        with gx.device("cpu:1"):
            for _ in range(100):
                x = gx.tanh(x)
        for _ in range(100):
            with gx.device("cpu:1"):
                x = gx.sin(x)
            with gx.device("cpu:0"):
                x = x + 1
        return x

    kinds = [(step.kind, step.name) for step in plan(loops, X).steps if step.kind != "transfer"]
    assert kinds == [("segment", "scan"), ("control flow", "scan_1")]
    reason = "control flow scan_1 on host: step by step, since its body lies on /device:CPU:1, /device:CPU:0"
    assert reason in gx.explain(loops, X).steps


def test_a_plan_prints_its_steps() -> None:
    def spread(x: Any) -> Any:
        with gx.device("cpu:1"):
            return x + 1

    def there_and_back(x: Any) -> Any:
        y = spread(x)
        with gx.device("cpu:0"):
            return y * 2

    found = plan(there_and_back, X)
    assert str(found).splitlines() == [
        "plan there_and_back: 1 inputs, 4 steps",
        "  0: transfer x on /device:CPU:1: ($0) -> ($1)",
        "  1: segment add on /device:CPU:1: ($1) -> ($2)",
        "  2: transfer add on /device:CPU:0: ($2) -> ($3)",
        "  3: segment multiply on /device:CPU:0: ($3) -> ($4)",
        "  return ($4)",
    ]
