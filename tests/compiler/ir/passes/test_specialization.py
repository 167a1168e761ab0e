"""Graphs with open types, made for the types of a run."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.base import Location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ir import OPEN, SHAPE_OF, Attrs, GraphBuilder, TensorType, known_ints, verify
from graphc.compiler.ir.passes import specialize
from tests.compiler.ir.strategies import ADD, CALL, NEG, PAIR, READ, WRITE
from tests.draws import examples

F32 = np.dtype("float32")
ROWS = TensorType((OPEN, 3), F32)


def no_evaluation(op: Any, arrays: Any, attrs: Any) -> Any:
    raise AssertionError("nothing is to be computed")


def test_types_are_inferred_anew_and_all_else_stays() -> None:
    body = GraphBuilder("inner")
    x = body.input(ROWS, "x")
    region = body.build(body.append(NEG, [x], name="minus").outputs)
    call = replace(CALL, entries=lambda types, attrs, regions: [[(type, place) for place, type in enumerate(types)]])
    builder = GraphBuilder("step")
    x = builder.input(ROWS, "x")
    read = builder.append(READ, (), Attrs(name="u"))
    pair = builder.append(
        PAIR, [x], name="both", device="/device:CPU:0", control_inputs=[read], location=Location("train.py", 3)
    )
    inner = builder.append(call, [pair.outputs[1]], regions=[region])
    graph = builder.build(inner.outputs)
    assert str(graph.outputs[0].type) == "f32[?,3]"
    made = specialize(graph, [TensorType((5, 3), F32)], no_evaluation)
    verify(made)
    assert [str(node.outputs[-1].type) for node in made.nodes] == ["f32[]", "f32[5,3]", "f32[5,3]"]
    node = made.nodes[1]
    assert (node.name, node.device, node.location) == ("both", "/device:CPU:0", Location("train.py", 3))
    assert [control.name for control in node.control_inputs] == ["read"]
    assert made.nodes[2].regions[0].name == "inner"
    assert str(made.nodes[2].regions[0].nodes[0]) == "<Node minus: neg -> f32[5,3]>"


@given(st.lists(st.sampled_from([ADD, NEG, PAIR]), max_size=6), st.integers(0, 4))
@settings(max_examples=examples(40))
def test_it_is_the_graph_that_is_built_with_the_types(ops: list[Any], size: int) -> None:
    def build(type: TensorType) -> Any:
        builder = GraphBuilder()
        value = builder.input(type)
        for op in ops:
            value = builder.append(op, [value] * len(op.params)).outputs[-1]
        return builder.build([value])

    concrete = TensorType((size, 3), F32)
    assert specialize(build(ROWS), [concrete], no_evaluation) == build(concrete)


@pytest.mark.parametrize(
    "type", [TensorType((5, 4), F32), TensorType((3,), F32), TensorType((5, 3), np.dtype("int32"))]
)
def test_a_type_that_does_not_fit_is_refused(type: TensorType) -> None:
    builder = GraphBuilder()
    graph = builder.build([builder.input(ROWS, "x")])
    with pytest.raises(InvalidArgumentError, match=r"the input x is f32\[\?,3\], "):
        specialize(graph, [type], no_evaluation)


def test_what_does_not_fit_in_this_run_is_refused_with_its_line() -> None:
    builder = GraphBuilder()
    x, y = builder.input(ROWS, "x"), builder.input(ROWS, "y")
    add = builder.append(ADD, [x, y], name="total", location=Location("train.py", 7))
    graph = builder.build(add.outputs)
    with pytest.raises(InvalidArgumentError) as caught:
        specialize(graph, [TensorType((2, 3), F32), TensorType((4, 3), F32)], no_evaluation)
    assert "add(f32[2,3], f32[4,3]), the node 'total': the types differ" in str(caught.value)
    assert "train.py" in str(caught.value)


def test_state_ops_do_not_care() -> None:
    builder = GraphBuilder()
    x = builder.input(TensorType((), F32), "x")
    builder.append(WRITE, [x], Attrs(name="u"))
    graph = builder.build([])
    assert specialize(graph, [TensorType((), F32)], no_evaluation) == graph


def test_a_shape_is_a_constant_once_it_is_known() -> None:
    builder = GraphBuilder()
    x = builder.input(ROWS, "x")
    graph = builder.build(builder.append(SHAPE_OF, [x]).outputs)
    found = known_ints(graph.outputs[0])
    assert found is not None
    assert found.tolist() == [None, 3]
    made = specialize(graph, [TensorType((5, 3), F32)], no_evaluation)
    assert made.nodes[0].attrs["value"].array.tolist() == [5, 3]
