"""``gx.pyfunc(..., ordered=False)``: calls that wait for nothing but their arguments, and are never dropped."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.ir import EffectKind
from graphc.compiler.ops import HOST_CALL, UNORDERED_HOST_CALL
from tests.compiler.autograph.outcomes import compiled, watchdog  # noqa: F401  the fixture

pytestmark = pytest.mark.usefixtures("watchdog")

SCALAR = gx.TensorSpec(())


def test_equal_calls_are_several_and_none_is_dropped() -> None:
    log: list[float] = []

    def note(x: Tensor) -> None:
        log.append(x.item())

    def step(x: Tensor) -> Tensor:
        for _ in range(2):
            gx.pyfunc(note, None, x, ordered=False)
            gx.pyfunc(note, None, x, ordered=False)
        return x

    step(gx.asarray(1.0))
    eager = list(log)
    log.clear()
    compiled(step)(gx.asarray(1.0))
    assert log == eager == [1.0] * 4


def test_in_loops_and_branches() -> None:
    log: Counter[float] = Counter()

    def seen(x: Tensor) -> float:
        log[x.item()] += 1
        return x.item() * 2

    def step(x: Tensor) -> Tensor:
        for i in range(6):
            if x < 20.0:
                x = gx.pyfunc(seen, SCALAR, x, ordered=False)
            x = x + i
        return x

    result = step(gx.asarray(1.0)).item()
    expected, log = log, Counter()
    assert compiled(step)(gx.asarray(1.0)).item() == result
    assert log == expected


def test_it_is_no_step_of_the_order() -> None:
    def step(x: Tensor) -> Tensor:
        gx.pyfunc(lambda v: None, None, x)
        a = gx.pyfunc(lambda v: v, SCALAR, x, ordered=False)
        b = gx.pyfunc(lambda v: v, SCALAR, x, ordered=False)
        return a + b

    graph = gx.function(step).graph(gx.asarray(1.0))
    calls = [node for node in graph.nodes if node.op is UNORDERED_HOST_CALL]
    assert len(calls) == 2
    assert all(call.inputs == (graph.inputs[0],) and not call.control_inputs for call in calls)
    resources = [effect.resource for call in calls for effect in call.effects if effect.kind is EffectKind.WRITE]
    assert resources == [f"world://{call.attrs['function']}" for call in calls]
    assert str(gx.parse_graph(str(graph))) == str(graph)


def test_explain_names_it() -> None:
    def look(x: Tensor) -> Tensor:
        return x

    def step(x: Tensor) -> Tensor:
        return gx.pyfunc(look, SCALAR, x, ordered=False)

    assert "runs on the host: pyfunc.look" in str(gx.explain(step, gx.asarray(1.0)))


def test_what_it_raises_the_call_raises_and_what_stands_below_does_not_happen() -> None:
    v = gx.Variable(1.0)
    error = KeyError("mine")
    log: list[str] = []

    def fail(x: Tensor) -> Any:
        raise error

    def step(x: Tensor) -> Tensor:
        v.assign_add(x)
        x = gx.pyfunc(fail, SCALAR, x, ordered=False)
        gx.pyfunc(lambda: log.append("below"), None)
        return x

    for run in (step, gx.function(step)):
        with pytest.raises(KeyError, match="mine") as caught:
            run(gx.asarray(1.0))
        assert caught.value is error
        assert caught.traceback[-1].name == "fail"
    assert log == []
    assert v.numpy() == 2.0, "the eager call assigned it, the compiled one left it as it was"


def test_of_several_failures_one_is_raised() -> None:
    def fail(name: str) -> Any:
        raise ValueError(name)

    @gx.function
    def step(x: Tensor) -> Tensor:
        a = gx.pyfunc(lambda v: fail("first"), SCALAR, x, ordered=False)
        b = gx.pyfunc(lambda v: fail("second"), SCALAR, x, ordered=False)
        return a + b

    with pytest.raises(ValueError, match=r"first|second"):
        step(gx.asarray(1.0))


def test_a_loop_that_waits_for_it_ends_when_it_fails() -> None:
    def poll(n: Tensor) -> bool:
        if n.item() == 3:
            raise TimeoutError("nobody answers")
        return False

    @gx.function
    def step(n: Tensor) -> Tensor:
        done = gx.asarray(False)
        while not done:
            n = n + 1
            done = gx.pyfunc(poll, "bool", n, ordered=False)
        return n

    with pytest.raises(TimeoutError, match="nobody answers"):
        step(gx.asarray(0))


def test_for_each_row() -> None:
    log: list[float] = []

    def note(x: Tensor) -> float:
        log.append(x.item())
        return x.item() + 1

    found = gx.vectorized_map(lambda x: gx.pyfunc(note, SCALAR, x, ordered=False) * 2, gx.asarray([1.0, 2.0, 3.0]))
    assert found.tolist() == [4.0, 6.0, 8.0]
    assert sorted(log) == [1.0, 2.0, 3.0]


def test_a_variable_may_be_named_as_the_world_is() -> None:
    v = gx.Variable(1.0, name="world")

    @gx.function
    def step(x: Tensor) -> Tensor:
        print(x)
        return v.assign_add(x).value()

    assert step(gx.asarray(2.0)).item() == 3.0


def test_the_order_of_the_ordered_is_that_of_the_program() -> None:
    log: list[str] = []

    def step(x: Tensor) -> Tensor:
        gx.pyfunc(lambda: log.append("a"), None)
        for i in range(3):
            gx.pyfunc(lambda i: log.append(f"loop {i.item()}"), None, gx.asarray(i))
            gx.pyfunc(lambda v: None, None, x, ordered=False)
        if x > 0:
            gx.pyfunc(lambda: log.append("branch"), None)
        gx.pyfunc(lambda: log.append("b"), None)
        return x

    step(gx.asarray(1.0))
    eager, log = log, []
    function = gx.function(step)
    function(gx.asarray(1.0))
    assert log == eager
    assert sum(node.op is HOST_CALL for node in function.graph(gx.asarray(1.0)).walk()) >= 4
