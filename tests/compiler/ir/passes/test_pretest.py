"""What is alike in all iterations leaves the test of a ``while``."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.ir import Interpreter, parse_graph, print_graph, verify
from graphc.compiler.ir.passes import Pretest
from tests.compiler.ir.strategies import TEST_OPS

INPUTS = "%c: f32[], %k: f32[], %a: f32[], %v: f32[3], %p: i32[]"
READ = '%r: f32[] = get_item(%v, %p) {index = ("tensor",)} '


def loop(test: str, changed: str = "%n: f32[] = add(%c, %one) return %n, %k, %a") -> str:
    """A while that counts ``c`` up to a bound, passes ``k`` on, carries ``a``, and sees a vector and a place in it."""
    return f"""graph g(%c: f32[], %k: f32[], %v: f32[3], %p: i32[]) -> (f32[], f32[]) {{
      %s: (f32[], f32[], f32[]) = while(%c, %k, %k, %v, %p) {{num_carry = 3}} {{
        test({INPUTS}) -> (bool[]) {{ {test} }}
        body({INPUTS}) -> (f32[], f32[], f32[]) {{ %one: f32[] = constant() {{value = f32[](1.0)}} {changed} }}
      }}
      return %s#0, %s#2
    }}"""


def after(text: str) -> str:
    """The text of a graph after the pass, which changes nothing of what the graph computes."""
    graph = parse_graph(text, TEST_OPS)
    verify(graph)
    found = Pretest(TEST_OPS)(graph)
    verify(found)
    for c in (-3.5, 2.0, 90.0):
        given = np.float32(c), np.float32(2), np.array([1.5, 6, 4], np.float32), np.int32(1)
        np.testing.assert_array_equal(Interpreter(graph).run(*given), Interpreter(found).run(*given))
    return print_graph(found)


def test_a_heavy_node_leaves_with_what_it_needs() -> None:
    text = after(loop("%d: f32[] = add(%k, %k) %h: f32[] = halve(%d) %l: bool[] = less(%c, %h) return %l"))
    assert text.index("add(%k, %k)") < text.index("halve(%d)") < text.index("while(") < text.index("less(")
    assert text.count("halve(") == 1


def test_an_element_that_it_reads_is_read_before_the_loop() -> None:
    text = after(loop(READ + "%d: f32[] = add(%r, %r) %l: bool[] = less(%c, %d) return %l"))
    assert text.index("get_item(%v, %p)") < text.index("while(") < text.index("add(")


@pytest.mark.parametrize(
    "text",
    [
        loop("%d: f32[] = add(%k, %k) %l: bool[] = less(%c, %d) return %l"),  # light
        loop("%h: f32[] = halve(%c) %l: bool[] = less(%h, %k) return %l"),  # changes
        loop(
            "%h: f32[] = halve(%k) %l: bool[] = less(%c, %h) return %l",
            "%n: f32[] = add(%c, %one) %m: f32[] = neg(%k) return %n, %m, %a",
        ),  # changes, too
    ],
)
def test_everything_else_stays(text: str) -> None:
    graph = parse_graph(text, TEST_OPS)
    assert Pretest(TEST_OPS)(graph) is graph


@st.composite
def computations(draw: st.DrawFn) -> tuple[str, str]:
    """Nodes over all that the loop sees, and the last of them."""
    names, found = ["c", "k", "k"], list[str]()
    for place in range(draw(st.integers(1, 6))):
        one, other = (draw(st.sampled_from(names)) for _ in range(2))
        op = draw(st.sampled_from(["add", "mul", "neg", "halve", "get_item"]))
        if op == "get_item":
            found.append(f"%t{place}: f32[] = {READ.split('= ')[1]}= {READ.split('= ')[2]}")
        else:
            found.append(f"%t{place}: f32[] = {op}(%{one}{'' if op in ('neg', 'halve') else f', %{other}'})")
        names.append(f"t{place}")
    return " ".join(found), names[-1]


@given(computations(), computations())
@settings(max_examples=40, deadline=None)
def test_random_tests_and_bodies_give_the_same(test: tuple[str, str], body: tuple[str, str]) -> None:
    ends = "%e: f32[] = constant() {value = f32[](9.0)} %b: bool[] = less(%c, %e) "
    condition = f"{test[0]} {ends} %x: bool[] = less(%c, %{test[1]}) %l: bool[] = mul(%x, %b) return %l"
    with np.errstate(all="ignore"):
        after(loop(condition, f"{body[0]} %n: f32[] = add(%c, %one) %m: f32[] = add(%{body[1]}, %a) return %n, %k, %m"))
