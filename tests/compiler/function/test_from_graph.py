"""Graphs that were printed, parsed back, and run."""

from __future__ import annotations

import re
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    ParseError,
    UnimplementedError,
    VerificationError,
)
from graphc.compiler.ir import OPS, Graph, verify
from tests.draws import examples

_VARIABLE = gx.Variable(1.0, name="v")


def reread(graph: Graph) -> Graph:
    again = gx.parse_graph(str(graph))
    assert again == graph
    return again


def test_a_function_with_loop_branch_and_gradient_runs_from_its_text() -> None:
    def f(x: Any) -> Any:
        total = gx.zeros(())
        for i in range(50):
            total = total + gx.sum(x * i)
        if total > 0:
            total = total * 2
        while total > 10:
            total = total / 2
        return total, gx.grad(lambda v: gx.sum(gx.tanh(v)))(x)

    x = gx.asarray([1.0, 2.0, 3.0])
    compiled = gx.function(f)
    run = gx.from_graph(reread(compiled.graph(x)))
    for got, wanted in zip(run(x), f(x), strict=True):
        np.testing.assert_allclose(got.numpy(), wanted.numpy(), rtol=1e-6)
    np.testing.assert_allclose(run([-1.0, 0.5, 0.0])[0].numpy(), f(gx.asarray([-1.0, 0.5, 0.0]))[0].numpy(), rtol=1e-6)


def test_variables_are_given_by_name_and_updated() -> None:
    w = gx.Variable([1.0, 2.0], name="reread_w")

    @gx.function
    def step(x: Any) -> Any:
        for _ in range(20):
            w.assign_add(x)
        return gx.sum(w)

    text = str(step.graph(gx.asarray([1.0, 1.0])))
    other = gx.Variable([0.0, 10.0])
    run = gx.from_graph(gx.parse_graph(text), {w.name: other})
    assert run(gx.asarray([1.0, 2.0])).item() == 70.0
    np.testing.assert_array_equal(other.numpy(), [20.0, 50.0])
    np.testing.assert_array_equal(w.numpy(), [1.0, 2.0])


def test_weak_inputs_take_python_numbers() -> None:
    weak = gx.ones((), dtype="float32") * 0 + gx.asarray(2.0)
    f = gx.function(lambda x, y: x * y)
    half = gx.asarray(np.float16(3.0))
    graph = f.graph(half, weak)
    assert gx.from_graph(graph)(np.float16(3.0), 2.0).numpy() == f(half, weak).numpy()


def test_no_output_gives_none() -> None:
    v = gx.Variable(1.0, name="none_v")

    @gx.function
    def bump(x: Any) -> None:
        v.assign_add(x)

    assert gx.from_graph(bump.graph(gx.asarray(2.0)), {v.name: v})(gx.asarray(2.0)) is None
    assert v.numpy() == 3.0


def test_a_missing_variable_is_named() -> None:
    w = gx.Variable(1.0, name="absent_w")
    graph = gx.function(lambda x: x * w).graph(gx.asarray(1.0))
    with pytest.raises(NotFoundError, match=r"uses the variables \['absent_w'\]; pass them"):
        gx.from_graph(graph)


def test_other_types_and_counts_are_refused() -> None:
    run = gx.from_graph(gx.function(lambda x: x + 1, name="plus").graph(gx.ones((2,))))
    with pytest.raises(InvalidArgumentError, match=r"plus: argument 'x' is f32\[3\], the graph takes f32\[2\]"):
        run(gx.ones((3,)))
    with pytest.raises(InvalidArgumentError, match=r"argument 'x' is i32\[2\]"):
        run(gx.asarray([1, 2]))
    with pytest.raises(InvalidArgumentError, match="got 2 arguments, the graph takes 1"):
        run(gx.ones((2,)), gx.ones((2,)))


def test_a_graph_that_breaks_a_rule_is_refused() -> None:
    good = gx.function(lambda x: x + 1).graph(gx.ones((2,)))
    with pytest.raises(VerificationError):
        gx.from_graph(Graph((), good.nodes, good.outputs))


def test_tapes_and_traces_see_into_a_parsed_graph() -> None:
    x = gx.asarray(2.0)
    w = gx.Variable(3.0, name="seen_w")
    run = gx.from_graph(reread(gx.function(lambda x: x * x * w).graph(x)), {w.name: w})
    with gx.GradientTape() as tape:
        tape.watch(x)
        y = run(x) + x
    assert [gradient.item() for gradient in tape.gradient(y, [x, w])] == [13.0, 4.0]
    assert gx.function(lambda x: run(x) * 2)(x).item() == 24.0


def test_a_graph_that_raises_by_values_is_refused() -> None:
    v = gx.Variable(1.0, name="raising_v")

    @gx.function
    def step(x: Any) -> Any:
        v.assign_add(1.0)
        if x > 3.0:
            raise ValueError("too large")
        return x + v

    graph = reread(step.graph(gx.asarray(1.0)))
    with pytest.raises(UnimplementedError, match=r"raises ValueError \(test_from_graph.py:\d+\) depending on tensors"):
        gx.from_graph(graph, {v.name: v})


def test_python_that_raises_fails_the_call_and_changes_no_variable() -> None:
    v = gx.Variable(1.0, name="calling_v")

    def check(value: Any) -> Any:
        if value > 3.0:
            raise KeyError("too large")
        return value

    @gx.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        return gx.pyfunc(check, gx.TensorSpec((), "float32"), x)

    run = gx.from_graph(reread(step.graph(gx.asarray(1.0))), {v.name: v})
    assert run(gx.asarray(2.0)).item() == 2.0
    with pytest.raises(KeyError, match="too large"):
        run(gx.asarray(4.0))
    assert v.numpy() == 3.0
    with pytest.raises(UnimplementedError, match="calls Python, and runs under a tape or in a compiled function"):
        gx.function(run)(gx.asarray(1.0))


def test_pins_are_obeyed_or_refused() -> None:
    @gx.function
    def f(x: Any) -> Any:
        with gx.device("cpu:2"):
            y = x * 2.0
        with gx.device("cpu:3"):
            z = x + 1.0
        return y, z

    x = gx.asarray(1.0)
    text = str(f.graph(x))
    both, one = gx.from_graph(gx.parse_graph(text)), gx.from_graph(gx.parse_graph(text.replace("CPU:3", "CPU:2")))
    assert [tensor.device[-1] for tensor in both(x)] == ["2", "3"]
    assert [tensor.device[-1] for tensor in one(x)] == ["2", "2"]
    with gx.GradientTape() as tape:
        tape.watch(x)
        results = both(x)
    assert [tensor.device[-1] for tensor in results] == ["2", "3"]
    assert tape.gradient(results, x).item() == 3.0
    with pytest.raises(NotFoundError, match="there is no device gpu:77"):
        gx.from_graph(gx.parse_graph(text.replace("/device:CPU:3", "gpu:77")))


def test_a_variable_of_another_type_or_in_a_body_is_refused() -> None:
    v = gx.Variable(1.0, name="typed_v")
    graph = gx.function(lambda x: x * v).graph(gx.asarray(1.0))
    with pytest.raises(
        InvalidArgumentError, match=r"has a variable 'typed_v' of type f32\[\], but got one of type f32\[2\]"
    ):
        gx.from_graph(graph, {v.name: gx.Variable([1.0, 2.0])})
    text = """graph g(%p: bool[]) -> (f32[]) { %y: f32[] = cond(%p) {
        true() -> (f32[]) { %r: f32[] = read_variable() {variable = "v", type = f32[]} return %r }
        false() -> (f32[]) { %r: f32[] = read_variable() {variable = "v", type = f32[]} return %r } } return %y }"""
    with pytest.raises(VerificationError, match="a loop or branch of 'g' touches the variable 'v'"):
        gx.from_graph(gx.parse_graph(text), {"v": v})


_TEXT = """graph f(%x: f32[3]) -> (f32[], f32[4], i32[3]) {
  %read: f32[] = read_variable() {variable = "v", type = f32[]}
  %c: ~f32[] = constant() {value = f32[](2.0), weak = True} loc("train.py":12 in "f")
  %add: f32[] = add(%read, %c) @"/device:CPU:0"
  %assign: () = assign_variable(%add) {variable = "v"}
  %zeros: f32[] = zeros() {shape = (), dtype = f32}
  %scan: f32[] = scan(%zeros, %x) {num_carry = 1, num_xs = 0, num_ys = 0, length = 5} {
    body(%i: ~i32[], %total: f32[], %x: f32[3]) -> (f32[]) {
      %sum: f32[] = sum(%x)
      %next: f32[] = add(%total, %sum)
      return %next
    }
  }
  %pad: f32[4] = pad(%x) {pad_width = ((0, 1),)}
  %astype: i32[3] = astype(%x) {dtype = i32}
  return %scan, %pad, %astype
}"""


def test_the_text_to_be_changed_is_a_graph() -> None:
    gx.from_graph(gx.parse_graph(_TEXT), {"v": _VARIABLE})


@given(st.data())
@settings(max_examples=examples(100))
def test_a_changed_text_of_real_ops_is_refused_or_compiled(data: st.DataObject) -> None:
    tokens = re.findall(r'"(?:[^"\\]|\\.)*"|->|[-+A-Za-z0-9_./]+|\s+|.', _TEXT, re.DOTALL)
    values = (
        "-1",
        "4294967296",
        "9" * 400,
        "nan",
        "None",
        '"\\ud800"',
        '"gpu"',
        "f64",
        "(1,)",
        "bool[1000000000]",
        "%x",
    )
    for _ in range(data.draw(st.integers(1, 2))):
        place = data.draw(st.integers(0, len(tokens) - 1))
        tokens[place] = data.draw(st.sampled_from(("", *values, *sorted(OPS), *tokens)))
    try:
        graph = gx.parse_graph("".join(tokens))
        verify(graph)
        gx.from_graph(graph, {"v": _VARIABLE})
    except (ParseError, VerificationError):
        pass
    except (NotFoundError, FailedPreconditionError, InvalidArgumentError):
        verify(graph)  # it is a graph, of other variables, devices or dtypes than there are


def test_a_line_far_down_in_a_file_costs_nothing() -> None:
    text = 'graph f(%x: f32[]) -> (f32[]) { %y: f32[] = negative(%x) loc("a.py":2147483647 in "\\ud800") return %y }'
    tracemalloc.start()
    assert gx.from_graph(gx.parse_graph(text))(gx.asarray(1.0)).item() == -1.0
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24
