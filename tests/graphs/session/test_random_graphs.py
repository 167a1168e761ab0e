"""Runs of random graphs, with Variables and ops of the host, against a model in plain Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.core import apply
from graphc.compiler.ir import OPS, define_op
from tests.draws import examples

pytestmark = pytest.mark.timeout(300)

define_op("tests.on_host", lambda x: np.asarray(x) + 1, lambda types, attrs, regions: types, ("x",), host=True)
NAMES = ("v", "w")


@st.composite
def programs(draw: st.DrawFn) -> tuple[list[tuple[Any, ...]], list[int], list[int]]:
    """Statements, of which each may use the results of those before, then what is fetched and what is fed."""
    kinds = st.sampled_from(["read", "assign", "host", "add", "add", "after"])
    statements: list[tuple[Any, ...]] = [("const", 1.0), ("const", 2.0)]
    for _ in range(draw(st.integers(3, 12))):
        kind = draw(kinds)
        place = st.integers(0, len(statements) - 1)
        if kind == "read":
            statements.append((kind, draw(st.sampled_from(NAMES))))
        elif kind == "assign":
            statements.append((kind, draw(st.sampled_from(NAMES)), draw(place)))
        elif kind == "host":
            statements.append((kind, draw(place)))
        else:
            statements.append((kind, draw(place), draw(place)))
    places = st.integers(2, len(statements) - 1)
    return statements, draw(st.lists(places, min_size=1, max_size=3)), draw(st.lists(places, max_size=2, unique=True))


def needed(statements: list[tuple[Any, ...]], fetched: list[int], fed: list[int]) -> set[int]:
    found: set[int] = set()
    waiting = [place for place in fetched if place not in fed]
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting += [used for used in statements[place][1:] if isinstance(used, int) and used not in fed]
            kind, *operands = statements[place]
            if kind == "after" and operands[0] in fed and operands[0] != operands[1]:
                waiting.append(operands[0])  # an order is kept though the value is fed; who takes the value needs none
    return found


def model(
    statements: list[tuple[Any, ...]], fetched: list[int], fed: list[int]
) -> tuple[list[float], dict[str, float]]:
    """What a run gives: the needed statements, in their order, as Python does them."""
    held, values = dict.fromkeys(NAMES, 10.0), {place: 100.0 + place for place in fed}
    run = needed(statements, fetched, fed)
    for place, (kind, *given_) in enumerate(statements):
        if place not in run:
            continue
        operands = [values.get(used) if isinstance(used, int) else used for used in given_]
        if kind == "const":
            result = operands[0]
        elif kind == "read":
            result = held[operands[0]]
        elif kind == "assign":
            result = held[operands[0]] = operands[1]
        elif kind == "host":
            result = operands[0] + 1
        else:
            result = operands[1] + 1 if kind == "after" else operands[0] + operands[1]
        values.setdefault(place, result)
    return [values[place] for place in fetched], held


@settings(max_examples=examples(25), deadline=None)
@given(programs())
def test_a_run_does_what_python_does(program: tuple[list[tuple[Any, ...]], list[int], list[int]]) -> None:
    statements, fetched, fed = program
    with gx.Graph().as_default() as graph:
        variables: dict[str, Any] = {name: gx.Variable(10.0, name=name) for name in NAMES}
        tensors: list[Any] = []
        for kind, *given_ in statements:
            operands = [tensors[used] if isinstance(used, int) else used for used in given_]
            if kind == "const":
                tensors.append(gx.placeholder_with_default(np.float32(operands[0]), ()))
            elif kind == "read":
                tensors.append(variables[operands[0]].value())
            elif kind == "assign":
                tensors.append(variables[operands[0]].assign(operands[1]))
            elif kind == "host":
                tensors.append(apply(OPS["tests.on_host"], (operands[0],)))
            elif kind == "add":
                tensors.append(operands[0] + operands[1])
            else:
                with graph.control_dependencies([operands[0]]):
                    tensors.append(operands[1] + 1.0)
    session = gx.Session(graph=graph)
    session.run([variable.initializer for variable in variables.values()])
    found = session.run([tensors[place] for place in fetched], {tensors[place]: 100.0 + place for place in fed})
    values, held = model(statements, fetched, fed)
    assert [float(value) for value in found] == values
    assert {name: float(session.run(variable)) for name, variable in variables.items()} == held
