"""Loops run backwards over arrays where this spares reversed copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.ir import Graph, parse_graph, print_graph, verify
from graphc.compiler.ir.passes import Loops, Turn
from tests.compiler.ir.strategies import TEST_OPS, State, Stateful, told
from tests.draws import examples

TAKES_AND_COLLECTS = """
    body(%i: i32[], %c: f32[], %r: f32[], %w: f32[5]) -> (f32[], f32[]) {
      %f: f32[] = get_item(%w, %i) {index = ("tensor",)}
      %h: f32[] = multiply(%c, %f)
      %s: f32[] = add(%h, %r)
      return %s, %s
    }"""
COLLECTS = "body(%i: i32[], %c: f32[]) -> (f32[], f32[]) { %s: f32[] = add(%c, %c) return %s, %s }"
TAKES = "body(%i: i32[], %c: f32[], %r: f32[]) -> (f32[]) { %s: f32[] = multiply(%c, %r) return %s }"


def flipped(name: str, array: str) -> str:
    return f"{name}: f32[5] = get_item({array}) {{index = ((None, None, -1),)}} "


def scan(name: str, operands: str, trips: str = "", body: str = TAKES_AND_COLLECTS) -> str:
    rows, collected = int("%r" in body), int("-> (f32[], f32[])" in body)
    types = "(f32[], f32[5])" if collected else "f32[]"
    attrs = f"num_carry = 1, num_xs = {rows}, num_ys = {collected}, length = 5{trips}"
    return f"{name}: {types} = scan({operands}) {{{attrs}}} {{ {body} }} "


def checked(graph: Graph) -> Graph:
    """The graph after the pass, which gives what it gave before."""
    verify(graph)
    after = Turn(TEST_OPS)(graph)
    inputs = [np.float32(0.1), np.arange(1, 6, dtype=np.float32) / 3]
    wanted, log = run(graph, inputs)
    for result in (after, Loops(TEST_OPS)(graph)):
        verify(result)
        found, seen = run(result, inputs)
        assert seen == log
        for one, other in zip(wanted, found, strict=True):
            np.testing.assert_array_equal(one, other)
    return after


def run(graph: Graph, inputs: list[Any]) -> tuple[Sequence[Any], list[tuple[str, bytes]]]:
    """What the graph gives, and what users without results see."""
    state = State()
    return Stateful(graph, state).run(*inputs), state.log


def turned(text: str) -> str:
    return print_graph(checked(parse_graph(f"graph g(%x: f32[], %v: f32[5]) -> (f32[5]) {{ {text} }}", TEST_OPS)))


def test_a_loop_over_a_reversed_array_whose_results_are_reversed_runs_backwards() -> None:
    after = turned(flipped("%b", "%v") + scan("%s", "%x, %b, %v") + flipped("%o", "%s#1") + "return %o")
    assert "scan(%x, %v, %v)" in after
    assert "length = 5, start = 4, step = -1, reverse = True" in after
    assert "return %s#1" in after


def test_a_loop_from_the_last_index_to_the_first_is_one_over_the_rows_in_their_order() -> None:
    loop = scan("%s", "%x, %b, %v", ", start = 4, step = -1")
    after = turned(flipped("%b", "%v") + loop + flipped("%o", "%s#1") + "return %o")
    assert "length = 5, reverse = True}" in after


def test_a_loop_stays_if_anything_would_be_reversed_instead() -> None:
    assert "reverse" not in turned(flipped("%b", "%v") + scan("%s", "%x, %b, %v") + "return %s#1")
    assert "reverse" not in turned(scan("%s", "%x, %v, %v") + flipped("%o", "%s#1") + "return %o")


def test_of_two_loops_with_a_reversal_between_them_one_is_turned() -> None:
    first, second = scan("%a", "%x", body=COLLECTS), scan("%s", "%x, %b", body=TAKES)
    after = turned(first + flipped("%b", "%a#1") + second + scan("%o", "%s, %v, %v") + "return %o#1")
    assert after.count("reverse = True") == 1


def test_a_loop_stays_if_others_use_what_it_collects() -> None:
    both = flipped("%b", "%v") + scan("%s", "%x, %b, %v") + flipped("%o", "%s#1")
    assert "reverse" not in turned(both + "%z: f32[5] = add(%o, %s#1) return %z")


@st.composite
def chains(draw: st.DrawFn) -> Graph:
    """Loops one after the other over vectors, some of them reversed."""
    text, arrays = "", ["%v"]

    def array() -> str:
        nonlocal text
        found, name = draw(st.sampled_from(arrays)), f"%b{len(text)}"
        if draw(st.booleans()):
            text += flipped(name, found)
            return name
        return found

    for place in range(draw(st.integers(1, 3))):
        body = draw(st.sampled_from([TAKES_AND_COLLECTS, COLLECTS, TAKES]))
        operands = ["%x", *([array()] if "%r" in body else []), *(["%v"] if "%w" in body else [])]
        trips = draw(st.sampled_from(["", ", start = 4, step = -1", ", reverse = True"]))
        text += scan(f"%l{place}", ", ".join(operands), trips, body)
        if "-> (f32[], f32[])" in body:
            arrays.append(f"%l{place}#1")
    results = [array() for _ in range(draw(st.integers(1, 3)))]
    types = ", ".join(["f32[5]"] * len(results))
    text = f"graph g(%x: f32[], %v: f32[5]) -> ({types}) {{ {text} return {', '.join(results)} }}"
    return parse_graph(text, TEST_OPS)


@given(graph=chains().flatmap(told))
@settings(max_examples=examples(100), deadline=None)
def test_the_values_stay_to_the_bit(graph: Graph) -> None:
    checked(graph)
