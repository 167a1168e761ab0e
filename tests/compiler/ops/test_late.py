"""Tensors where an op has static attributes, in graphs that are built by hand, and what becomes of them in a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.base.errors import ConcretizationError, InvalidArgumentError
from graphc.compiler.core import FUNCTIONS, kernel, trace_scope, type_of
from graphc.compiler.ir import OPEN, OPS, Attrs, Graph, Interpreter, OpDef, TensorType, parse_graph, verify
from graphc.compiler.ir.passes import shape_inputs, specialize
from graphc.compiler.tracing import Trace
from tests.draws import examples

F32, I32 = np.dtype("float32"), np.dtype("int32")
Inputs = Sequence[np.ndarray[Any, Any]]


def f32(*shape: int) -> TensorType:
    return TensorType(shape, F32)


def i32(*shape: int) -> TensorType:
    return TensorType(shape, I32)


class ByHand(Trace):
    """As that of a gx.Graph."""

    is_graph = True


def build(function: Callable[..., Any], *types: TensorType) -> Graph:
    """The verified graph that is built by hand."""
    trace = ByHand("g")
    arguments = [trace.argument(type, f"x{index}") for index, type in enumerate(types)]
    with trace_scope(trace):
        found = function(*arguments)
        outputs = [trace.lift(value) for value in (found if isinstance(found, tuple) else (found,))]
    graph = trace.finish(outputs)
    verify(graph)
    return graph


def evaluate(op: OpDef, arrays: Inputs, attrs: Attrs) -> list[Any]:
    results = kernel(op, attrs)(*arrays)
    return list(results) if isinstance(results, tuple | list) else [results]


def made_for(graph: Graph, inputs: Inputs, values: Any = None) -> Graph:
    """The graph for these inputs, verified."""
    special = specialize(graph, [type_of(array) for array in inputs], evaluate, values)
    verify(special)
    assert not any(node.op.name.startswith("late") for node in special.walk())
    return special


def results(graph: Graph, inputs: Inputs) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(result) for result in Interpreter(graph).run(*inputs)]


X = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.mark.parametrize(
    ("function", "type"),
    [
        (lambda x: gx.reshape(x, (gx.shape(x)[0], 3, 1)), "f32[?,3,1]"),
        (lambda x: gx.reshape(x, FUNCTIONS["shape_tensor"](x)), "f32[?,3]"),
        (lambda x: gx.reshape(x, gx.concat([FUNCTIONS["shape_tensor"](x)[:1], gx.asarray([-1, 1])])), "f32[?,3,1]"),
        (lambda x: gx.reshape(x, (gx.size(x),)), "f32[?]"),
        (lambda x: gx.zeros((gx.shape(x)[0], 5)), "f32[?,5]"),
        (lambda x: gx.full((2, gx.shape(x)[0]), 7.0), "f32[2,?]"),
        (lambda x: gx.broadcast_to(x[0], gx.shape(x)), "f32[?,3]"),
        (lambda x: gx.tile(x, (1, gx.shape(x)[0])), "f32[?,?]"),
        (lambda x: gx.arange(gx.shape(x)[0]), "i32[?]"),
        (lambda x: gx.arange(0, gx.shape(x)[0] * 2, 2), "i32[?]"),
        (lambda x: gx.nn.one_hot(gx.asarray([0, 1]), gx.shape(x)[0]), "f32[2,?]"),
        (lambda x: x[: gx.shape(x)[0] - 1], "f32[?,3]"),
        (lambda x: gx.pad(x, ((0, gx.shape(x)[0]), (0, 0))), "f32[?,3]"),
        (lambda x: gx.sum(x, axis=gx.ndim(x) - 1), "f32[?]"),
        (lambda x: gx.linspace(0.0, 1.0, gx.shape(x)[0]), "f32[?]"),
    ],
)
def test_a_tensor_is_a_shape_in_a_graph_that_is_built_by_hand(function: Callable[..., Any], type: str) -> None:
    graph = build(function, f32(OPEN, 3))
    assert str(graph.outputs[0].type) == type
    assert parse_graph(str(graph)) == graph
    special = made_for(graph, [X])
    (found,) = results(special, [X])
    expected = np.asarray(function(gx.asarray(X)))
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)
    # It runs as it is, too, where arrays are there.
    np.testing.assert_array_equal(results(graph, [X])[0], expected)


def test_what_is_known_is_no_late_node() -> None:
    graph = build(lambda x: gx.reshape(x, gx.asarray([3, 4]) * 1), f32(4, 3))
    assert str(graph.outputs[0].type) == "f32[3,4]"
    graph = build(lambda x: gx.zeros((gx.shape(x)[1] * 2,)), f32(OPEN, 3))
    assert graph.nodes[-1].op is OPS["zeros"]
    assert str(graph.outputs[0].type) == "f32[6]"


def test_a_rank_that_is_not_known() -> None:
    unranked = TensorType((), F32, ranked=False)
    graph = build(lambda x: gx.reshape(x * 1.0, gx.shape(x)), unranked)
    assert str(graph.outputs[0].type) == "f32[*]"
    np.testing.assert_array_equal(results(made_for(graph, [X]), [X])[0], X)
    graph = build(lambda x: gx.zeros((2,) * 2) + gx.ndim(x), unranked)
    assert str(graph.outputs[0].type) == "f32[2,2]"


def test_a_shape_may_depend_on_what_is_fed() -> None:
    graph = build(lambda x, n: gx.zeros((n, gx.shape(x)[1])), f32(OPEN, 3), i32())
    assert str(graph.outputs[0].type) == "f32[?,3]"
    assert shape_inputs(graph) == (1,)
    n = np.int32(2)
    special = made_for(graph, [X, n], {1: n})
    assert str(special.outputs[0].type) == "f32[2,3]"


def test_a_shape_that_depends_on_computed_values_is_refused_with_its_line() -> None:
    graph = build(lambda x, n: gx.zeros((n + 1,)), f32(OPEN, 3), i32())
    with pytest.raises(InvalidArgumentError) as caught:
        made_for(graph, [X, np.int32(2)])
    message = str(caught.value)
    assert "zeros, the node 'zeros': shape depends on values (%add: i32[]) that are not known" in message
    assert __file__ in message


def test_gradients_go_through_late_nodes() -> None:
    def loss(x: Any) -> Any:
        with gx.GradientTape() as tape:
            tape.watch(x)
            flat = gx.reshape(x * x, (gx.shape(x)[0] * 3,))
            total = gx.sum(flat * gx.arange(gx.shape(x)[0] * 3))
        return tape.gradient(total, x)

    graph = build(loss, f32(OPEN, 3))
    assert str(graph.outputs[0].type) == "f32[?,3]"
    np.testing.assert_array_equal(results(made_for(graph, [X]), [X])[0], loss(gx.asarray(X)).numpy())


def test_second_gradients_too() -> None:
    def twice(x: Any) -> Any:
        def first(x: Any) -> Any:
            return gx.sum(gx.grad(lambda x: gx.sum(gx.reshape(x**3, (gx.shape(x)[0] * 3,))))(x))

        return gx.grad(first)(x)

    graph = build(twice, f32(OPEN, 3))
    np.testing.assert_allclose(results(made_for(graph, [X]), [X])[0], 6 * X)


def test_bodies_are_specialised_with_what_they_take() -> None:
    def function(x: Any) -> Any:
        doubled = gx.cond(gx.sum(x) > 0, lambda: x * 2, lambda: gx.zeros((gx.shape(x)[0], 3)))
        rows = gx.shape(x)[0]

        def body(carry: Any) -> Any:
            return carry[0] + 1, carry[1] + gx.ones((rows, 3))

        return gx.while_loop(lambda carry: carry[0] < 3, body, (0, doubled))[1]

    graph = build(function, f32(OPEN, 3))
    assert str(graph.outputs[0].type) == "f32[?,3]"
    assert shape_inputs(graph) == ()
    np.testing.assert_array_equal(results(made_for(graph, [X]), [X])[0], 2 * X + 3)


def test_branches_of_different_shapes_are_refused() -> None:
    graph = build(lambda x, y: gx.cond(gx.sum(x) > 0, lambda: x, lambda: y), f32(OPEN), f32(OPEN))
    with pytest.raises(InvalidArgumentError, match=r"with the shapes of this run: .*f32\[2\].*f32\[3\]"):
        made_for(graph, [X[0], X[0, :2]])


def test_what_cannot_fit_is_refused_in_the_words_of_the_op() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        build(lambda x, n: gx.reshape(x, (2, n)), f32(3, 3), i32())
    message = str(caught.value).partition("\n")[0]
    assert message.startswith("reshape(x: f32[3,3], shape=(2, 'i32[]')): cannot reshape array of shape (3, 3) (size 9)")


def test_a_compiled_function_refuses_a_tensor_as_before() -> None:
    @gx.function
    def function(n: Any) -> Any:
        return gx.zeros((n,))

    with pytest.raises(ConcretizationError, match="shape must be known while the function is traced"):
        function(gx.asarray(3))


def test_a_tensor_of_floats_is_no_shape() -> None:
    with pytest.raises(ConcretizationError, match="zeros: shape must be known"):
        build(lambda x: gx.zeros((x,)), f32())


STEPS: dict[str, Callable[[Any, Any], Any]] = {
    "sin": lambda x, y: gx.sin(x),
    "add": lambda x, y: x + y,
    "mean": lambda x, y: x - gx.mean(x, axis=0),
    "concat": lambda x, y: gx.concat([x, y])[: gx.shape(x)[0]],
    "reshape": lambda x, y: gx.reshape(gx.reshape(x, (-1,)), gx.shape(y)),
    "tile": lambda x, y: gx.broadcast_to(gx.sum(x, axis=0), (gx.shape(x)[0], 3)),
    "matmul": lambda x, y: gx.matmul(x, gx.ones((3, 3))),
    "cond": lambda x, y: gx.cond(gx.sum(x) > 0, lambda: x + y, lambda: gx.zeros(gx.shape(x))),
}


@given(st.lists(st.sampled_from(sorted(STEPS)), min_size=1, max_size=5), st.integers(1, 4))
@settings(max_examples=examples(40))
def test_a_specialised_graph_computes_what_that_of_the_types_does(steps: list[str], rows: int) -> None:
    def function(x: Any, y: Any) -> Any:
        for step in steps:
            x, y = y, STEPS[step](x, y)
        return y

    x, y = (np.full((rows, 3), value, np.float32) for value in (0.5, 2.0))
    special = made_for(build(function, f32(OPEN, 3), f32(OPEN, 3)), [x, y])
    traced = build(function, f32(rows, 3), f32(rows, 3))
    assert [value.type for value in special.outputs] == [value.type for value in traced.outputs]
    np.testing.assert_array_equal(results(special, [x, y])[0], results(traced, [x, y])[0])
