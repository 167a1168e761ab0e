"""Loops whose rows are all read one by one become their iterations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.ir import Interpreter, parse_graph, print_graph, verify
from graphc.compiler.ir.passes import Unroll
from tests.compiler.ir.strategies import TEST_OPS
from tests.draws import examples

STEP = """body(%i: i32[], %c: f32[], %r: f32[], %w: f32[5]) -> (f32[], f32[]) {
  %f: f32[] = get_item(%w, %i) {index = ("tensor",)}
  %h: f32[] = multiply(%c, %f)
  %s: f32[] = add(%h, %r)
  return %s, %h
}"""
HEAVY = "".join(f"%n{place}: f32[] = multiply(%c, %c)\n" for place in range(52))
ROWS = [f"%r{place}: f32[] = get_item(%s#1) {{index = ({place},)}}" for place in range(5)]


def unrolled(rows: list[str], results: str, trips: str = "", body: str = STEP) -> str:
    """The graph after the pass, which gives what it gave before."""
    loop = f"%s: (f32[], f32[5]) = scan(%x, %v, %v) {{num_carry = 1, num_xs = 1, num_ys = 1, length = 5{trips}}}"
    types = ", ".join("f32[5]" if result == "%s#1" else "f32[]" for result in results.split(", "))
    nodes = "\n".join([f"{loop} {{ {body} }}", *rows])
    graph = parse_graph(f"graph g(%x: f32[], %v: f32[5]) -> ({types}) {{ {nodes}\nreturn {results} }}", TEST_OPS)
    verify(graph)
    after = Unroll(TEST_OPS)(graph)
    verify(after)
    inputs = np.float32(0.1), np.arange(1, 6, dtype=np.float32) / 3
    for one, other in zip(Interpreter(graph).run(*inputs), Interpreter(after).run(*inputs), strict=True):
        np.testing.assert_array_equal(one, other)
    return print_graph(after)


@settings(max_examples=examples(30), deadline=None)
@given(st.permutations(ROWS), st.booleans(), st.booleans())
def test_a_loop_whose_rows_are_read_one_by_one_becomes_its_iterations(
    rows: list[str], turns: bool, carries: bool
) -> None:
    trips = ", start = 4, step = -1, reverse = True" if turns else ""
    after = unrolled(rows, "%r1, %r4, %r2, %r0, %r3" + ", %s#0" * carries, trips)
    assert "scan" not in after
    assert after.count("multiply") == 5


@pytest.mark.parametrize(
    ("rows", "results", "trips", "body"),
    [
        (ROWS[:4], "%r0, %r1, %r2, %r3", "", STEP),
        (ROWS, "%r0, %s#1", "", STEP),
        ([*ROWS, "%m: f32[5] = neg(%s#1)", "%n: f32[] = get_item(%m) {index = (0,)}"], "%r0, %n", "", STEP),
        (ROWS, "%r0, %r1", "", STEP.replace("%h: ", f"{HEAVY}%h: ")),
    ],
    ids=["a row is not read", "returned", "used as a whole", "heavy"],
)  # fmt: skip
def test_other_loops_stay(rows: list[str], results: str, trips: str, body: str) -> None:
    assert "scan" in unrolled(rows, results, trips, body)
