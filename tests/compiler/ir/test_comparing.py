"""Differences of graphs: names and the order of independent nodes are none."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.ir import Graph, Node, Value, aligned, difference, parse_graph
from graphc.compiler.ir.passes import CSE, DCE
from tests.compiler.ir.strategies import graphs
from tests.draws import examples

TEXT = """
graph f(%x: f32[2]) -> (f32[2]) {
  %one: f32[] = constant() {value = f32[](1.0)}
  %two: f32[] = constant() {value = f32[](2.0)}
  %a: f32[2] = add(%x, %one)
  %b: f32[2] = multiply(%a, %two)
  %c: f32[2] = sin(%b)
  return %c
}
"""


def disguised(graph: Graph, seed: int) -> Graph:
    """The same graph with other names, and in another order that its edges and effects allow."""
    dice = random.Random(seed)
    inputs = [Value(value.type, None, value.index, f"in{value.index}") for value in graph.inputs]
    values = dict(zip(graph.inputs, inputs, strict=True))
    made: dict[Node, Node] = {}
    waiting = list(graph.nodes)
    while waiting:
        ready = [
            node
            for node in waiting
            if all(value in values for value in node.inputs) and all(other in made for other in node.control_inputs)
        ]
        acting = [node for node in waiting if node.effects]
        node = dice.choice([node for node in ready if not node.effects or node is acting[0]])
        waiting.remove(node)
        made[node] = Node(
            node.op,
            [values[value] for value in node.inputs],
            node.attrs,
            [value.type for value in node.outputs],
            regions=[disguised(region, seed) for region in node.regions],
            control_inputs=[made[other] for other in node.control_inputs],
            device=node.device,
            name=f"node{len(made)}",
        )
        values.update(zip(node.outputs, made[node].outputs, strict=True))
    return Graph(inputs, list(made.values()), [values[value] for value in graph.outputs], "other")


@given(graphs(), st.integers(0, 100))
@settings(deadline=None, max_examples=examples(40))
def test_names_and_order_are_no_difference(graph: Graph, seed: int) -> None:
    assert difference(graph, disguised(graph, seed)) == ""


@given(graphs())
@settings(deadline=None, max_examples=examples(40))
def test_what_is_aligned_is_the_same_graph(graph: Graph) -> None:
    changed = CSE()(DCE()(graph))
    again = aligned(graph, changed)
    assert difference(changed, again) == ""
    assert bool(difference(graph, changed)) == (len(list(graph.walk())) != len(list(changed.walk())))


def test_a_changed_value_is_one_line_and_what_follows_is_none() -> None:
    graph = parse_graph(TEXT)
    other = parse_graph(TEXT.replace("f32[](1.0)", "f32[](3.0)").replace("%b", "%renamed"))
    assert difference(graph, other, context=0).splitlines() == [
        "@@ -2 +2 @@",
        "-  %one: f32[] = constant() {value = f32[](1.0)}",
        "+  %one: f32[] = constant() {value = f32[](3.0)}",
    ]


def test_a_node_that_is_gone_a_new_one_and_other_operands_are_told() -> None:
    graph = parse_graph(TEXT)
    gone = parse_graph(TEXT.replace("  %c: f32[2] = sin(%b)\n", "").replace("return %c", "return %b"))
    lines = difference(graph, gone, context=0).splitlines()
    assert [line for line in lines if line[0] in "+-"] == ["-  %c: f32[2] = sin(%b)", "-  return %c", "+  return %b"]
    assert "+  %c: f32[2] = sin(%b)" in difference(gone, graph)
    swapped = parse_graph(TEXT.replace("add(%x, %one)", "add(%x, %two)"))
    assert "+  %a: f32[2] = add(%x, %two)" in difference(graph, swapped)


LOOPS = """
graph f() -> (i32[]) {
  %zero: i32[] = constant() {value = i32[](0)}
  %first: i32[] = while(%zero, %zero) {num_carry = 1} {
    test(%i: i32[], %n: i32[]) -> (bool[]) {
      %less: bool[] = less(%i, %n)
      return %less
    }
    body: graph(%i: i32[], %n: i32[]) -> (i32[]) {
      %one: i32[] = constant() {value = i32[](1)}
      %minus: i32[] = negative(%i)
      %more: i32[] = add(%i, %one)
      return %more
    }
  }
  return %first
}
"""


ONE, MINUS = "%one: i32[] = constant() {value = i32[](1)}", "%minus: i32[] = negative(%i)"


def turned(text: str) -> str:
    """The text with two nodes of the loop's body in the other order."""
    return text.replace(ONE, "#").replace(MINUS, ONE).replace("#", MINUS).replace("%more", "%next")


def test_loops_are_matched_by_what_their_bodies_compute_in_whatever_order() -> None:
    first = LOOPS[LOOPS.index("  %first") : LOOPS.index("  return %first")]
    second = first.replace("%first", "%second").replace("add(%i", "multiply(%i")
    ends = "  %sum: i32[] = add(%first, %second)\n  return %sum"
    both = LOOPS.replace("  return %first", second + ends)
    swapped = LOOPS.replace(first, turned(second) + turned(first)).replace("  return %first", ends)
    assert difference(parse_graph(both), parse_graph(swapped)) == ""
    assert "multiply" in difference(parse_graph(both), parse_graph(both.replace("add(%i", "multiply(%i")))
