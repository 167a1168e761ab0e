"""Items that are changed by what is computed of them."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphc.compiler.base import Registry
from graphc.compiler.ir import Interpreter, OpDef, parse_graph, print_graph, verify
from graphc.compiler.ir.passes import DCE, Accumulate
from tests.compiler.ir.strategies import TEST_OPS

OPS: Registry[OpDef] = Registry("op")
for name in TEST_OPS:
    OPS.add(name, TEST_OPS[name])
for name in ("subtract", "minimum", "maximum", "negative"):
    function = getattr(np, name)
    params = ("x", "y")[: function.nin]
    OPS.add(name, OpDef(name, function, lambda types, attrs, regions: (types[0],), params, light=True))


def accumulated(body: str, results: str = "f32[5]") -> str:
    """The lines of a graph of a vector, a number and two indices after the pass, which gives what it gave before."""
    types = results if results.count("[") == 1 else f"{results}"
    text = f"graph g(%x: f32[5], %v: f32[], %i: i32[], %j: i32[]) -> ({types}) {{{dedent(body)}}}"
    graph = parse_graph(text, OPS)
    verify(graph)
    result = DCE()(Accumulate(OPS)(graph))
    verify(result)
    for i, j in ((3, 3), (3, 5), (-1, 7), (9, 9)):
        inputs: list[Any] = [np.arange(5, dtype=np.float32), np.float32(2.5), np.int32(i), np.int32(j)]
        for before, after in zip(Interpreter(graph).run(*inputs), Interpreter(result).run(*inputs), strict=True):
            np.testing.assert_array_equal(before, after)
    return print_graph(result)


GET = '%g: f32[] = get_item(%x, %i) {index = ("tensor",)}\n'
PUT = '%u: f32[5] = update_item(%x, %s, %i) {index = ("tensor",), how = "set"}\nreturn %u'


@pytest.mark.parametrize(
    ("op", "operands", "how", "by"),
    [
        ("add", "%g, %v", "add", "%v"),
        ("add", "%v, %g", "add", "%v"),
        ("multiply", "%g, %v", "multiply", "%v"),
        ("minimum", "%v, %g", "min", "%v"),
        ("maximum", "%g, %v", "max", "%v"),
        ("subtract", "%g, %v", "add", "%negative"),
    ],
)
def test_a_read_a_sum_and_an_assignment_are_one_update(op: str, operands: str, how: str, by: str) -> None:
    found = accumulated(f"{GET}%s: f32[] = {op}({operands})\n{PUT}")
    assert f'update_item(%x, {by}, %i) {{index = ("tensor",), how = "{how}"}}' in found
    assert "get_item" not in found


@pytest.mark.parametrize(
    ("body", "results"),
    [
        (f"{GET}%s: f32[] = subtract(%v, %g)\n{PUT}", "f32[5]"),
        (
            f"{GET}%s: f32[] = add(%g, %v)\n{PUT}".replace("update_item(%x, %s, %i)", "update_item(%x, %s, %j)"),
            "f32[5]",
        ),
        (f"{GET}%s: f32[] = add(%g, %v)\n{PUT}, %s", "f32[5], f32[]"),
        (f"%y: f32[5] = neg(%x)\n{GET.replace('%x', '%y')}%s: f32[] = add(%g, %v)\n{PUT}", "f32[5]"),
        (f"{GET}%s: f32[] = add(%g, %v)\n{PUT}".replace("\nreturn", " after(%g)\nreturn"), "f32[5]"),
    ],
    ids=["the other way", "another item", "used again", "another array", "awaited"],
)
def test_other_assignments_stay(body: str, results: str) -> None:
    assert 'how = "set"' in accumulated(body, results)


@st.composite
def updates(draw: st.DrawFn) -> str:
    """Some updates of items one after the other, by what is read of the array and of those before it."""
    body, arrays, numbers = list[str](), ["%x"], ["%v"]
    for place in range(draw(st.integers(1, 5))):
        array, index = draw(st.sampled_from(arrays[-2:])), draw(st.sampled_from("ij"))
        body.append(f'%g{place}: f32[] = get_item({array}, %{index}) {{index = ("tensor",)}}')
        numbers.append(f"%g{place}")
        op = draw(st.sampled_from(["add", "subtract", "multiply", "minimum", "maximum"]))
        pair = draw(st.permutations([f"%g{place}", draw(st.sampled_from(numbers))]))
        body.append(f"%s{place}: f32[] = {op}({', '.join(pair)})")
        numbers.append(f"%s{place}")
        array, index = draw(st.sampled_from([array, arrays[-1]])), draw(st.sampled_from([index, index, "i"]))
        body.append(
            f'%u{place}: f32[5] = update_item({array}, %s{place}, %{index}) {{index = ("tensor",), how = "set"}}'
        )
        arrays.append(f"%u{place}")
    return "\n".join([*body, f"return {arrays[-1]}, {numbers[-1]}"])


@given(body=updates())
def test_random_updates_give_the_same(body: str) -> None:
    accumulated(body, "f32[5], f32[]")
