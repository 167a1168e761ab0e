"""Runs of random graphs over three tasks, with random pins, against a model in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.core import apply
from graphc.compiler.ir import OPS, define_op, part_of_world, writes
from tests.draws import examples
from tests.graphs.session.test_random_graphs import NAMES, model, programs

pytestmark = pytest.mark.timeout(300)

define_op(
        "tests.may_wait", lambda x: np.asarray(x) + 1, lambda types, attrs, regions: types, ("x",), host=True,
        effects=lambda attrs: (writes(part_of_world("tests")),),
    )  # fmt: skip
_CLUSTER = {"a": ["127.0.0.1:2301"], "b": ["127.0.0.1:2302", "127.0.0.1:2303"]}
_PINS = ("", "/job:a", "/job:b", "/job:b/task:1/cpu:0")


@pytest.fixture(scope="module", autouse=True)
def _servers() -> Any:
    servers = [
        gx.Server(_CLUSTER, job, index, "threads") for job, tasks in _CLUSTER.items() for index in range(len(tasks))
    ]
    yield
    for server in servers:
        server.stop()


@settings(max_examples=examples(40), deadline=None)
@given(programs(), st.lists(st.sampled_from(_PINS), min_size=20, max_size=20), st.sampled_from([2301, 2302, 2303]))
def test_a_run_over_tasks_does_what_python_does(program: Any, pins: list[str], port: int) -> None:
    statements, fetched, fed = program
    with gx.Graph().as_default() as graph:
        variables: dict[str, Any] = {}
        for name, pin in zip(NAMES, pins[-2:], strict=True):
            with graph.device(pin or None):
                variables[name] = gx.Variable(10.0, name=name)
        tensors: list[Any] = []
        for (kind, *given_), pin in zip(statements, pins, strict=False):
            operands = [tensors[used] if isinstance(used, int) else used for used in given_]
            with graph.device(pin or None):
                tensors.append(_applied(graph, kind, operands, variables, "may_wait" if pin else "on_host"))
    session = gx.Session(f"grpc://127.0.0.1:{port}", graph=graph)
    session.run([variable.initializer for variable in variables.values()])
    found = session.run([tensors[place] for place in fetched], {tensors[place]: 100.0 + place for place in fed})
    values, held = model(statements, fetched, fed)
    assert [float(value) for value in found] == values
    assert {name: float(session.run(variable)) for name, variable in variables.items()} == held
    session.close()


def _applied(graph: Any, kind: str, operands: list[Any], variables: dict[str, Any], host: str) -> Any:
    if kind == "const":
        return gx.placeholder_with_default(np.float32(operands[0]), ())
    if kind == "read":
        return variables[operands[0]].value()
    if kind == "assign":
        return variables[operands[0]].assign(operands[1])
    if kind == "host":
        return apply(OPS[f"tests.{host}"], (operands[0],))
    if kind == "add":
        return operands[0] + operands[1]
    with graph.control_dependencies([operands[0]]):
        return operands[1] + 1.0
