"""Effects keep the order of the program: what is logged by compiled code is what is logged by eager code."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.ir import EffectKind, is_world

LOG: list[str] = []


def note(*values: Any) -> None:
    LOG.append(" ".join(str(value.item() if isinstance(value, Tensor) else value) for value in values))


def log(*values: Any) -> None:
    gx.pyfunc(note, None, *values)


class State:
    def __init__(self) -> None:
        self.v = gx.Variable(1.0)
        self.w = gx.Variable(10.0)


def straight(state: State, x: Tensor) -> Tensor:
    log("a", state.v)
    state.v.assign_add(x)
    log("b", state.v)
    state.w.assign(state.v * 2)
    state.v.assign_sub(1.0)
    log("c", state.v, state.w)
    return state.v + state.w


def loops(state: State, x: Tensor) -> Tensor:
    for i in range(4):
        log("in", i, state.v)
        state.v.assign_add(x)
        n = gx.asarray(0)
        while n < 2:
            log("while", n, state.v)
            state.v.assign(state.v * 2)
            n = n + 1
        log("out", state.v)
    return state.v.value()


def branches(state: State, x: Tensor) -> Tensor:
    for i in range(5):
        if state.v > 3:
            log("large", state.v)
            state.v.assign(x)
            log("small again", state.v)
        elif i % 2 == 0:
            state.v.assign_add(2.0)
            log("even", state.v)
        else:
            log("odd", state.v)
            continue
        log("end", i)
    return state.v.value()


def inner(state: State, x: Tensor) -> Tensor:
    log("inner", state.v)
    state.v.assign_add(x)
    return state.v.value()


compiled_inner = gx.function(inner)


def calls(state: State, x: Tensor) -> Tensor:
    log("first")
    y = compiled_inner(state, x)
    log("between", y)
    for _ in range(2):
        y = compiled_inner(state, y)
        log("after", state.v)
    return y


def fails(state: State, x: Tensor) -> Tensor:
    for i in range(5):
        log("try", i, state.v)
        state.v.assign_add(x)
        if state.v > 3:
            raise ValueError(f"{state.v.value()}")
        log("fine", i)
    log("never")
    return x


def control(state: State, x: Tensor) -> Tensor:
    with gx.control_dependencies([state.v.assign_add(x)]):
        log("after", state.v)
        y = gx.exp(x)
    with gx.control_dependencies([y]):
        state.v.assign(y)
        log("last", state.v)
    return y


@pytest.mark.parametrize(
    "program", [straight, loops, branches, calls, fails, control], ids=lambda program: program.__name__
)
def test_the_log_is_that_of_eager_code(program: Callable[..., Any]) -> None:
    def run(call: Callable[..., Any]) -> tuple[list[str], Any, Any]:
        LOG.clear()
        state = State()
        try:
            result = call(state, gx.asarray(1.0)).item()
        except ValueError as error:
            result = error.args
        return list(LOG), result, (state.v.numpy().item(), state.w.numpy().item()) if program is not fails else None

    eager = run(program)
    assert run(gx.function(program)) == eager
    assert eager[0]


def test_prints_and_host_calls_are_one_order(capfd: pytest.CaptureFixture[str]) -> None:
    @gx.function
    def f(x: Tensor) -> Tensor:
        for i in range(3):
            print("print", i)
            gx.pyfunc(lambda i: print("call", i.item()), None, gx.asarray(i))
        return x

    f(gx.asarray(1.0))
    assert capfd.readouterr().out == "".join(f"print {i}\ncall {i}\n" for i in range(3))


def test_what_is_independent_does_not_wait() -> None:
    state = State()

    @gx.function
    def f(x: Tensor) -> Tensor:
        print(x)
        state.v.assign(gx.sin(x))
        state.w.assign(gx.cos(x))
        gx.pyfunc(note, None, x, ordered=False)
        return gx.exp(x)

    graph = f.graph(gx.asarray(1.0))
    writers = [node for node in graph.nodes if any(effect.kind is EffectKind.WRITE for effect in node.effects)]
    assert len(writers) == 4
    assert not any(node.control_inputs for node in graph.nodes), "each touches something of its own"
    resources = [effect.resource for node in writers for effect in node.effects]
    assert [is_world(resource) for resource in resources] == [True, False, False, True]


def test_a_read_comes_after_the_assignment_above_it_and_before_the_one_below() -> None:
    state = State()

    @gx.function
    def f(x: Tensor) -> Any:
        before = state.v.value()
        state.v.assign(x)
        between = state.v.value()
        state.v.assign(x * 2)
        return before, between, state.v.value()

    assert [value.item() for value in f(gx.asarray(5.0))] == [1.0, 5.0, 10.0]
    graph = f.graph(gx.asarray(5.0))
    touching = [node for node in graph.nodes if node.effects]
    for earlier, later in pairwise(touching):
        assert earlier in later.control_inputs
