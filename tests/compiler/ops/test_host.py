"""Host calls in a graph: their text, what the passes leave of them, and what they do once JAX runs them."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc import Tensor
from graphc.compiler.base.errors import InternalError, NotFoundError, UnimplementedError
from graphc.compiler.core import apply_all, trace_scope
from graphc.compiler.ir import OPS, WORLD, Attrs, EffectKind, TensorType
from graphc.compiler.ir.passes import DEFAULT, run_passes
from graphc.compiler.lowering import Executable
from graphc.compiler.ops import HOST_CALL, ORDER, STATUS, HostFunction, emit_host_call, host_error, replaying
from graphc.compiler.tracing import CallState, Trace
from tests.compiler.autograph.outcomes import watchdog  # noqa: F401  the fixture

pytestmark = pytest.mark.usefixtures("watchdog")

FLOAT = TensorType((), np.dtype(np.float32))


def program(function: HostFunction, times: int = 1, *, ordered: bool = True) -> Any:
    """A graph that calls a function on its input, and gives its status and the last result."""
    trace = Trace("program")
    x = trace.argument(FLOAT, "x")
    results: list[Any] = []
    with trace_scope(trace):
        for _ in range(times):
            results = emit_host_call(function, [x], ordered=ordered)
        outputs = [*results, trace.read(STATUS), trace.read(ORDER)]
    return run_passes(trace.finish(outputs), DEFAULT)


def test_the_text() -> None:
    function = HostFunction(lambda x: [x], "kind", [FLOAT])
    graph = program(function, times=2)
    calls = [node for node in graph.nodes if node.op is HOST_CALL]
    assert len(calls) == 2, "equal calls are two calls"
    assert f'host_call(%constant, %constant, %x) {{function = "{function.name}", results = (f32[],)}}' in str(graph)
    assert str(gx.parse_graph(str(graph))) == str(graph)
    assert [(effect.kind, effect.resource) for effect in calls[0].effects] == [(EffectKind.WRITE, WORLD)]


def test_a_call_whose_result_nobody_uses_stays() -> None:
    seen: list[float] = []
    function = HostFunction(lambda x: seen.append(float(x)) or [], "kind")
    trace = Trace("program")
    x = trace.argument(FLOAT, "x")
    with trace_scope(trace):
        emit_host_call(function, [x])
    graph = run_passes(trace.finish([x]), DEFAULT)
    assert [node.op for node in graph.nodes if node.op is HOST_CALL]
    assert Executable(graph).variables == (), "the world is no variable"


def test_it_runs_in_order_and_counts() -> None:
    seen: list[float] = []
    function = HostFunction(lambda x: (seen.append(float(x)), [x * 2])[1], "kind", [FLOAT])
    result, status, order = Executable(program(function, times=3)).launch([np.float32(2.0)], [])
    assert (float(result), int(status), int(order), seen) == (4.0, 0, 3, [2.0, 2.0, 2.0])


def test_an_exception_becomes_the_status() -> None:
    seen: list[float] = []

    def fail(x: Any) -> list[Any]:
        seen.append(float(x))
        raise error

    error = KeyError("mine")
    function = HostFunction(fail, "kind", [FLOAT])
    result, status, _ = Executable(program(function, times=3)).launch([np.float32(2.0)], [])
    assert (float(result), seen) == (0.0, [2.0]), "after it nothing runs"
    assert int(status) < 0
    assert host_error(int(status)) == (error, ())


def test_what_it_is_given_is_its_own() -> None:
    kept: list[Any] = []
    function = HostFunction(lambda x: kept.append(x) or [], "kind")
    executable = Executable(program(function))
    for value in (1.0, 2.0):
        executable.launch([np.float32(value)], [])
    gc.collect()
    assert [float(value) for value in kept] == [1.0, 2.0]
    kept[0][...] = 5.0


def test_the_context_of_the_caller_is_not_that_of_the_function() -> None:
    found: list[Any] = []

    def look(x: Any) -> list[Any]:
        y = gx.asarray(3.0) * 2
        found.append((type(y), y.item()))
        return []

    function = HostFunction(look, "kind")
    call = Executable(program(function))
    with gx.GradientTape():
        call.launch([np.float32(1.0)], [])
    assert found == [(Tensor, 6.0)]


def test_in_a_replay_nothing_runs_of_what_needs_no_order() -> None:
    seen: list[float] = []
    silent = HostFunction(lambda x: seen.append(float(x)) or [], "kind")
    speaking = HostFunction(lambda x: [x], "kind", [FLOAT])
    with replaying():
        status, order = Executable(program(silent, ordered=False)).launch([np.float32(2.0)], [])
        with pytest.raises(UnimplementedError, match=r"evaluates gx\.pyfunc a second time"):
            Executable(program(speaking, ordered=False)).launch([np.float32(2.0)], [])
    assert (int(status), int(order), seen) == (0, 0, [])


def test_exceptions_that_nobody_asks_for_are_forgotten() -> None:
    function = HostFunction(lambda x: 1 / 0, "kind")  # pyright: ignore[reportArgumentType]
    statuses = [int(function.run(np.float32(0.0))[0]) for _ in range(300)]
    assert isinstance(host_error(statuses[-1])[0], ZeroDivisionError)
    with pytest.raises(KeyError):
        host_error(statuses[0])
    for status in statuses[-255:-1]:
        host_error(status)


def test_in_a_replay_nothing_runs() -> None:
    seen: list[float] = []
    silent = HostFunction(lambda x: seen.append(float(x)) or [], "kind")
    speaking = HostFunction(lambda x: [x], "kind", [FLOAT])
    with replaying():
        status, order = Executable(program(silent)).launch([np.float32(2.0)], [])
        with pytest.raises(UnimplementedError, match=r"evaluates gx\.pyfunc a second time"):
            Executable(program(speaking)).launch([np.float32(2.0)], [])
        with replaying(active=False):
            Executable(program(silent)).launch([np.float32(3.0)], [])
    assert (int(status), int(order), seen) == (0, 0, [3.0])


def test_a_function_that_is_gone() -> None:
    function = HostFunction(lambda x: [], "kind")
    graph = program(function)
    name = function.name
    del function
    gc.collect()
    with pytest.raises(NotFoundError, match=f"the Python function '{name}', which does not exist in this process"):
        Executable(graph).launch([np.float32(1.0)], [])


def test_a_graph_from_its_text_calls_the_function() -> None:
    seen: list[float] = []
    function = HostFunction(lambda x: (seen.append(float(x)), [x + 1])[1], "kind", [FLOAT])
    call = gx.from_graph(gx.parse_graph(str(program(function))))
    assert [part.item() for part in call(gx.asarray(1.0))] == [2.0, 0, 1]
    assert seen == [1.0]


def test_wrong_inputs_are_refused() -> None:
    with pytest.raises(InternalError, match="status and order"):
        HOST_CALL.infer([FLOAT, FLOAT], Attrs(function="f", results=()), ())


def test_call_states_start_anew_at_each_call() -> None:
    state = CallState("test.count", np.asarray(3, np.int32))
    trace = Trace("program")
    x = trace.argument(FLOAT, "x")
    assert not trace.touched(state)
    with trace_scope(trace):
        state.assign(apply_all(OPS["add"], (state.value(), np.int32(1)))[0])
        outputs = [state.value(), x]
    assert trace.touched(state)
    executable = Executable(trace.finish(outputs))
    assert [int(executable.launch([np.float32(0.0)], [])[0]) for _ in range(2)] == [4, 4]


def test_a_check_sees_the_outputs_before_variables_change() -> None:
    v = gx.Variable(1.0)
    graph = gx.function(lambda x: v.assign_add(x).value()).graph(gx.asarray(1.0))
    seen: list[float] = []

    def check(outputs: Any) -> None:
        seen.append(float(outputs[0]))
        if outputs[0] > 3:
            raise ValueError("too large")

    executable = Executable(graph, check)
    executable.launch([np.float32(1.0)], [v])
    with pytest.raises(ValueError, match="too large"):
        executable.launch([np.float32(5.0)], [v])
    assert (v.numpy(), seen) == (2.0, [2.0, 7.0])
