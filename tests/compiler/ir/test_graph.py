"""Graphs, nodes, the builder, op rows, effects and the rewriter."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from graphc.compiler.base import Location
from graphc.compiler.ir import (
    Attrs,
    Effect,
    EffectKind,
    Graph,
    GraphBuilder,
    Node,
    OpDef,
    Rewriter,
    conflicts,
    parse_graph,
    reads,
    writes,
)
from tests.compiler.ir.strategies import ADD, EITHER, FLOAT, NEG, READ, REPEAT, SWAP, TEST_OPS, WRITE, graphs
from tests.draws import examples


def read(nodes: str) -> Graph:
    return parse_graph(f"graph g(%x: f32[], %y: f32[]) -> (f32[]) {{ {nodes} return %x }}", TEST_OPS)


class TestEquality:
    def test_names_and_locations_do_not_count(self) -> None:
        assert read("%a: f32[] = neg(%x)") == read('%b: f32[] = neg(%x) loc("f.py":3)')

    @pytest.mark.parametrize("node", ["neg(%y)", 'neg(%x) @"cpu"', "neg(%x) {a = 1}", "halve(%x)", "neg(%x) after(%w)"])
    def test_all_else_does(self, node: str) -> None:
        write = '%w: () = write(%x) {name = "u"} '
        assert read(f"{write} %a: f32[] = neg(%x)") != read(f"{write} %a: f32[] = {node}")

    def test_types_of_inputs_and_choice_of_outputs_count(self) -> None:
        one = parse_graph("graph g(%x: f32[], %y: f32[]) -> (f32[]) { return %x }")
        assert one != parse_graph("graph g(%x: f32[], %y: f32[]) -> (f32[]) { return %y }")
        assert one != parse_graph("graph g(%x: f32[], %y: f32[1]) -> (f32[]) { return %x }")
        assert one != "graph"

    def test_control_inputs_are_a_set(self) -> None:
        two = '%a: f32[] = neg(%x) %b: f32[] = neg(%y) %w: () = write(%x) {name = "u"} '
        assert read(f"{two} after(%a, %b)") == read(f"{two} after(%b, %a)")

    @given(graphs())
    @settings(max_examples=examples(20))
    def test_equal_graphs_have_equal_hashes(self, graph: Graph) -> None:
        copy = parse_graph(str(graph), TEST_OPS)
        assert graph == copy
        assert hash(graph) == hash(copy)


class TestGraph:
    def test_is_frozen_and_so_are_its_nodes(self) -> None:
        graph = read("%a: f32[] = neg(%x)")
        with pytest.raises(AttributeError, match="a Graph is frozen: cannot set 'name'; build a new graph"):
            graph.name = "other"
        with pytest.raises(AttributeError, match="a Node is frozen: cannot set 'name'; build a new node"):
            graph.nodes[0].name = "other"
        with pytest.raises(AttributeError, match="a Node is frozen: cannot delete 'name'"):
            del graph.nodes[0].name

    def test_users_names_each_node_once(self) -> None:
        graph = read("%a: f32[] = add(%x, %x) %b: f32[] = neg(%x) %c: f32[] = neg(%a)")
        a, b, c = graph.nodes
        assert graph.users() == {graph.inputs[0]: [a, b], a.outputs[0]: [c]}

    def test_walk_and_effects_see_regions(self) -> None:
        body = 'body(%c: f32[]) -> (f32[]) { %i: f32[] = swap(%c) {name = "u"} return %i }'
        graph = read(f"%r: f32[] = repeat(%x) {{times = 1}} {{ {body} }} " + '%v: f32[] = read() {name = "v"}')
        assert [node.name for node in graph.walk()] == ["r", "i", "v"]
        assert graph.effects == (reads("u"), writes("u"), reads("v"))
        assert graph.nodes[0].effects == (reads("u"), writes("u"))

    def test_representations_are_short(self) -> None:
        graph = read('%a: f32[] = neg(%x) loc("f/g.py":3)')
        assert repr(graph) == "<Graph g: 2 inputs, 1 nodes -> f32[]>"
        assert repr(graph.nodes[0]) == "<Node a: neg -> f32[] at g.py:3>"
        assert repr(graph.nodes[0].outputs[0]) == "<Value f32[] output 0 of a>"
        assert repr(graph.inputs[0]) == "<Value f32[] input 'x'>"
        assert repr(NEG) == "OpDef(neg)"


class TestBuilder:
    def test_infers_types_and_makes_names_unique(self) -> None:
        builder = GraphBuilder("net")
        x = builder.input(FLOAT, "x")
        first, second = builder.append(NEG, [x]), builder.append(NEG, [x], location=Location("f.py", 1))
        third = builder.append(ADD, [first.outputs[0], x], name="neg", device="/cpu:0", control_inputs=[second])
        assert [node.name for node in (first, second, third)] == ["neg", "neg_1", "neg_2"]
        assert third.outputs[0].type == FLOAT
        graph = builder.build(third.outputs)
        assert (graph.name, graph.inputs, graph.nodes) == ("net", (x,), (first, second, third))
        assert (third.device, third.control_inputs) == ("/cpu:0", (second,))

    def test_types_that_are_given_are_not_inferred(self) -> None:
        def infer(*_: object) -> tuple[()]:
            raise TypeError("not asked")

        node = GraphBuilder().append(OpDef("op", impl=abs, infer=infer), (), types=[FLOAT])
        assert node.outputs[0].type == FLOAT


class TestRegionNames:
    @pytest.mark.parametrize(
        ("regions", "count", "labels", "keywords"),
        [
            (("body",), 1, ("body",), {"body": 0}),
            (("then", "otherwise"), 2, ("then", "otherwise"), {"then": 0, "otherwise": 1}),
            (("*branches",), 3, ("branches",) * 3, {"branches": (0, 1, 2)}),
            (("*branches",), 0, (), {"branches": ()}),
            (("first", "*rest"), 3, ("first", "rest", "rest"), {"first": 0, "rest": (1, 2)}),
            (("first", "*rest"), 1, ("first",), {"first": 0, "rest": ()}),
            ((), 1, ("",), {}),
        ],
    )
    def test_a_starred_name_takes_the_rest(
        self, regions: tuple[str, ...], count: int, labels: tuple[str, ...], keywords: dict[str, object]
    ) -> None:
        op = OpDef("op", impl=abs, infer=lambda types, attrs, bodies: (), regions=regions)
        assert tuple(op.region_label(index) for index in range(count)) == labels
        assert op.region_keywords(list(range(count))) == keywords


class TestEffects:
    @pytest.mark.parametrize(
        ("first", "second", "conflict"),
        [
            ([reads("u")], [reads("u")], False),
            ([reads("u")], [writes("u")], True),
            ([writes("u")], [reads("u")], True),
            ([writes("u")], [writes("u")], True),
            ([writes("u")], [writes("v"), reads("v")], False),
            ([writes("u"), reads("u")], [reads("u")], True),
            ([reads("u"), reads("v")], [reads("u"), writes("v")], True),
            ([], [writes("u")], False),
        ],
    )
    def test_two_touches_conflict_when_one_writes(
        self, first: list[Effect], second: list[Effect], conflict: bool
    ) -> None:
        assert conflicts(first, second) is conflict
        assert conflicts(second, first) is conflict

    def test_print(self) -> None:
        assert str(reads("w")) == "read(w)"
        assert writes("w") == Effect(EffectKind.WRITE, "w")

    def test_come_from_attributes(self) -> None:
        assert Node(SWAP, [], Attrs(name="u"), []).effects == (reads("u"), writes("u"))
        assert Node(READ, [], Attrs(name="v"), []).effects == (reads("v"),)
        assert Node(WRITE, [], Attrs(name="v"), []).effects == (writes("v"),)
        assert {REPEAT.effects(Attrs()), EITHER.effects(Attrs())} == {()}


class TestRewriter:
    def test_what_did_not_change_is_shared(self) -> None:
        graph = read("%a: f32[] = neg(%x) %b: f32[] = neg(%y) %c: f32[] = add(%a, %a)")
        rewriter = Rewriter(graph)
        a, b, c = graph.nodes
        rewriter.keep(a)
        new = rewriter.replace(b, NEG, a.outputs, Attrs())
        rewriter.keep(c)
        result = rewriter.finish()
        assert result.nodes == (a, new, c)
        assert (new.name, new.location) == (b.name, b.location)

    def test_users_and_control_edges_follow_a_replacement(self) -> None:
        graph = read('%a: f32[] = neg(%x) %b: f32[] = neg(%a) %w: () = write(%y) {name = "u"} after(%a, %b)')
        a, b, w = graph.nodes
        rewriter = Rewriter(graph)
        new = rewriter.replace(a, NEG, [graph.inputs[1]], Attrs())
        rewriter.merge(b, new)
        kept = rewriter.keep(w)
        assert rewriter.current(b) is new
        assert kept.control_inputs == (new,)
        assert rewriter.inputs(b) == new.outputs
        assert rewriter.finish().nodes == (new, kept)

    def test_nothing_changed_gives_the_same_graph(self) -> None:
        graph = read("%a: f32[] = neg(%x)")
        rewriter = Rewriter(graph)
        rewriter.keep(graph.nodes[0])
        assert rewriter.finish() is graph
