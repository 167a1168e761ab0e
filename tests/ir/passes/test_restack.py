"""Rows that are stacked again become a slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import assume, given
from hypothesis import strategies as st

from graphc.base import Registry
from graphc.ir import Attrs, Graph, GraphBuilder, Interpreter, OpDef, TensorType, Value
from graphc.ir.passes import DCE, Restack

ROW = TensorType((2,), np.dtype(np.float32))
ARRAY = TensorType((5, 2), np.dtype(np.float32))


def _never(*values: Any, **attrs: Any) -> Any:
    raise AssertionError("nothing is evaluated here")


def _unused(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    raise AssertionError("types are given here")


GET_ITEM = OpDef("get_item", _never, _unused, ("x",))
STACK = OpDef("stack", _never, _unused, ("*values",))


def stacked(places: Sequence[int], axis: int = 0) -> list[str]:
    """What is left of a stack of these rows of an array: the ops, with the index of each."""
    builder = GraphBuilder("g")
    array = builder.input(ARRAY, "x")

    def row(place: int) -> Value:
        return builder.append(GET_ITEM, (array,), Attrs(index=(place,)), types=(ROW,)).outputs[0]

    attrs = Attrs(axis=axis) if axis else Attrs()
    result = TensorType((len(places), 2), ROW.dtype)
    node = builder.append(STACK, [row(place) for place in places], attrs, types=(result,))
    graph = Restack()(builder.build(node.outputs))
    assert graph.outputs[0].type == result
    last = graph.nodes[-1]
    return [last.op.name, str(last.attrs.get("index"))]


def test_neighbouring_rows_are_a_slice() -> None:
    assert stacked([0, 1, 2, 3, 4]) == ["get_item", "((0, 5, None),)"]
    assert stacked([2, 3]) == ["get_item", "((2, 4, None),)"]


def test_other_stacks_stay() -> None:
    assert stacked([0, 2]) == ["stack", "None"]
    assert stacked([1, 0]) == ["stack", "None"]
    assert stacked([3]) == ["stack", "None"]
    assert stacked([-2, -1]) == ["stack", "None"]


EVALUATED: Registry[OpDef] = Registry("op")
for name, function, params in (
    ("stack", lambda *arrays, axis=0: np.stack(arrays, axis), "*arrays"),
    ("concat", lambda *arrays, axis=0: np.concatenate(arrays, axis), "*arrays"),
    ("permute_dims", np.transpose, "x"),
    ("reshape", np.reshape, "x"),
    ("get_item", lambda x, index: x[tuple(slice(*i) if isinstance(i, tuple) else i for i in index)], "x"),
):
    EVALUATED.add(name, OpDef(name, function, _unused, (params,)))


@given(
    op=st.sampled_from(["stack", "concat"]),
    sides=st.lists(st.integers(1, 3), min_size=1, max_size=3),
    axis=st.integers(-3, 2),
    places=st.tuples(st.integers(0, 2), st.integers(2, 4)),
)
def test_rows_that_are_joined_along_any_axis_are_a_slice(
    op: str, sides: list[int], axis: int, places: tuple[int, int]
) -> None:
    assume(-len(sides) <= axis < len(sides) and sum(places) <= 5)
    array = np.arange(5 * np.prod(sides), dtype=np.float32).reshape(5, *sides)
    builder, row = GraphBuilder("g"), TensorType(tuple(sides), ROW.dtype)
    source = builder.input(TensorType(array.shape, ROW.dtype), "x")
    rows = [
        builder.append(EVALUATED["get_item"], (source,), Attrs(index=(place,)), types=(row,)).outputs[0]
        for place in range(places[0], places[0] + places[1])
    ]
    expected = (np.stack if op == "stack" else np.concatenate)([*array[places[0] : sum(places)]], axis)
    result = TensorType(expected.shape, ROW.dtype)
    node = builder.append(EVALUATED[op], rows, Attrs(axis=axis), types=(result,))
    graph = DCE()(Restack(EVALUATED)(builder.build(node.outputs)))
    assert op not in {node.op.name for node in graph.nodes}
    assert [node.op.name for node in graph.nodes].count("get_item") == 1
    assert graph.outputs[0].type == result
    np.testing.assert_array_equal(Interpreter(graph).run(array)[0], expected)


def test_rows_of_two_arrays_stay() -> None:
    builder = GraphBuilder("g")
    rows = [
        builder.append(GET_ITEM, (builder.input(ARRAY, name),), Attrs(index=(place,)), types=(ROW,)).outputs[0]
        for place, name in enumerate("xy")
    ]
    node = builder.append(STACK, rows, Attrs(), types=(TensorType((2, 2), ROW.dtype),))
    graph = builder.build(node.outputs)
    assert Restack()(graph) is graph
