"""Light branches become selects."""

from __future__ import annotations

import itertools
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphc.compiler.ir import Interpreter, parse_graph, print_graph, verify
from graphc.compiler.ir.passes import DCE, IfConvert
from tests.compiler.ir.strategies import TEST_OPS

CONVERT = IfConvert(TEST_OPS)
HEAD = "graph g(%t: bool[], %x: f32[], %y: f32[], %i: i32[], %j: i32[], %v: f32[100], %z: f32[100]) -> "
INPUTS = "%x: f32[], %y: f32[], %i: i32[], %j: i32[], %v: f32[100], %z: f32[100]"


def cond(true: str, false: str, types: str = "f32[]") -> str:
    """A graph that is one cond of all inputs."""
    outputs = f"({types})" if "," in types else types
    results = ", ".join(f"%c#{place}" for place in range(types.count(",") + 1)) if "," in types else "%c"
    return f"""{HEAD}({types}) {{
      %c: {outputs} = cond(%t, %x, %y, %i, %j, %v, %z) {{
        true({INPUTS}) -> ({types}) {{ {dedent(true)}
        }}
        false({INPUTS}) -> ({types}) {{ {dedent(false)}
        }}
      }}
      return {results}
    }}"""


def converted(text: str) -> str:
    """The lines of a graph after the pass, without the first and the last; both give the same."""
    graph = parse_graph(text, TEST_OPS)
    verify(graph)
    result = DCE()(CONVERT(graph))
    verify(result)
    for test in (True, False):
        for i, j in ((3, 3), (3, 5)):
            inputs: list[Any] = [np.array(test), np.float32(2), np.float32(3), np.int32(i), np.int32(j)]
            inputs += [np.arange(100, dtype=np.float32), np.ones(100, np.float32)]
            for before, after in zip(Interpreter(graph).run(*inputs), Interpreter(result).run(*inputs), strict=True):
                np.testing.assert_array_equal(before, after)
    return "\n".join(line.strip() for line in print_graph(result).split("\n")[1:-1])


def lines(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().split("\n"))


def test_scalars_are_selected_and_what_both_branches_compute_is_computed_once() -> None:
    true = "%a: f32[] = add(%x, %y)\n%b: f32[] = neg(%a)\nreturn %b, %x, %a"
    false = "%a: f32[] = add(%x, %y)\nreturn %a, %x, %y"
    assert converted(cond(true, false, "f32[], f32[], f32[]")) == lines("""
        %a: f32[] = add(%x, %y)
        %b: f32[] = neg(%a)
        %where: f32[] = where(%t, %b, %a)
        %where_1: f32[] = where(%t, %a, %y)
        return %where, %x, %where_1
    """)


def test_an_item_that_both_branches_assign_is_selected_and_assigned_once() -> None:
    true = '%u: f32[100] = update_item(%v, %x, %i) {index = ("tensor",), how = "HOW"}\nreturn %u'
    false = '%n: f32[] = neg(%y)\n%u: f32[100] = update_item(%v, %n, %i) {index = ("tensor",), how = "HOW"}\nreturn %u'
    for how in ("set", "add"):
        assert converted(cond(true, false, "f32[100]").replace("HOW", how)) == lines(f"""
            %n: f32[] = neg(%y)
            %where: f32[] = where(%t, %x, %n)
            %u: f32[100] = update_item(%v, %where, %i) {{index = ("tensor",), how = "{how}"}}
            return %u
        """)


def test_an_item_that_one_branch_assigns_is_otherwise_the_one_that_is_there() -> None:
    false = '%u: f32[100] = update_item(%v, %x) {index = (7,), how = "set"}\nreturn %u, %x'
    assert converted(cond("return %v, %y", false, "f32[100], f32[]")) == lines("""
        %get_item: f32[] = get_item(%v) {index = (7,)}
        %where: f32[] = where(%t, %get_item, %x)
        %u: f32[100] = update_item(%v, %where) {index = (7,), how = "set"}
        %where_1: f32[] = where(%t, %y, %x)
        return %u, %where_1
    """)


def test_to_an_item_that_one_branch_adds_to_the_other_adds_nothing() -> None:
    false = '%u: f32[100] = update_item(%v, %x, %i) {index = ("tensor",), how = "add"}\nreturn %u'
    assert converted(cond("return %v", false, "f32[100]")) == lines("""
        %constant: f32[] = constant() {value = f32[](-0.0)}
        %where: f32[] = where(%t, %constant, %x)
        %u: f32[100] = update_item(%v, %where, %i) {index = ("tensor",), how = "add"}
        return %u
    """)


def test_what_stands_before_the_cond_is_not_computed_again() -> None:
    text = cond("%a: f32[] = add(%x, %y)\nreturn %a", "%a: f32[] = neg(%y)\nreturn %a")
    text = text.replace(
        "%c: f32[] = cond(%t, %x", "%b: f32[] = add(%x, %y)\n%d: f32[] = neg(%b)\n%c: f32[] = cond(%t, %x"
    )
    text = text.replace("-> (f32[]) {", "-> (f32[], f32[]) {", 1).replace("return %c", "return %c, %d")
    assert converted(text).count("add(") == 1


def test_conds_inside_conds_and_loops_are_converted_first() -> None:
    inner = """
        %less: bool[] = less(%x, %y)
        %d: f32[] = cond(%less, %x, %y) {
          true(%p: f32[], %q: f32[]) -> (f32[]) { return %q
          }
          false(%p: f32[], %q: f32[]) -> (f32[]) { return %p
          }
        }
        return %d"""
    assert "cond" not in converted(cond(inner, "return %y"))


PUT_MORE = '%w: f32[100] = update_item(%u, %x) {index = (1,), how = "set"}'
PUT = '%u: f32[100] = update_item(%v, %x, %i) {index = ("tensor",), how = "set"}'


@pytest.mark.parametrize(
    ("true", "false", "types"),
    [
        ("%a: f32[] = halve(%x)\nreturn %a", "return %y", "f32[]"),
        ("%w: f32[100] = neg(%v)\nreturn %w", "return %v", "f32[100]"),
        ("return %z", PUT + "\nreturn %u", "f32[100]"),
        (PUT + "\nreturn %u", "return %z", "f32[100]"),
        (f"{PUT}\n{PUT_MORE}\nreturn %w", "return %v", "f32[100]"),
        (f"{PUT}\n{PUT_MORE}\nreturn %w".replace("(%u", "(%v"), "return %v", "f32[100]"),
        (f"{PUT}\nreturn %u", PUT.replace("%i", "%j") + "\nreturn %u", "f32[100]"),
        (f"{PUT}\n%g: f32[] = get_item(%u) {{index = (0,)}}\nreturn %g, %u", "return %x, %v", "f32[], f32[100]"),
        ("return %x", "".join(f"%b{n}: f32[] = neg(%x)\n" for n in range(40)) + "return %b39", "f32[]"),
        ('%w: () = write(%x) {name = "u"}\nreturn %x', "return %y", "f32[]"),
    ],
    ids=[
        "heavy", "large", "another", "another one", "two updates", "two versions",
        "other items", "read again", "many", "effects",
    ],
)  # fmt: skip
def test_what_costs_more_than_the_branch_stays(true: str, false: str, types: str) -> None:
    graph = parse_graph(cond(true, false, types), TEST_OPS)
    assert CONVERT(graph) is graph


@pytest.mark.parametrize(("true", "false"), [(31, 0), (0, 31), (15, 16)])
def test_branches_of_up_to_thirty_two_nodes_and_results_are_converted(true: int, false: int) -> None:
    def branch(length: int) -> str:
        names = ["%x", *(f"%b{number}" for number in range(length))]
        steps = [f"{name}: f32[] = neg({before})" for before, name in itertools.pairwise(names)]
        return "\n".join([*steps, f"return {names[-1]}"])

    assert "cond" not in converted(cond(branch(true), branch(false)))
    graph = parse_graph(cond(branch(true), branch(false + 1)), TEST_OPS)
    assert CONVERT(graph) is graph
    graph = parse_graph(cond(branch(true) + ", %y", branch(false) + ", %x", "f32[], f32[]"), TEST_OPS)
    assert CONVERT(graph) is graph


def test_what_is_waited_for_stays() -> None:
    text = cond("return %x", "return %y").replace("return %c", "%n: f32[] = neg(%x) after(%c)\nreturn %n")
    graph = parse_graph(text, TEST_OPS)
    assert CONVERT(graph) is graph


@st.composite
def branches(draw: st.DrawFn) -> str:
    """A branch of scalar arithmetic, with an assignment to an item of the vector."""
    body, numbers = list[str](), ["%x", "%y"]
    for place in range(draw(st.integers(0, 4))):
        op, index = draw(st.sampled_from(("add", "mul", "neg", "get_item"))), draw(st.sampled_from("ij"))
        operands = {"neg": 1, "add": 2, "mul": 2}.get(op, 0)
        given_ = ", ".join(draw(st.sampled_from(numbers)) for _ in range(operands)) or f"%v, %{index}"
        body.append(f"%a{place}: f32[] = {op}({given_})" + (' {index = ("tensor",)}' if op == "get_item" else ""))
        numbers.append(f"%a{place}")
    vector = draw(st.sampled_from(("%v", "%z")))
    if draw(st.booleans()):
        value, index = draw(st.sampled_from(numbers)), draw(st.sampled_from("ij"))
        body.append(f'%u: f32[100] = update_item({vector}, {value}, %{index}) {{index = ("tensor",), how = "set"}}')
        vector = "%u"
    return "\n".join([*body, f"return {draw(st.sampled_from(numbers))}, {vector}"])


@given(true=branches(), false=branches())
def test_random_branches_give_the_same(true: str, false: str) -> None:
    converted(cond(true, false, "f32[], f32[100]"))
