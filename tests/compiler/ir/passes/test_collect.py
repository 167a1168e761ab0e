"""Arrays that a loop fills row by row are collected."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import numpy as np
import pytest

from graphc.compiler.ir import Graph, Interpreter, parse_graph, print_graph, verify
from graphc.compiler.ir.passes import Collect, Loops
from tests.compiler.ir.strategies import TEST_OPS

TRIPS = "length = 3, start = 0, step = 1, reverse = False, num_carry = 3, num_xs = 0, num_ys = 0"
BODY = """
    %h: f32[] = neg(%c)
    %u: f32[5] = update_item(%v, %h, %AT) {index = ("tensor",), how = "set"}
    %one: i32[] = constant() {value = i32[](1)}
    %m: i32[] = add(%n, %one)
    return %h, %u, %m
"""


def loop(body: str = BODY, at: str = "i", **trips: object) -> Graph:
    """A scan that carries a float, a vector of five and a counter that begins at 1."""
    written = dict(item.split(" = ") for item in TRIPS.split(", ")) | {
        name: str(value) for name, value in trips.items()
    }
    text = f"""graph g(%x: f32[], %y: f32[5]) -> (f32[], f32[5], i32[]) {{
      %start: i32[] = constant() {{value = i32[](1)}}
      %s: (f32[], f32[5], i32[]) = scan(%x, %y, %start) {{{", ".join(f"{k} = {v}" for k, v in written.items())}}} {{
        body(%i: i32[], %c: f32[], %v: f32[5], %n: i32[]) -> (f32[], f32[5], i32[]) {{{dedent(body).replace("AT", at)}}}
      }}
      return %s#0, %s#1, %s#2
    }}"""
    graph = parse_graph(text, TEST_OPS)
    verify(graph)
    return graph


def collected(graph: Graph) -> str:
    """The graph after the pass, which gives what it gave before."""
    result = Collect(TEST_OPS)(graph)
    verify(result)
    verify(Loops(TEST_OPS)(graph))
    inputs: list[Any] = [np.float32(2), np.arange(5, dtype=np.float32)]
    for before, after in zip(Interpreter(graph).run(*inputs), Interpreter(result).run(*inputs), strict=True):
        np.testing.assert_array_equal(before, after)
    return print_graph(result)


@pytest.mark.parametrize(
    ("graph", "rows"),
    [
        (loop(), (0, 3)),
        (loop(start=2), (2, 5)),
        (loop(reverse=True), (0, 3)),
        (loop("%two: i32[] = constant() {value = i32[](2)}\n%j: i32[] = add(%i, %two)" + BODY, at="j"), (2, 5)),
    ],
    ids=["index", "start", "reverse", "offset"],
)
def test_rows_are_collected_and_put_where_they_belong(graph: Graph, rows: tuple[int, int]) -> None:
    text = collected(graph)
    assert "num_carry = 2" in text
    assert "num_ys = 1" in text
    assert f'update_item(%y, %s#2) {{index = (({rows[0]}, {rows[1]}, None),), how = "set"}}' in text
    assert text.count("update_item") == 1


@pytest.mark.parametrize(
    ("graph", "index"),
    [(loop(step=2), "(0, 5, 2)"), (loop(step=-1, start=3), "(1, 4, None)")],
    ids=["steps", "counts down"],
)
def test_rows_may_lie_apart_or_come_from_behind(graph: Graph, index: str) -> None:
    text = collected(graph)
    assert f'{{index = ({index},), how = "set"}}' in text
    assert ("(None, None, -1)" in text) == ("None" in index)


def test_what_is_added_to_rows_is_added_behind_the_loop() -> None:
    text = collected(loop(BODY.replace('how = "set"', 'how = "add"')))
    assert 'update_item(%y, %s#2) {index = ((0, 3, None),), how = "add"}' in text


def test_an_array_of_which_every_row_is_assigned_is_the_rows() -> None:
    text = collected(loop(length=5))
    assert "update_item" not in text
    assert "return %s#0, %s#2, %s#1" in text


@pytest.mark.parametrize(
    "graph",
    [
        loop(BODY.replace("%h: f32[] = neg(%c)", "%h: f32[] = get_item(%v) {index = (0,)}")),
        loop(BODY.replace("return %h, %u, %m", "%g: f32[] = get_item(%u) {index = (0,)}\n return %g, %u, %m")),
        loop(start=3),
        loop(at="n"),
        loop(BODY.replace("add(%n, %one)", "add(%n, %one) after(%u)")),
    ],
    ids=["looks before", "looks after", "behind the end", "a counter", "awaited"],
)
def test_what_is_more_than_filling_stays(graph: Graph) -> None:
    assert Collect(TEST_OPS)(graph) is graph
