"""Where nodes are placed, and what is refused."""

from __future__ import annotations

import logging
from typing import Any

import pytest

import graphc as gx
from graphc.compiler.ir import OPS
from graphc.compiler.runtime import place

X = gx.ones((2, 2))


def placed(function: Any, *args: Any, default: str = "/device:CPU:0") -> dict[str, str]:
    traced = gx.function(function).trace(*args)
    homes = {name: variable.device for name, variable in traced.variables.items()}
    return {node.name: device for node, device in place(traced.graph, homes, default).devices.items()}


def test_pins_then_resources_then_the_default() -> None:
    with gx.device("cpu:2"):
        variable = gx.Variable(1.0)

    def rules(x: Any) -> Any:
        with gx.device("cpu:1"):
            variable.assign_add(1.0)  # added where it is pinned to, assigned where the Variable is
            y = x * 2
        return y + variable

    found = placed(rules, X, default="/device:CPU:3")
    assert found == {
        "read_variable": "/device:CPU:2",
        "add": "/device:CPU:1",
        "assign_variable": "/device:CPU:2",
        "multiply": "/device:CPU:1",
        "read_variable_1": "/device:CPU:2",
        "add_1": "/device:CPU:3",
    }


def test_what_is_pinned_nowhere_runs_where_its_operands_are_as_in_eager_code() -> None:
    with gx.device("cpu:1"):
        weight = gx.Variable(gx.ones((2, 2)))

    def layers(x: Any) -> Any:
        y = x @ weight
        for _ in range(50):
            y = gx.tanh(y)
        with gx.device("cpu:2"):
            z = gx.exp(y)
        return y, z * 2, y + z, gx.ones(2)

    compiled = gx.function(layers)(X)
    assert [result.device[-1] for result in compiled] == ["1", "2", "0", "0"]
    assert [result.device for result in layers(X)] == [result.device for result in compiled]
    assert placed(layers, X)["scan"] == "/device:CPU:1"


def test_pins_inside_loops_and_branches_hold() -> None:
    def nested(x: Any) -> Any:
        for _ in range(50):
            if gx.sum(x) > 0:
                with gx.device("cpu:1"):
                    x = gx.sin(x)
            else:
                with gx.device("cpu:2"):
                    x = gx.cos(x)
        return x

    found = placed(nested, X)
    assert (found["sin"], found["cos"]) == ("/device:CPU:1", "/device:CPU:2")
    assert found["sum"] == "/device:CPU:0"


def test_placements_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    @gx.function
    def spread(x: Any) -> Any:
        with gx.device("cpu:1"):
            y = x * 2
        return y + 1, x + 1

    with gx.config.scope(log_device_placement=True), caplog.at_level(logging.INFO, "graphc.tools.placement"):
        spread(X)
    lines = [record.getMessage() for record in caplog.records]
    assert any(line.startswith("multiply: requested /device:CPU:1, placed on /device:CPU:1") for line in lines)
    assert any(line.startswith("add: requested nothing, placed on /device:CPU:1") for line in lines)
    assert any(line.startswith("add 'add_1': requested nothing, placed on /device:CPU:0") for line in lines)
    assert all("test_placer.py" in line for line in lines)


def test_an_op_without_an_implementation_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def needs_tpu(x: Any) -> Any:
        with gx.device("cpu:1"):
            return gx.tanh(x)

    object.__setattr__(OPS["tanh"], "platforms", ("tpu",))
    monkeypatch.undo()
    try:
        with pytest.raises(gx.errors.UnimplementedError, match="tanh has no implementation on /device:CPU:1; there is"):
            gx.function(needs_tpu)(X)
    finally:
        object.__setattr__(OPS["tanh"], "platforms", ())
