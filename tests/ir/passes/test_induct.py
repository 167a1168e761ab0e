"""Ints that a loop counts are computed from its index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.ir import Graph, Interpreter, parse_graph, verify
from graphc.ir.passes import DCE, Induct, Loops
from tests.draws import examples
from tests.ir.strategies import TEST_OPS


def _loop(body: str, *, length: int = 4, start: int = 0, step: int = 1, reverse: bool = False) -> Graph:
    """A loop that carries two ints: %n, and %s, for which the body gives %m and %r."""
    graph = parse_graph(
        f"""graph g(%a: i32[], %b: i32[]) -> (i32[], i32[]) {{
          %l: (i32[], i32[]) = scan(%a, %b) {{length = {length}, start = {start}, step = {step},
              reverse = {reverse}, num_carry = 2, num_xs = 0, num_ys = 0}} {{
            body(%i: i32[], %n: i32[], %s: i32[]) -> (i32[], i32[]) {{
              {body}
              return %m, %r
            }}
          }}
          return %l#0, %l#1
        }}""".replace(",\n              reverse", ", reverse"),
        TEST_OPS,
    )
    verify(graph)
    return graph


def _adding(by: int) -> str:
    return f"""%by: i32[] = constant() {{value = i32[]({by})}}
              %m: i32[] = add(%n, %by)
              %p: i32[] = multiply(%s, %n)
              %r: i32[] = add(%p, %i)"""


def _run(graph: Graph, *values: int) -> list[Any]:
    with np.errstate(over="ignore"):
        return [int(found) for found in Interpreter(graph).run(*map(np.int32, values))]


@settings(max_examples=examples(60), deadline=None)
@given(
    by=st.sampled_from([-(2**31), -6, -2, -1, 0, 1, 2, 4, 6, 2**31 - 1]),
    length=st.integers(1, 5),
    start=st.integers(-3, 3),
    step=st.sampled_from([-3, -2, -1, 1, 2, 3]),
    reverse=st.booleans(),
    first=st.sampled_from([-(2**31), -1, 0, 7, 2**31 - 1]),
    second=st.integers(-3, 3),
)
def test_the_results_stay(by: int, length: int, start: int, step: int, reverse: bool, first: int, second: int) -> None:
    graph = _loop(_adding(by), length=length, start=start, step=step, reverse=reverse)
    result = Induct(TEST_OPS)(graph)
    verify(result)
    assert _run(result, first, second) == _run(graph, first, second)
    (loop,) = [node for node in result.nodes if node.op.name == "scan"]
    assert loop.attrs["num_carry"] == (2 if by % step else 1)
    optimized = Loops(TEST_OPS)(graph)
    verify(optimized)
    assert _run(optimized, first, second) == _run(graph, first, second)
    assert Induct(TEST_OPS)(result) is result


def test_a_count_is_the_index_with_what_it_starts_from() -> None:
    result = str(DCE()(Induct(TEST_OPS)(_loop(_adding(1)))))
    assert "scan(%b, %a) {" in result
    assert "%add: i32[] = add(%n, %i)" in result
    assert "multiply(%s, %add)" in result
    assert "return %add, %l" in result


@pytest.mark.parametrize(
    "body",
    [
        _adding(1).replace("add(%n, %by)", "add(%n, %s)"),
        _adding(1).replace("add(%n, %by)", "add(%s, %by)"),
        _adding(1).replace("add(%n, %by)", "add(%n, %n)"),
        _adding(1).replace("add(%n, %by)", "multiply(%n, %by)"),
    ],
    ids=["by another", "of another", "doubled", "multiplied"],
)
def test_what_is_no_count_is_carried(body: str) -> None:
    graph = _loop(body)
    assert Induct(TEST_OPS)(graph) is graph
