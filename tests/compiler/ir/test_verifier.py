"""Each rule of the verifier, broken once."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from graphc.compiler.base import Location, errors
from graphc.compiler.ir import Attrs, Graph, Node, OpDef, TensorType, Value, verify
from tests.compiler.ir.strategies import ADD, FLOAT, INT, NEG, REPEAT, VECTOR, WEAK, graphs
from tests.draws import examples

X = Value(FLOAT, None, 0, "x")
HERE = Location("train.py", 12, "step")


def neg(value: Value = X, types: Sequence[TensorType] = (FLOAT,), **more: Any) -> Node:
    return Node(NEG, [value], Attrs(), types, location=HERE, **more)


def refused(graph: Graph) -> str:
    with pytest.raises(errors.VerificationError) as caught:
        verify(graph)
    return str(caught.value)


@given(graphs())
@settings(max_examples=examples(20))
def test_random_graphs_are_valid(graph: Graph) -> None:
    verify(graph)


def test_the_message_has_the_graph_the_printed_node_and_the_users_line() -> None:
    assert refused(Graph([], [neg()], [], "net")) == (
        "the graph 'net' is not valid: input 0, <Value f32[] input 'x'>, is not defined before it is used in this graph"
        "\n  in %neg: f32[] = neg(%x)"
        '\n  at File "train.py", line 12, in step'
    )


def test_a_value_is_defined_before_it_is_used() -> None:
    first = neg()
    second = neg(first.outputs[0], name="second")
    verify(Graph([X], [first, second], second.outputs))
    assert "output 0 of neg>, is not defined before it is used" in refused(Graph([X], [second, first], []))


def test_an_output_is_defined_in_the_graph() -> None:
    assert "output 0, <Value f32[] output 0 of neg>, is not defined in this graph" in refused(
        Graph([X], [], neg().outputs)
    )


def test_a_region_sees_only_its_own_inputs() -> None:
    own = Value(FLOAT, None, 0, "own")
    outside = Graph([own], [node := neg(X)], node.outputs, "body")
    repeat = Node(REPEAT, [X], Attrs(times=1), [FLOAT], regions=[outside])
    assert "the graph 'body' is not valid: input 0, <Value f32[] input 'x'>" in refused(Graph([X], [repeat], []))


def test_a_node_and_an_input_are_there_once() -> None:
    node = neg()
    assert "two nodes are named 'neg'" in refused(Graph([X], [node, node], []))
    assert "input 1 is <Value f32[] input 'x'>, not an input of the graph with this index" in refused(
        Graph([X, X], [], [])
    )


def test_an_input_is_no_output_of_a_node() -> None:
    assert "not an input of the graph with this index" in refused(Graph(neg().outputs, [], []))


def test_an_output_belongs_to_its_node() -> None:
    node, other = neg(), neg(name="other")
    object.__setattr__(node, "outputs", other.outputs)
    assert "output 0 claims to be <Value f32[] output 0 of other>" in refused(Graph([X], [node], []))


def test_names_are_unique() -> None:
    assert "two nodes are named 'neg'" in refused(Graph([X], [neg(), neg()], []))


def test_a_control_input_comes_earlier() -> None:
    late = neg(name="late")
    early = neg(control_inputs=[late])
    verify(Graph([X], [late, early], []))
    assert "the control input 'late' does not come earlier in this graph" in refused(Graph([X], [early, late], []))


def test_a_node_has_the_inputs_that_its_op_takes() -> None:
    node = Node(ADD, [X], Attrs(), [FLOAT])
    assert "the op takes inputs (x, y), but the node has 1" in refused(Graph([X], [node], []))


def test_a_starred_input_takes_any_number() -> None:
    op = OpDef("join", impl=max, infer=lambda types, attrs, regions: (FLOAT,), params=("x", "*more"))
    for count in (1, 2, 5):
        verify(Graph([X], [Node(op, [X] * count, Attrs(), [FLOAT])], []))
    node = Node(op, [], Attrs(), [FLOAT])
    assert "the op takes inputs (x, *more), but the node has 0" in refused(Graph([X], [node], []))


def test_a_node_has_the_regions_that_its_op_takes() -> None:
    node = Node(REPEAT, [X], Attrs(times=1), [FLOAT])
    assert "the op takes regions (body), but the node has 0" in refused(Graph([X], [node], []))


@pytest.mark.parametrize("types", [[INT], [WEAK], [VECTOR], [FLOAT, FLOAT], []])
def test_output_types_are_what_inference_gives(types: Sequence[TensorType]) -> None:
    given = ", ".join(map(str, types))
    assert f"the outputs are ({given}), but inference returns (f32[])" in refused(Graph([X], [neg(types=types)], []))


def test_inference_that_fails_is_reported_with_the_node() -> None:
    node = Node(ADD, [X, Value(INT, None, 1)], Attrs(), [FLOAT], location=HERE)
    message = refused(Graph([X, node.inputs[1]], [node], []))
    assert "the op's own check fails: TypeError: the types differ: f32[], i32[]" in message
    assert "line 12, in step" in message


def test_an_op_checks_its_nodes() -> None:
    op = dataclasses.replace(NEG, verify=lambda node: "it is Tuesday" if node.device else None)
    verify(Graph([X], [Node(op, [X], Attrs(), [FLOAT])], []))
    assert "is not valid: it is Tuesday" in refused(Graph([X], [Node(op, [X], Attrs(), [FLOAT], device="cpu")], []))


@pytest.mark.parametrize(
    ("type", "problem"),
    [
        (TensorType((-2,), np.dtype("int32")), "the shape (-2,), whose sizes are not all nonnegative integers"),
        (TensorType((1.5,), np.dtype("int32")), "the shape (1.5,)"),  # type: ignore[arg-type]
        (TensorType((), np.float32), "the dtype <class 'numpy.float32'>, which is not a NumPy dtype"),  # type: ignore[arg-type]
        ("f32[]", "the type 'f32[]', which is not a TensorType"),
    ],
)
def test_a_type_is_well_formed(type: Any, problem: str) -> None:
    value = Value(FLOAT, None, 0, "x")
    value.type = type
    assert problem in refused(Graph([value], [], []))


def test_a_size_of_zero_is_valid() -> None:
    verify(Graph([Value(TensorType((0, 3), np.dtype("int32")), None, 0)], [], []))


def test_every_node_is_inferred_once() -> None:
    count = 0

    def infer(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
        nonlocal count
        count += 1
        return (FLOAT,)

    op = OpDef("counted", impl=abs, infer=infer, params=("x",))
    nodes = [Node(op, [X], Attrs(), [FLOAT], name=f"n{index}") for index in range(100)]
    verify(Graph([X], nodes, []))
    assert count == 100


def test_a_node_that_a_pass_keeps_is_checked_once() -> None:
    checked: list[str] = []
    op = dataclasses.replace(NEG, verify=lambda node: checked.append(node.name))
    first = Node(op, [X], Attrs(), [FLOAT], name="first")
    second = Node(op, [X], Attrs(), [FLOAT], name="second")
    graph = Graph([X], [first], first.outputs)
    for _ in range(2):
        verify(graph)
    verify(Graph([X], [first, second], second.outputs))
    assert checked == ["first", "second"]
    assert "two nodes are named 'first'" in refused(Graph([X], [first, first], []))  # edges are checked in each graph
