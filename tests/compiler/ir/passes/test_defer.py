"""Checks of a number that a loop counts up are made once after the loop."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.base import Registry
from graphc.compiler.ir import Graph, Interpreter, OpDef, parse_graph, verify
from graphc.compiler.ir.passes import Defer
from tests.compiler.ir.passes import test_bounds
from tests.compiler.ir.strategies import TEST_OPS
from tests.draws import examples

OPS: Registry[OpDef] = Registry("op")
for _name in test_bounds.OPS:
    OPS.add(_name, test_bounds.OPS[_name])
OPS.add("identity", OpDef("identity", np.asarray, TEST_OPS["add"].infer, ("x",), light=True))

ENDS = [-(2**31), -(2**31) + 1, -3, -1, 0, 1, 2, 5, 2**31 - 3, 2**31 - 2, 2**31 - 1]

_CHECK = """%at_least: bool[] = greater_equal(%n, %low)
              %below: bool[] = less(%n, %high)
              %within: bool[] = logical_and(%at_least, %below)
              %outside: bool[] = logical_not(%within)"""


def _loop(changes: Mapping[str, str], *, low: int = 0, high: int = 5) -> Graph:
    """A loop over truths that counts the true ones, checks the count, and collects it; ``changes`` replace nodes."""
    nodes = f"""%one: i32[] = constant() {{value = i32[](1)}}
              %fine: i32[] = constant() {{value = i32[](0)}}
              %failed: i32[] = constant() {{value = i32[](7)}}
              %low: i32[] = constant() {{value = i32[]({low})}}
              %high: i32[] = constant() {{value = i32[]({high})}}
              {_CHECK}
              %status: i32[] = identity(%s)
              %is_fine: bool[] = equal(%status, %fine)
              %fails: bool[] = logical_and(%is_fine, %outside)
              %latched: i32[] = where(%fails, %failed, %status)
              %kept: i32[] = where(%fails, %n, %p)
              %more: i32[] = add(%n, %one)
              %n_2: i32[] = where(%when, %more, %n)
              %s_2: i32[] = where(%when, %latched, %s)
              %p_2: i32[] = where(%when, %kept, %p)
              %row: i32[] = add(%n, %i)
              return %n_2, %p_2, %s_2, %row"""
    for name, new in changes.items():
        lines = nodes.split("\n")
        (place,) = [place for place, line in enumerate(lines) if line.strip().startswith((f"%{name}:", f"{name} %"))]
        lines[place] = new
        nodes = "\n".join(lines)
    graph = parse_graph(
        f"""graph g(%n: i32[], %p: i32[], %s: i32[], %truths: bool[6]) -> (i32[], i32[], i32[], i32[6]) {{
          %l: (i32[], i32[], i32[], i32[6]) = scan(%n, %p, %s, %truths) {{assigned = ("status",), length = 6, \
num_carry = 3, num_xs = 1, num_ys = 1}} {{
            body(%i: i32[], %n: i32[], %p: i32[], %s: i32[], %when: bool[]) -> (i32[], i32[], i32[], i32[]) {{
              {nodes}
            }}
          }}
          return %l#0, %l#1, %l#2, %l#3
        }}""",
        OPS,
    )
    verify(graph)
    return graph


def _run(graph: Graph, *values: Any) -> list[Any]:
    with np.errstate(over="ignore"):
        return [np.asarray(found).tolist() for found in Interpreter(graph).run(*values)]


@settings(max_examples=examples(300), deadline=None)
@given(
    low=st.sampled_from([None, *ENDS]),
    high=st.sampled_from(ENDS),
    start=st.sampled_from(ENDS),
    status=st.sampled_from([0, 3]),
    truths=st.lists(st.booleans(), min_size=6, max_size=6),
)
def test_the_results_stay_also_where_the_count_wraps(
    low: int | None, high: int, start: int, status: int, truths: list[bool]
) -> None:
    changes = {"within": "%within: bool[] = identity(%below)"} if low is None else {}
    graph = _loop(changes, low=low or 0, high=high)
    result = Defer(OPS)(graph)
    verify(result)
    inputs = np.int32(start), np.int32(11), np.int32(status), np.array(truths)
    assert _run(result, *inputs) == _run(graph, *inputs)
    (loop,) = [node for node in result.nodes if node.op.name == "scan"]
    assert (loop.attrs["num_carry"], "assigned" in loop.attrs, len(loop.inputs)) == (1, False, 2)
    assert Defer(OPS)(result) is result


@pytest.mark.parametrize(
    "changes",
    [
        {"n_2": "%n_2: i32[] = identity(%more)"},
        {"n_2": "%n_2: i32[] = where(%below, %more, %n)"},
        {"more": "%more: i32[] = add(%n, %i)"},
        {"more": "%more: i32[] = add(%n, %failed)"},
        {"more": "%more: i32[] = subtract(%n, %one)"},
        {"below": "%below: bool[] = less(%n, %i)"},
        {"below": "%below: bool[] = less(%i, %high)"},
        {"at_least": "%at_least: bool[] = greater_equal(%p, %low)"},
        {"within": "%within: bool[] = logical_or(%at_least, %below)"},
        {"outside": "%outside: bool[] = identity(%within)"},
        {"failed": "%failed: i32[] = constant() {value = i32[](0)}"},
        {"is_fine": "%is_fine: bool[] = equal(%p, %fine)"},
        {"latched": "%latched: i32[] = where(%fails, %i, %status)"},
        {"kept": "%kept: i32[] = where(%fails, %i, %p)"},
        {"s_2": "%s_2: i32[] = identity(%latched)"},
        {"p_2": "%p_2: i32[] = where(%below, %kept, %p)"},
        {"row": "%row: i32[] = add(%n, %s)"},
        {"row": "%row: i32[] = add(%n, %kept)"},
    ],
    ids=str,
)
def test_another_change_of_the_status_or_the_count_stays_in_the_loop(changes: dict[str, str]) -> None:
    graph = _loop(changes)
    assert Defer(OPS)(graph) is graph
