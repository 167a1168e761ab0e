"""What follows from the numbers that ints may be."""

from __future__ import annotations

from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.base import Registry
from graphc.compiler.ir import (
    Attrs,
    Graph,
    GraphBuilder,
    Interpreter,
    Literal,
    OpDef,
    TensorType,
    Value,
    parse_graph,
    verify,
)
from graphc.compiler.ir.passes import DCE, Bounds, Fold, Loops
from graphc.compiler.ir.passes.ranges import Ranges
from tests.compiler.ir.strategies import BOOL, COND, CONSTANT, GET_ITEM, INT, SCAN, TEST_OPS, UPDATE_ITEM, WHERE, WHILE
from tests.draws import examples

OPS: Registry[OpDef] = Registry("op")
for name in TEST_OPS:
    OPS.add(name, TEST_OPS[name])


def _op(name: str, impl: Any, type: TensorType = INT) -> OpDef:
    return OPS.add(name, OpDef(name, impl, lambda t, a, r: (type,), ("x", "y")[: impl.nin], fold=impl, light=True))


ARITHMETIC = [
    _op(name, getattr(np, name))
    for name in (
        "subtract", "minimum", "maximum", "bitwise_and", "bitwise_or", "bitwise_xor", "negative", "abs",
    )
] + [OPS["add"], OPS["multiply"]]  # fmt: skip
DIVISIONS = [_op(name, getattr(np, name)) for name in ("floor_divide", "remainder")]
COMPARISONS = [
    *(_op(name, getattr(np, name), BOOL) for name in ("equal", "not_equal", "less_equal", "greater", "greater_equal")),
    OPS["less"],
]
LOGICAL = [_op(name, getattr(np, name), BOOL) for name in ("logical_and", "logical_or", "logical_not")]
TABLE = TensorType((5,), np.dtype(np.int32))
SPANS = st.sampled_from([-(2**31), -70, -2, -1, 0, 1, 2, 3, 4, 5, 9, 100, 2**31 - 1])


def _random(draw: st.DrawFn, builder: GraphBuilder, numbers: list[Value], table: Value, depth: int) -> Value:
    """Appends a node on some ints, most often the last ones; returns the table after it."""

    def some() -> Value:
        return draw(st.sampled_from([*numbers, *numbers[-3:], *numbers[-3:]]))

    def constant() -> Value:
        return builder.append(CONSTANT, (), Attrs(value=Literal(np.int32(draw(SPANS))))).outputs[0]

    def test() -> Value:
        first = builder.append(
            draw(st.sampled_from(COMPARISONS)), [some(), some() if draw(st.booleans()) else constant()]
        )
        if draw(st.booleans()):
            return first.outputs[0]
        second = builder.append(draw(st.sampled_from(COMPARISONS)), [some(), constant()]).outputs[0]
        op = draw(st.sampled_from(LOGICAL))
        return builder.append(op, [first.outputs[0], second][: len(op.params)]).outputs[0]

    kind = draw(st.sampled_from(["arithmetic", "arithmetic", "divide", "where", "item", "update", *["nest"] * depth]))
    if kind == "arithmetic":
        op = draw(st.sampled_from(ARITHMETIC))
        operands = [some(), constant() if draw(st.booleans()) else some()]
        numbers += builder.append(op, operands[: len(op.params)]).outputs
    elif kind == "divide":
        by = builder.append(CONSTANT, (), Attrs(value=Literal(np.int32(draw(st.sampled_from([1, 2, 3, 7])))))).outputs[
            0
        ]
        numbers += builder.append(draw(st.sampled_from(DIVISIONS)), [some(), by]).outputs
    elif kind == "where":
        numbers += builder.append(WHERE, [test(), some(), some()]).outputs
    elif kind == "item":
        numbers += builder.append(GET_ITEM, [table, some()], Attrs(index=("tensor",))).outputs
    elif kind == "update":
        return builder.append(UPDATE_ITEM, [table, some(), some()], Attrs(index=("tensor",), how="set")).outputs[0]
    else:
        op = draw(st.sampled_from([COND, SCAN, WHILE]))
        operands = [some(), some(), some()]
        types = [value.type for value in operands]
        if op is COND:
            regions = [_region(draw, [*types, TABLE], depth - 1, 0) for _ in range(2)]
            node = builder.append(COND, [test(), *operands, table], Attrs(), regions=regions)
        elif op is SCAN:
            attrs = Attrs(
                num_carry=4, num_xs=0, num_ys=0, length=draw(st.integers(0, 4)), start=draw(st.integers(-1, 3)),
                step=draw(st.sampled_from([1, 2, -1])), reverse=draw(st.booleans()),
            )  # fmt: skip
            region = _region(draw, [INT, *types, TABLE], depth - 1, 1)
            node = builder.append(SCAN, [*operands, table], attrs, regions=[region])
        else:
            node = _while(draw, builder, [constant(), *operands, table], depth)
        numbers += node.outputs[-4:-1]
        return node.outputs[-1]
    return table


def _while(draw: st.DrawFn, builder: GraphBuilder, operands: list[Value], depth: int) -> Any:
    """Appends a loop that counts its first value up to a number that is at most six more."""
    first = operands[0].node.attrs["value"].array if operands[0].node else 0
    types = [value.type for value in operands]
    test = GraphBuilder("test")
    entries = [test.input(type) for type in types]
    end = np.clip(int(first) + draw(st.integers(-1, 6)), -(2**31), 2**31 - 1)
    last = test.append(CONSTANT, (), Attrs(value=Literal(np.int32(end))))
    less = test.append(OPS["less"], [entries[0], last.outputs[0]]).outputs[0]
    more = test.append(draw(st.sampled_from(COMPARISONS)), [entries[1], entries[2]]).outputs[0]
    both = test.append(OPS["logical_and"], [less, more]).outputs if draw(st.booleans()) else [less]
    body = _region(draw, types, depth - 1, 0, counts=True)
    return builder.append(WHILE, operands, Attrs(num_carry=5), regions=[test.build(both), body])


def _region(draw: st.DrawFn, types: list[TensorType], depth: int, skip: int, counts: bool = False) -> Graph:
    """A region of ints and a table at the end; it returns the last three ints, the table, and a count before them."""
    builder = GraphBuilder("region")
    inputs = [builder.input(type) for type in types]
    numbers, table = inputs[:-1], inputs[-1]
    for _ in range(draw(st.integers(1, 5))):
        table = _random(draw, builder, numbers, table, depth)
    results = [draw(st.sampled_from([*numbers[-3:], *inputs[skip:-1]])) for _ in range(3)]
    if counts:
        one = builder.append(CONSTANT, (), Attrs(value=Literal(np.int32(1)))).outputs[0]
        results = [*builder.append(OPS["add"], [inputs[0], one]).outputs, *results]
    return builder.build([*results, table])


@st.composite
def programs(draw: st.DrawFn) -> Graph:
    """Programs of ints with branches and loops."""
    builder = GraphBuilder("program")
    numbers, table = [builder.input(INT), builder.input(INT)], builder.input(TABLE)
    for _ in range(draw(st.integers(1, 6))):
        table = _random(draw, builder, numbers, table, 2)
    return builder.build([*numbers, table])


def run(graph: Graph, *inputs: int) -> list[Any]:
    with np.errstate(all="ignore"):
        return list(Interpreter(graph).run(*map(np.int32, inputs), np.arange(5, dtype=np.int32)))


@given(graph=programs(), inputs=st.tuples(SPANS, SPANS))
@settings(max_examples=examples(150), deadline=None)
def test_random_programs_give_the_same_and_their_numbers_lie_within_their_bounds(
    graph: Graph, inputs: tuple[int, int]
) -> None:
    result = Bounds(OPS)(graph)
    verify(result)
    before, after = run(graph, *inputs), run(result, *inputs)
    facts = Ranges(OPS).facts(graph, (None,) * 3)
    for value, one, other in zip(graph.outputs, before, after, strict=True):
        np.testing.assert_array_equal(one, other)
        low, high = facts[value]
        assert low <= np.min(one) <= np.max(one) <= high
    cleared = DCE()(Fold()(result))
    verify(Loops(OPS)(cleared))
    for one, other in zip(before, run(Loops(OPS)(cleared), *inputs), strict=True):
        np.testing.assert_array_equal(one, other)


def bounded(text: str, head: str = "%n: i32[], %t: i32[5]") -> str:
    """What the pass makes of the body of a scan of five iterations that carries ``n``, from 0, and a table ``t``."""
    graph = parse_graph(
        f"""graph g({head}) -> (i32[], i32[5]) {{
          %zero: i32[] = constant() {{value = i32[](0)}}
          %s: (i32[], i32[5]) = scan(%zero, %t) {{
            length = 5, start = 0, step = 1, reverse = False, num_carry = 2, num_xs = 0, num_ys = 0}} {{
            body(%i: i32[], %n: i32[], %t: i32[5]) -> (i32[], i32[5]) {{
              %one: i32[] = constant() {{value = i32[](1)}}
              %five: i32[] = constant() {{value = i32[](5)}}
              %neg: i32[] = constant() {{value = i32[](-1)}}
              {dedent(text)}
            }}
          }}
          return %s#0, %s#1
        }}""",
        OPS,
    )
    verify(graph)
    result = DCE()(Bounds(OPS)(graph))
    verify(result)
    for one, other in zip(run(graph, 7)[:2], run(result, 7)[:2], strict=True):
        np.testing.assert_array_equal(one, other)
    return str(result)


INSIDE = "inside = True"


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ('%g: i32[] = get_item(%t, %i) {index = ("tensor",)}\n return %g, %t', True),
        ('%u: i32[5] = update_item(%t, %i, %i) {index = ("tensor",), how = "set"}\n return %n, %u', True),
        ('%a: i32[] = add(%i, %one)\n%g: i32[] = get_item(%t, %a) {index = ("tensor",)}\n return %g, %t', False),
        ('%a: i32[] = add(%i, %neg)\n%g: i32[] = get_item(%t, %a) {index = ("tensor",)}\n return %g, %t', False),
        # A count of at most one in each iteration, as the places of those that a condition chooses.
        (
            '%u: i32[5] = update_item(%t, %i, %n) {index = ("tensor",), how = "set"}\n%a: i32[] = add(%n, %one)\n'
            "%l: bool[] = less(%i, %one)\n%w: i32[] = where(%l, %a, %n)\n return %w, %u",
            True,
        ),
        (
            '%u: i32[5] = update_item(%t, %i, %n) {index = ("tensor",), how = "set"}\n%a: i32[] = add(%n, %one)\n'
            "%b: i32[] = add(%a, %one)\n return %b, %u",
            False,
        ),
    ],
    ids=["index", "update", "behind the end", "before the start", "count", "faster count"],
)
def test_indices_that_are_inside_are_said_to_be(text: str, inside: bool) -> None:
    assert (INSIDE in bounded(text)) == inside


def test_a_test_holds_in_the_branch_that_it_guards() -> None:
    text = """
        %l: bool[] = less(%n, %five)
        %c: i32[] = cond(%l, %n, %t) {
          true(%n: i32[], %t: i32[5]) -> (i32[]) {
            %zero: i32[] = constant() {value = i32[](0)}
            %m: i32[] = maximum(%n, %zero)
            %g: i32[] = get_item(%t, %m) {index = ("tensor",)}
            return %g
          }
          false(%n: i32[], %t: i32[5]) -> (i32[]) {
            %g: i32[] = get_item(%t, %n) {index = ("tensor",)}
            return %g
          }
        }
        return %c, %t
    """
    assert bounded(text).count(INSIDE) == 1


def test_a_choice_that_is_known_is_made() -> None:
    text = """
        %l: bool[] = less(%i, %five)
        %m: i32[] = add(%n, %i)
        %w: i32[] = where(%l, %m, %n)
        return %w, %t
    """
    found = bounded(text)
    assert "return %m, %t" in found
    assert "where" not in found


def test_the_checks_of_a_binary_search_are_known() -> None:
    text = """graph g(%t: i32[5], %x: i32[]) -> (i32[], bool[]) {
      %low: i32[] = constant() {value = i32[](0)}
      %high: i32[] = constant() {value = i32[](5)}
      %no: bool[] = constant() {value = bool[](False)}
      %s: (i32[], i32[], bool[]) = while(%low, %high, %no, %t, %x) {num_carry = 3} {
        test(%low: i32[], %high: i32[], %failed: bool[], %t: i32[5], %x: i32[]) -> (bool[]) {
          %l: bool[] = less(%low, %high)
          return %l
        }
        body(%low: i32[], %high: i32[], %failed: bool[], %t: i32[5], %x: i32[]) -> (i32[], i32[], bool[]) {
          %two: i32[] = constant() {value = i32[](2)}
          %one: i32[] = constant() {value = i32[](1)}
          %zero: i32[] = constant() {value = i32[](0)}
          %sum: i32[] = add(%low, %high)
          %wraps: bool[] = less(%sum, %zero)
          %either: bool[] = logical_or(%failed, %wraps)
          %mid: i32[] = floor_divide(%sum, %two)
          %item: i32[] = get_item(%t, %mid) {index = ("tensor",)}
          %l: bool[] = less(%item, %x)
          %more: i32[] = add(%mid, %one)
          %down: i32[] = where(%l, %more, %low)
          %up: i32[] = where(%l, %high, %mid)
          return %down, %up, %either
        }
      }
      return %s#0, %s#2
    }"""
    graph = parse_graph(text, OPS)
    verify(graph)
    result = Loops(OPS)(graph)
    verify(result)
    assert INSIDE in str(result)
    assert "%wraps" not in str(result)
    assert "while(%low, %high, %t, %x) {num_carry = 2}" in str(result)
    table = np.array([1, 3, 5, 7, 9], np.int32)
    for number in range(-1, 12):
        found = Interpreter(result).run(table, np.int32(number))
        assert (found[0], found[1]) == (np.searchsorted(table, number), False)
