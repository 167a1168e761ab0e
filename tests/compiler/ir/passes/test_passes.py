"""What every pass must keep, on random graphs, and that their work grows with the graph and not faster."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.ir import Attrs, EffectKind, Graph, GraphBuilder, Literal, Node, parse_graph, print_graph, verify
from graphc.compiler.ir.passes import CSE, DCE, DEFAULT, Flatten, Fold, Hoist, Loops, Order, Pass, Sink, run_passes
from tests.compiler.ir.strategies import (
    ADD,
    CONSTANT,
    FLOAT,
    NEG,
    READ,
    RESOURCES,
    TEST_OPS,
    WRITE,
    State,
    Stateful,
    ancestors,
    calls,
    evaluate,
    graphs,
    sources,
)
from tests.draws import examples

PASSES: list[Pass] = [Flatten(TEST_OPS), DCE(), CSE(), Fold(), Order()]
OVER_LOOPS: list[Pass] = [Sink(TEST_OPS), Hoist(TEST_OPS), Loops(TEST_OPS)]
PIPELINE: list[Pass] = [Flatten(TEST_OPS), DCE(), Fold(), CSE(), Loops(TEST_OPS), DCE(), Order()]


def is_writer(node: Node) -> bool:
    return any(effect.kind is EffectKind.WRITE for effect in node.effects)


def paths_between_writers(graph: Graph) -> set[tuple[str, str]]:
    return {
        (earlier.name, node.name)
        for node, before in ancestors(graph).items()
        for earlier in before
        if is_writer(node) and is_writer(earlier)
    }


@pytest.mark.parametrize("step", PASSES, ids=lambda step: step.name)
@given(graph=graphs())
@settings(max_examples=examples(25))
def test_a_pass_keeps_results_effects_and_validity(step: Pass, graph: Graph) -> None:
    verify(graph)
    result = step(graph)
    verify(result)
    assert evaluate(result) == evaluate(graph)
    assert parse_graph(print_graph(result), TEST_OPS) == result
    assert step(result) is result
    assert paths_between_writers(result) >= paths_between_writers(graph)


@pytest.mark.parametrize("step", OVER_LOOPS, ids=lambda step: step.name)
@given(graph=graphs(depth=2))
@settings(max_examples=examples(50))
def test_a_pass_over_loops_keeps_results_effects_and_validity(step: Pass, graph: Graph) -> None:
    verify(graph)
    result = step(graph)
    verify(result)
    assert evaluate(result) == evaluate(graph)
    assert parse_graph(print_graph(result), TEST_OPS) == result


@given(graph=graphs())
@settings(max_examples=examples(25))
def test_the_default_pipeline_keeps_results_and_leaves_nothing_to_do(graph: Graph) -> None:
    assert [step.name for step in PIPELINE] == [step.name for step in DEFAULT]
    result = run_passes(graph, PIPELINE)
    verify(result)
    assert evaluate(result) == evaluate(graph)
    assert run_passes(result, PIPELINE) is result


def reschedule(draw: st.DrawFn, graph: Graph) -> Graph:
    """The graph in another order that its edges allow, regions included."""
    waiting = list(graph.nodes)
    done: dict[Node, Node] = {}
    values = {value: value for value in graph.inputs}
    while waiting:
        ready = [node for node in waiting if all(source in done for source in sources(node))]
        node = draw(st.sampled_from(ready))
        waiting.remove(node)
        done[node] = new = Node(
            node.op,
            [values[value] for value in node.inputs],
            node.attrs,
            [output.type for output in node.outputs],
            regions=[reschedule(draw, region) for region in node.regions],
            control_inputs=[done[control] for control in node.control_inputs],
            name=node.name,
        )
        values.update(zip(node.outputs, new.outputs, strict=True))
    return Graph(graph.inputs, list(done.values()), [values[value] for value in graph.outputs], graph.name)


@st.composite
def ordered_graphs(draw: st.DrawFn, *passes: Pass) -> tuple[Graph, Graph]:
    """A graph, and what passes make of it in another order that the edges allow."""
    graph = draw(graphs())
    return graph, reschedule(draw, run_passes(graph, passes))


@pytest.mark.parametrize("after", [[], [DCE()], [CSE(), Fold(), DCE()]], ids=["order", "then dce", "then all"])
@given(data=st.data())
@settings(max_examples=examples(25))
def test_ordered_effects_do_not_depend_on_the_schedule(after: list[Pass], data: st.DataObject) -> None:
    graph, other = data.draw(ordered_graphs(Order(), *after))
    verify(other)
    outputs, log = evaluate(graph)
    other_outputs, other_log = evaluate(other)
    assert other_outputs == outputs
    for resource in RESOURCES:  # writes of different resources may change places
        assert [entry for entry in other_log if entry[0] == resource] == [
            entry for entry in log if entry[0] == resource
        ]


def ladder(size: int) -> Graph:
    """At least ``size`` nodes: reads, arithmetic, constants and some writes, each depending on some before."""
    builder = GraphBuilder()
    value = builder.input(FLOAT)
    node = None
    for step in range(size // 4):
        name = Attrs(name=f"v{step % 11}")
        (read,) = builder.append(READ, (), name).outputs
        (constant,) = builder.append(CONSTANT, (), Attrs(value=Literal(np.float32(step % 7)))).outputs
        (negative,) = builder.append(NEG, [constant]).outputs
        (value,) = builder.append(ADD, [value, read if step % 2 else negative]).outputs
        if step % 4 == 0:
            node = builder.append(WRITE, [value], name, control_inputs=[node] if node and step % 3 == 0 else [])
    return builder.build([value])


WORK: dict[str, Callable[[Graph], Any]] = {
    **{step.name: step for step in PASSES},
    "verify": verify,
    "print": print_graph,
    "interpret": lambda graph: Stateful(graph, Cells()).run(np.float32(1)),
}


class Cells(State):
    def __init__(self) -> None:
        super().__init__()
        self.cells = {f"v{index}": np.float32(0) for index in range(11)}


@pytest.mark.parametrize("name", WORK)
def test_work_grows_with_the_graph_and_not_faster(name: str) -> None:
    small, large = ladder(500), ladder(2_000)
    assert calls(lambda: WORK[name](large)) <= 4.4 * calls(lambda: WORK[name](small))


def test_ordering_does_not_search_the_whole_graph_for_an_implied_edge() -> None:
    def chain(size: int) -> Graph:
        """Each write has the one before it on its resource a quarter of the graph back."""
        builder = GraphBuilder()
        value = builder.input(FLOAT)
        for step in range(size):
            (value,) = builder.append(NEG, [value]).outputs
            builder.append(WRITE, [value], Attrs(name=f"v{step % (size // 4)}"))
        return builder.build([value])

    small, large = chain(200), chain(800)
    assert calls(lambda: Order()(large)) <= 4.4 * calls(lambda: Order()(small))


def test_parsing_grows_with_the_text_and_not_faster() -> None:
    small, large = print_graph(ladder(250)), print_graph(ladder(1_000))
    assert calls(lambda: parse_graph(large, TEST_OPS)) <= 4.4 * calls(lambda: parse_graph(small, TEST_OPS))


@pytest.mark.parametrize("num_nodes", [5_000, pytest.param(50_000, marks=pytest.mark.slow)])
def test_many_nodes_pass_through_the_pipeline(num_nodes: int) -> None:
    graph = ladder(num_nodes)
    result = run_passes(graph)
    assert len(result.nodes) < len(graph.nodes)
    assert sum(map(is_writer, result.nodes)) == sum(map(is_writer, graph.nodes)) > num_nodes * 0.06
    # An edge or two for each read and write that is left, and not one for each pair of them.
    assert sum(len(node.control_inputs) for node in result.nodes) < 2 * sum(bool(node.effects) for node in result.nodes)
