"""Chains of conds become switches."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.ir import (
    Attrs,
    Graph,
    GraphBuilder,
    Literal,
    Node,
    OpDef,
    TensorType,
    Value,
    parse_graph,
    print_graph,
    verify,
)
from graphc.compiler.ir.passes import DCE, Flatten
from tests.compiler.ir.strategies import (
    ADD,
    BOOL,
    COND,
    CONSTANT,
    FLOAT,
    HALVE,
    LESS,
    MUL,
    NEG,
    TEST_OPS,
    WRITE,
    State,
    Stateful,
    calls,
    evaluate,
)
from tests.draws import examples

FLATTEN = Flatten(TEST_OPS)
Body = Callable[[GraphBuilder, Sequence[Value]], Sequence[Value]]
OPERANDS = 2


def region(body: Body) -> Graph:
    """A branch of two floats."""
    builder = GraphBuilder("branch")
    return builder.build(body(builder, [builder.input(FLOAT, "x") for _ in range(OPERANDS)]))


def number(builder: GraphBuilder, value: float) -> Value:
    return builder.append(CONSTANT, (), Attrs(value=Literal(np.float32(value)))).outputs[0]


def apply(builder: GraphBuilder, op: OpDef, *values: Value) -> Value:
    return builder.append(op, values).outputs[0]


def chain(
    size: int,
    *,
    before: OpDef | None = None,
    after: OpDef | None = None,
    test: OpDef | None = None,
    devices: Sequence[str] = (),
) -> Graph:
    """`if x < 0: y = x * 0; elif x < 1: y = x * 1; ...; else: y = x + x`, with ops beside the conds."""

    def level(place: int) -> Body:
        def body(builder: GraphBuilder, values: Sequence[Value]) -> Sequence[Value]:
            if place == size:
                return [apply(builder, ADD, *values)]
            x = values[0]
            looked_at = x if test is None or not place else apply(builder, test, x)
            condition = apply(builder, LESS, looked_at, number(builder, place))
            device = devices[place] if devices else ""
            given = x if before is None or not place else builder.append(before, [x], device=device).outputs[0]
            branches = [
                region(lambda inner, inputs: [apply(inner, MUL, inputs[0], number(inner, place))]),
                region(level(place + 1)),
            ]
            (y,) = builder.append(COND, [condition, given, values[1]], regions=branches, device=device).outputs
            return [y if after is None or not place else apply(builder, after, y)]

        return body

    return region(level(0))


def kinds(graph: Graph) -> list[str]:
    """The conds and switches at any depth."""
    return [node.op.name for node in graph.walk() if node.op.name in ("cond", "switch")]


def run(graph: Graph, x: float) -> float:
    return float(Stateful(graph, State()).run(np.float32(x), np.float32(x))[0])


@pytest.mark.parametrize("before", [None, NEG, HALVE])
@pytest.mark.parametrize("after", [None, NEG])
@pytest.mark.parametrize("size", [4, 9, 40])
def test_a_chain_is_a_switch_where_light_ops_stand_beside_it(
    size: int, before: OpDef | None, after: OpDef | None
) -> None:
    graph = chain(size, before=before, after=after)
    result = FLATTEN(graph)
    verify(result)
    for x in (-1, 0.5, 2.5, 7.5, size - 1.5, size - 0.5, size + 1):
        assert run(result, x) == run(graph, x)
    if before is HALVE:
        assert result is graph
    else:
        assert kinds(result)[0] == "switch"
        assert len(kinds(result)) <= 1 + size // 8


def test_a_long_chain_is_one_switch_whose_branches_are_those_of_the_conds() -> None:
    result = FLATTEN(chain(50))
    assert kinds(result) == ["switch"]
    assert [len(branch.nodes) for branch in result.nodes[-1].regions] == [2] * 50 + [1]


def test_a_chain_ends_where_the_device_changes_and_copies_stay_on_theirs() -> None:
    result = FLATTEN(chain(10, before=NEG, devices=["/device:CPU:0"] * 5 + ["/device:CPU:1"] * 5))
    found = [(node.op.name, node.device) for node in result.walk() if node.op.name in ("cond", "switch")]
    assert found == [("switch", "/device:CPU:0"), ("switch", "/device:CPU:1")]
    assert {node.device for node in result.walk() if node.op is NEG} == {"/device:CPU:0", "/device:CPU:1"}


def test_a_short_chain_stays() -> None:
    graph = chain(3)
    assert FLATTEN(graph) is graph


def test_a_test_that_is_not_light_stays_where_it_is() -> None:
    graph = chain(9, test=HALVE)
    assert FLATTEN(graph) is graph


def test_a_test_of_a_large_array_stays_where_it_is() -> None:
    assert kinds(FLATTEN(_sums(1000))) == ["switch"]
    graph = _sums(2000)
    assert FLATTEN(graph) is graph


def _sums(elements: int) -> Graph:
    """A chain whose tests look at an array."""
    array = TensorType((elements,), np.dtype("float32"))
    negative = OpDef("negative", np.negative, lambda types, attrs, regions: types[:1], ("x",), light=True)
    any_below = OpDef("any_below", lambda x: np.any(x < 0), lambda types, attrs, regions: (BOOL,), ("x",), light=True)

    def level(depth: int) -> Graph:
        builder = GraphBuilder("branch")
        x = builder.input(array, "x")
        if not depth:
            return builder.build([x])
        condition = apply(builder, any_below, apply(builder, negative, x))
        return builder.build(builder.append(COND, [condition, x], regions=[level(0), level(depth - 1)]).outputs)

    return level(5)


def test_a_chain_in_a_branch_of_a_chain_is_a_switch_too() -> None:
    inner = chain(6)
    builder = GraphBuilder("outer")
    x = builder.input(FLOAT, "x")
    builder.input(FLOAT, "y")
    test = apply(builder, LESS, x, number(builder, 3))
    (y,) = builder.append(COND, [test, x, x], regions=[inner, chain(5)]).outputs
    result = FLATTEN(builder.build([y]))
    assert kinds(result) == ["switch", "switch"]


def test_the_pullback_of_a_chain_is_that_of_the_switch() -> None:
    graph = chain(6)
    pullback = OpDef(
        "vjp", lambda *values, **attrs: 0, lambda types, attrs, regions: (FLOAT,), ("*values",), regions=("*",)
    )
    cond = graph.nodes[-1]
    attrs = Attrs(op="cond", attrs=(), wrt=(1,), cotangents=(True,))
    vjp = Node(pullback, [*cond.inputs, *cond.outputs], attrs, [FLOAT], regions=cond.regions, name="pullback")
    second = Attrs(op="vjp", attrs=tuple(attrs.items()), wrt=(1,), cotangents=(True,))
    again = Node(pullback, [*vjp.inputs, *vjp.outputs], second, [FLOAT], regions=cond.regions, name="again")
    result = FLATTEN(Graph(graph.inputs, [*graph.nodes, vjp, again], [*vjp.outputs, *again.outputs]))
    forward, backward, twice = [node for node in result.nodes if node.regions]
    assert forward.op.name == "switch"
    assert backward.attrs == Attrs(attrs, op="switch")
    assert dict(twice.attrs["attrs"])["op"] == "switch"
    assert forward.regions == backward.regions == twice.regions
    assert forward.inputs[1:] == backward.inputs[1:3]
    assert backward.inputs[0].type == forward.inputs[0].type


def test_work_grows_with_the_chain_and_not_much_faster() -> None:
    small, large = chain(50), chain(200)
    assert calls(lambda: FLATTEN(large)) <= 8 * calls(lambda: FLATTEN(small))


@st.composite
def chains(draw: st.DrawFn) -> Graph:
    """Conds in false branches of conds, with any ops beside them and effects here and there."""
    light = [ADD, NEG, ADD, MUL]

    def steps(builder: GraphBuilder, values: list[Value], most: int) -> None:
        for _ in range(draw(st.integers(0, most))):
            op = draw(st.sampled_from([*light, *light, HALVE, WRITE]))
            if op is WRITE:
                if not draw(st.integers(0, 3)):
                    builder.append(WRITE, [draw(st.sampled_from(values))], Attrs(name=draw(st.sampled_from("uv"))))
                continue
            values.append(apply(builder, op, *[draw(st.sampled_from(values)) for _ in op.params]))

    def branch(depth: int, kinds: Sequence[TensorType]) -> Graph:
        builder = GraphBuilder("branch")
        values = [builder.input(type, "x") for type in kinds]
        steps(builder, values, 1 if depth else 2)
        if depth:
            test = apply(builder, LESS, draw(st.sampled_from(values)), number(builder, draw(st.integers(-3, 3))))
            operands = [draw(st.sampled_from(values)) for _ in range(draw(st.integers(1, 3)))]
            types = [FLOAT] * len(operands)
            regions = [branch(draw(st.sampled_from([0, 0, 0, 4])) if depth > 4 else 0, types), branch(depth - 1, types)]
            device = draw(st.sampled_from(["", "", "", "", "", "", "/device:CPU:0"]))
            values += builder.append(COND, [test, *operands], regions=regions, device=device).outputs
            steps(builder, values, 1)
        return builder.build([values[-1], draw(st.sampled_from(values))])

    return branch(draw(st.integers(1, 8)), [FLOAT] * 2)


@given(graph=chains())
@settings(max_examples=examples(150))
def test_a_chain_keeps_its_results_and_effects(graph: Graph) -> None:
    verify(graph)
    graph = DCE()(graph)
    result = FLATTEN(graph)
    verify(result)
    assert evaluate(result) == evaluate(graph)
    assert parse_graph(print_graph(result), TEST_OPS) == result
    assert FLATTEN(result) is result
