"""Pictures of graphs: every node is in one of them, with what there is to say of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.ir import Graph
from graphc.tools.drawing import Box, Note, Picture, path_of, views
from tests.compiler.ir.strategies import graphs
from tests.draws import examples

X = gx.ones((4, 4))


def boxes_of(pictures: list[Picture]) -> Iterator[Box]:
    for picture in pictures:
        for box in picture.boxes:
            yield box
            yield from boxes_of(list(box.inner))


def keys_of(graph: Graph, scope: str = "") -> Iterator[str]:
    for node in graph.nodes:
        yield f"{scope}{node.name}"
        for index, region in enumerate(node.regions):
            yield from keys_of(region, f"{path_of(scope, node, index)}/")


def graph_of(function: Any, *args: Any, **options: Any) -> Graph:
    return gx.function(function, **options).graph(*args)


def looping(x: Any) -> Any:
    for _ in range(100):
        if gx.sum(x) > 3.0:
            x = x @ x
        else:
            x = gx.sin(x)
    while gx.sum(x) > 1:
        x = x / 2
    return x


def unrolled(x: Any) -> Any:
    for i in range(300):
        x = gx.sin(x) * i + 1
    return x


def test_bodies_are_drawn_inside_their_nodes() -> None:
    (picture,) = views(graph_of(looping, X))
    found = {box.key: box for box in boxes_of([picture])}
    scan = found["scan"]
    assert scan.kind == "flow"
    assert "100 iterations" in scan.lines
    assert [inner.title for inner in found["scan/body/cond"].inner] == ["true", "false"]
    assert found["scan/body/cond/true/matmul"].lines == ("f32[4,4]",)
    assert [inner.title for inner in found["while"].inner] == ["test", "body"]


def test_every_node_has_a_box() -> None:
    graph = graph_of(looping, X)
    for limit in (None, 150, 5):
        keys = {box.key for box in boxes_of(views(graph, limit=limit))}
        assert keys >= set(keys_of(graph))


@given(graphs(), st.sampled_from([None, 3, 10]))
@settings(deadline=None, max_examples=examples(30))
def test_random_graphs_have_a_box_for_every_node(graph: Graph, limit: int | None) -> None:
    pictures = views(graph, limit=limit)
    assert {box.key for box in boxes_of(pictures)} >= set(keys_of(graph))
    opened = {key for box in boxes_of(pictures) for key in box.opens}
    assert opened == {picture.key for picture in pictures[1:]}


def test_a_large_graph_is_drawn_in_parts() -> None:
    graph = graph_of(unrolled, X, unroll=True)
    assert len(graph.nodes) > 1000
    pictures = views(graph)
    assert all(len(picture.boxes) < 250 for picture in pictures)
    assert {box.kind for box in pictures[0].boxes} <= {"input", "output", "group", "reference"}
    assert {box.key for box in boxes_of(pictures)} >= {node.name for node in graph.nodes}


def test_notes_variables_pins_and_order_are_shown() -> None:
    v = gx.Variable(1.0, name="drawn_weight")

    def step(x: Any) -> Any:
        v.assign_add(gx.sum(x))
        with gx.device("cpu:0"):
            y = gx.sin(x)
        gx.print("sum", v)
        return y

    graph = graph_of(step, X)
    sine = next(node for node in graph.nodes if node.op.name == "sin")
    (picture,) = views(graph, notes={sine: Note(("3 FLOP",), 0.5)})
    found = {box.key: box for box in picture.boxes}
    assert found["read_variable"].kind == "state"
    assert found["read_variable"].title == "read_variable drawn_weight"
    assert found["sin"].lines[1:] == ("on /device:CPU:0", "3 FLOP")
    assert found["sin"].heat == 0.5
    assert found["sin"].place.endswith(f":{sine.location.line}" if sine.location else "")
    assert any(box.kind == "host" for box in picture.boxes)
    assert any(link.control for link in picture.links)


def test_a_line_that_would_pass_many_boxes_is_a_reference() -> None:
    def long(x: Any) -> Any:
        y = gx.sin(x)
        z = y
        for _ in range(12):
            z = gx.tanh(z)
        return z + y

    (picture,) = views(graph_of(long, X, unroll=True))
    (reference,) = [box for box in picture.boxes if box.kind == "reference"]
    assert reference.title == "↑ sin"
