"""Loops that carry a number of a range, and not the counter that it is computed from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.base import Registry
from graphc.compiler.ir import Interpreter, OpDef, parse_graph, print_graph, verify
from graphc.compiler.ir.passes import ReduceStrength
from tests.compiler.ir.strategies import BOOL, INT, TEST_OPS

OPS: Registry[OpDef] = Registry("op")
for name in TEST_OPS:
    if name != "while":
        OPS.add(name, TEST_OPS[name])


def _while(*values: Any, max_iterations: int, **others: Any) -> Any:
    return TEST_OPS["while"].impl(*values, **others)


OPS.add("while", replace(TEST_OPS["while"], impl=_while))
OPS.add("maximum", OpDef("maximum", np.maximum, lambda types, attrs, regions: (INT,), ("x", "y"), light=True))
OPS.add("not_equal", OpDef("not_equal", np.not_equal, lambda types, attrs, regions: (BOOL,), ("x", "y"), light=True))


def _number(x: Any, *, kind: str, **bounds: Any) -> Any:
    return x


OPS.add("as_number", OpDef("as_number", _number, lambda types, attrs, regions: (INT,), ("x",), light=True))

NUMBER = "%m: i32[] = multiply(%k, %step) %j: i32[] = add(%m, %start) "
HASH = "%h: i32[] = multiply(%a, %prime) %b: i32[] = add(%h, %j) "
MOST = "max_iterations = 9"
NEXT = "%n: i32[] = add(%k, %one) "


def loop(number: str = NUMBER, result: str = "%s#1", after: str = "%n, %b", first: int = 0, more: str = "") -> str:
    """A while that counts ``k`` up to a length, computes ``j`` from it, and makes a hash of all of these."""
    inputs = "%k: i32[], %a: i32[], %length: i32[], %start: i32[], %step: i32[], %one: i32[], %prime: i32[]"
    return f"""graph g(%length: i32[], %start: i32[], %step: i32[]) -> (i32[]) {{
      %k: i32[] = constant() {{value = i32[]({first})}}
      %one: i32[] = constant() {{value = i32[](1)}}
      %prime: i32[] = constant() {{value = i32[](31)}}
      %s: (i32[], i32[]) = while(%k, %one, %length, %start, %step, %one, %prime) {{num_carry = 2, {MOST}}} {{
        test({inputs}) -> (bool[]) {{ %l: bool[] = less(%k, %length) return %l }}
        body({inputs}) -> (i32[], i32[]) {{
          %one: i32[] = constant() {{value = i32[](1)}} {number} {HASH} {more} {NEXT} return {after}
        }}
      }}
      return {result}
    }}""".replace("%step: i32[], %one: i32[], %prime", "%step: i32[], %unit: i32[], %prime")


RANGE = ' %r: i32[] = as_number(%j) {kind = "int", low = -99, high = 99, distinct = True} '


def run(graph: Any, *given: int) -> Any:
    with np.errstate(all="ignore"):
        return Interpreter(graph).run(*[np.int32(number) for number in given])


def after(text: str, *given: tuple[int, int, int]) -> str:
    graph = parse_graph(text, OPS)
    verify(graph)
    found = ReduceStrength(OPS)(graph)
    verify(found)
    for numbers in given:
        np.testing.assert_array_equal(run(graph, *numbers), run(found, *numbers))
    return print_graph(found)


def test_a_range_of_computed_bounds_is_carried() -> None:
    text = after(loop(more=RANGE), (5, 2, 3), (4, 9, -2), (0, 1, 1), (-3, 1, 1), (1, 7, 50))
    assert "not_equal" in text
    assert "less" not in text


def test_a_counter_from_a_start_needs_no_product() -> None:
    text = after(loop("%j: i32[] = add(%k, %start) "), (5, 2, 3), (-2, 9, 0), (3, 2**31 - 2, 0))
    assert "not_equal" in text


@pytest.mark.parametrize(
    "text",
    [
        loop(),  # the step may be 0
        loop(NUMBER.replace("%step", "%a"), more=RANGE),
        loop(more=RANGE, result="%s#0"),
        loop(more=RANGE, after="%n, %n"),
        loop(more=RANGE + "%u: i32[] = add(%k, %b) ", after="%n, %u"),
        loop(more=RANGE, first=1),
        loop(more=RANGE.replace(", distinct = True", "")),
        loop(more=RANGE.replace("99", "2000000000")),
    ],
)
def test_other_loops_stay(text: str) -> None:
    graph = parse_graph(text, OPS)
    verify(graph)
    assert ReduceStrength(OPS)(graph) is graph


STEPS = st.sampled_from([0, 1, -1, 2, -2, 3, 4, 7, 2**16, 2**28, 2**29, -(2**29), 2**30, 2**31 - 1, -(2**31)])


@given(STEPS, st.integers(-2, 9), st.sampled_from([0, 1, -5, 2**31 - 3, -(2**31)]))
@settings(max_examples=150, deadline=None)
def test_random_steps_give_the_same_numbers(step: int, length: int, start: int) -> None:
    constant = f"%c: i32[] = constant() {{value = i32[]({step})}} " + NUMBER.replace("%step", "%c")
    after(loop(constant), (length, start, 0))
    last = start + step * max(length - 1, 0)
    if step and -(2**31) <= last < 2**31 and abs(last - start) < 2**31:
        low, high = sorted((start, last))
        of_range = RANGE.replace("-99", str(low)).replace("99", str(high))
        assert "not_equal" in after(loop(more=of_range), (length, start, step))
