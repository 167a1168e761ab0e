"""Operands of heavy ops leave the branches of a loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.ir import Interpreter, parse_graph, print_graph, verify
from graphc.compiler.ir.passes import Speculate
from tests.compiler.ir.strategies import TEST_OPS
from tests.draws import examples


def loop(branch: str, *, start: str = "3", other: str = "return %c") -> str:
    """A while that counts down from a number, carries ``c``, and passes ``k`` on; a branch in its body reads both."""
    inputs = "%n: i32[], %c: f32[], %k: f32[], %one: i32[], %minus: i32[]"
    return f"""graph g(%c: f32[], %k: f32[], %m: i32[]) -> (f32[]) {{
      %minus: i32[] = constant() {{value = i32[](-1)}}
      %one: i32[] = constant() {{value = i32[](0)}}
      %n: i32[] = {"add(%m, %m)" if start == "m" else f"constant() {{value = i32[]({start})}}"}
      %s: (i32[], f32[]) = while(%n, %c, %k, %one, %minus) {{num_carry = 2}} {{
        test({inputs}) -> (bool[]) {{ %l: bool[] = less(%one, %n) return %l }}
        body({inputs}) -> (i32[], f32[]) {{
          %t: bool[] = less(%c, %k)
          %r: f32[] = cond(%t, %c, %k) {{
            true(%c: f32[], %k: f32[]) -> (f32[]) {{ {branch} }}
            false(%c: f32[], %k: f32[]) -> (f32[]) {{ {other} }}
          }}
          %a: i32[] = add(%n, %minus)
          return %a, %r
        }}
      }}
      return %s#1
    }}"""


def after(text: str) -> str:
    """The text of a graph after the pass, which changes nothing of what the graph computes."""
    graph = parse_graph(text, TEST_OPS)
    verify(graph)
    found = Speculate(TEST_OPS)(graph)
    verify(found)
    for c in (-3.0, 5.0):
        given = np.float32(c), np.float32(2), np.int32(3)
        np.testing.assert_array_equal(Interpreter(graph).run(*given), Interpreter(found).run(*given))
    return print_graph(found)


SCALED = "%d: f32[] = add(%k, %k) %h: f32[] = halve(%d) %r: f32[] = add(%h, %c) return %r"


def test_an_operand_that_is_alike_in_all_iterations_is_computed_before_the_loop() -> None:
    text = after(loop(SCALED))
    assert text.index("%d: f32[] = add(%k, %k)") < text.index("while(")
    assert text.count("add(%k, %k)") == 1
    assert text.index("halve(") > text.index("cond(")


def test_out_of_a_branch_in_a_branch_it_goes_all_the_way() -> None:
    inner = (
        "true(%c: f32[], %k: f32[]) -> (f32[]) { " + SCALED + " } false(%c: f32[], %k: f32[]) -> (f32[]) { return %c }"
    )
    text = after(loop(f"%u: bool[] = less(%k, %c) %r: f32[] = cond(%u, %c, %k) {{ {inner} }} return %r"))
    assert text.index("%d: f32[] = add(%k, %k)") < text.index("while(")


def test_each_branch_gets_what_it_reads() -> None:
    text = after(loop(SCALED, other="%m: f32[] = mul(%k, %k) %h: f32[] = halve(%m) return %h"))
    assert text.index("add(%k, %k)") < text.index("while(")
    assert text.index("mul(%k, %k)") < text.index("while(")


@pytest.mark.parametrize(
    "text",
    [
        loop(SCALED.replace("add(%k, %k)", "add(%c, %k)")),  # changes
        loop("%d: f32[] = add(%k, %k) %r: f32[] = add(%d, %c) return %r"),  # no heavy op reads it
        loop("%d: f32[] = halve(%k) %r: f32[] = halve(%d) return %r"),  # is heavy itself
        loop("%d: f32[] = constant() {value = f32[](2.0)} %r: f32[] = halve(%d) return %r"),
        loop(SCALED, start="m"),  # may have no iteration
    ],
)
def test_everything_else_stays(text: str) -> None:
    graph = parse_graph(text, TEST_OPS)
    assert Speculate(TEST_OPS)(graph) is graph


@st.composite
def branches(draw: st.DrawFn, depth: int = 2) -> str:
    """The body of a branch over ``c``, which changes, and ``k``, which does not."""
    names, found = ["c", "k"], list[str]()
    for place in range(draw(st.integers(1, 6))):
        one, other = (draw(st.sampled_from(names)) for _ in range(2))
        op = draw(st.sampled_from(["add", "mul", "neg", "halve", "cond"] if depth else ["add", "mul", "neg", "halve"]))
        name = f"v{depth}_{place}"
        if op == "cond":
            inner = [
                f"{label}(%c: f32[], %k: f32[]) -> (f32[]) {{ {draw(branches(depth - 1))} }}"
                for label in ("true", "false")
            ]
            found.append(f"%t{name}: bool[] = less(%{one}, %{other})")
            found.append(f"%{name}: f32[] = cond(%t{name}, %{one}, %{other}) {{ {' '.join(inner)} }}")
        else:
            found.append(f"%{name}: f32[] = {op}(%{one}{'' if op in ('neg', 'halve') else f', %{other}'})")
        names.append(name)
    return " ".join(found) + f" return %{names[-1]}"


@given(branches(), branches())
@settings(max_examples=examples(60), deadline=None)
def test_random_branches_compute_the_same(true: str, false: str) -> None:
    with np.errstate(all="ignore"):
        after(loop(true, other=false))
