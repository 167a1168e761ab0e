"""Rows that are stacked again become a slice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphc.ir import Attrs, Graph, GraphBuilder, OpDef, TensorType, Value
from graphc.ir.passes import Restack

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
    assert stacked([0, 1], axis=1) == ["stack", "None"]


def test_rows_of_two_arrays_stay() -> None:
    builder = GraphBuilder("g")
    rows = [
        builder.append(GET_ITEM, (builder.input(ARRAY, name),), Attrs(index=(place,)), types=(ROW,)).outputs[0]
        for place, name in enumerate("xy")
    ]
    node = builder.append(STACK, rows, Attrs(), types=(TensorType((2, 2), ROW.dtype),))
    graph = builder.build(node.outputs)
    assert Restack()(graph) is graph
