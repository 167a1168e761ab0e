"""The interpreter: values, regions, release of values, and errors that carry the user's line."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from graphc.compiler.base import Location, errors
from graphc.compiler.ir import Attrs, Graph, GraphBuilder, Interpreter, Node, OpDef, Value, parse_graph
from tests.compiler.ir.strategies import ADD, FLOAT, NEG, PAIR, REPEAT, TEST_OPS, VECTOR, State, Stateful


def read(text: str) -> Graph:
    return parse_graph(text, TEST_OPS)


def test_evaluates_nodes_with_many_outputs() -> None:
    graph = read("""graph g(%x: f32[], %y: f32[]) -> (f32[], f32[], f32[]) {
        %s: f32[] = add(%x, %y)
        %p: (f32[], f32[]) = pair(%s)
        return %p#1, %p#0, %x
    }""")
    assert Interpreter(graph).run(2.0, 3.0) == (25.0, 10.0, 2.0)


def test_runs_regions_by_name_and_by_number() -> None:
    graph = read("""graph g(%k: i32[], %x: f32[]) -> (f32[], f32[]) {
        %r: f32[] = repeat(%x) {times = 3} {
            body(%c: f32[]) -> (f32[]) { %d: f32[] = add(%c, %c) return %d }
        }
        %e: f32[] = either(%k, %x) {
            branches(%c: f32[]) -> (f32[]) { return %c }
            branches(%c: f32[]) -> (f32[]) { %n: f32[] = neg(%c) return %n }
        }
        return %r, %e
    }""")
    assert Interpreter(graph).run(0, 1.5) == (12.0, 1.5)
    assert Interpreter(graph).run(1, 1.5) == (12.0, -1.5)


def test_a_subclass_gives_nodes_another_meaning_in_regions_too() -> None:
    class Names(Interpreter):
        seen: list[str]

        def run_node(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
            self.seen.append(node.name)
            return super().run_node(node, inputs)

        def region(self, graph: Graph) -> Callable[..., tuple[Any, ...]]:
            inner = type(self)(graph)
            inner.seen = self.seen
            return inner.run

    graph = read("""graph g(%x: f32[]) -> (f32[]) {
        %r: f32[] = repeat(%x) {times = 2} { body(%c: f32[]) -> (f32[]) { %d: f32[] = neg(%c) return %d } }
        return %r
    }""")
    names = Names(graph)
    names.seen = []
    names.run(1.0)
    assert names.seen == ["r", "d", "d"]


def test_a_region_of_a_subclass_is_run_by_the_subclass() -> None:
    class Halves(Interpreter):
        def run_node(self, node: Node, inputs: list[Any]) -> Sequence[Any]:
            return [inputs[0] / 2] if node.op is NEG else super().run_node(node, inputs)

    graph = read("""graph g(%x: f32[]) -> (f32[]) {
        %r: f32[] = repeat(%x) {times = 2} { body(%c: f32[]) -> (f32[]) { %d: f32[] = neg(%c) return %d } }
        return %r
    }""")
    assert Halves(graph).run(8.0) == (2.0,)


def test_state_ops_may_return_nothing() -> None:
    graph = read("""graph g(%x: f32[]) -> (f32[]) {
        %w: () = write(%x) {name = "u"}
        %r: f32[] = read() {name = "u"}
        return %r
    }""")
    assert Stateful(graph, State()).run(7.0) == (7.0,)


def test_an_op_without_outputs_may_return_none() -> None:
    op = OpDef("effect", impl=lambda: None, infer=lambda types, attrs, regions: ())
    assert Interpreter(Graph([], [Node(op, [], Attrs(), [])], [])).run() == ()


def test_values_are_released_after_their_last_use() -> None:
    class Box:
        """A value whose life can be watched."""

    alive: list[weakref.ref[Box]] = []
    most = 0

    def step(*boxes: Box) -> tuple[Box, Box]:
        nonlocal most
        made = Box(), Box()
        alive.extend(map(weakref.ref, made))
        most = max(most, sum(ref() is not None for ref in alive))
        return made

    op = OpDef("step", impl=step, infer=lambda types, attrs, regions: (FLOAT, FLOAT), params=("*x",))
    builder = GraphBuilder()
    value: Sequence[Value] = ()
    for _ in range(50):
        value = builder.append(op, value[:1]).outputs  # the second output is never used
    assert len(Interpreter(builder.build(value[:1])).run()) == 1
    assert most <= 5
    assert sum(ref() is not None for ref in alive) == 0


def test_a_value_that_is_used_twice_by_one_node_and_returned_stays() -> None:
    builder = GraphBuilder()
    x = builder.input(FLOAT)
    node = builder.append(ADD, [x, x])
    assert Interpreter(builder.build([x, *node.outputs, x])).run(2.0) == (2.0, 4.0, 2.0)


def test_an_error_carries_the_printed_node_and_the_users_line() -> None:
    builder = GraphBuilder("net")
    inputs = [builder.input(VECTOR, "x"), builder.input(VECTOR, "y")]
    builder.append(ADD, inputs, location=Location("train.py", 12, "step"))
    with pytest.raises(ValueError, match="broadcast") as caught:
        Interpreter(builder.build([])).run(np.ones(3), np.ones(4))
    assert caught.value.__notes__ == [
        "in the graph 'net', node %add: f32[3] = add(%x, %y)\n  File \"train.py\", line 12, in step"
    ]


def test_an_error_in_a_region_names_every_level() -> None:
    body = GraphBuilder("body")
    inner = body.append(NEG, [body.input(FLOAT, "c")])
    builder = GraphBuilder("outer")
    outer = builder.append(REPEAT, [builder.input(FLOAT, "x")], Attrs(times=1), regions=[body.build(inner.outputs)])
    with pytest.raises(TypeError) as caught:
        Interpreter(builder.build(outer.outputs)).run("text")
    first, second = caught.value.__notes__
    assert first.startswith("in the graph 'body', node %neg")
    assert second.startswith("in the graph 'outer', node %repeat")


def test_an_op_that_returns_another_number_of_values_is_reported() -> None:
    node = Node(PAIR, [x := Value(FLOAT, None, 0)], Attrs(), [FLOAT])
    with pytest.raises(errors.InternalError, match="the op 'pair' returned 2 values for 1 outputs"):
        Interpreter(Graph([x], [node], [])).run(1.0)


def test_the_number_of_inputs_is_checked() -> None:
    with pytest.raises(errors.InvalidArgumentError, match="the graph 'g' takes 1 inputs, got 2"):
        Interpreter(read("graph g(%x: f32[]) -> () { return }")).run(1, 2)
