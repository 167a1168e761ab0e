"""What each pass does, on small texts."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import dedent
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings

from graphc.compiler.base import config, errors
from graphc.compiler.ir import (
    CONSTANT,
    Attrs,
    Graph,
    GraphBuilder,
    Literal,
    OpDef,
    TensorType,
    conflicts,
    parse_graph,
    print_graph,
    reads,
)
from graphc.compiler.ir.passes import CSE, DCE, Fold, Order, Pass, pipeline, run_passes
from tests.compiler.ir.strategies import FLOAT, NEG, TEST_OPS, ancestors, graphs
from tests.draws import examples


def transform(step: Pass, text: str) -> str:
    """The nodes of a graph after a pass, one a line."""
    graph = parse_graph(f"graph g(%x: f32[], %y: f32[]) -> (f32[]) {{{dedent(text)}}}", TEST_OPS)
    return "\n".join(line.strip() for line in print_graph(step(graph)).split("\n")[1:-1])


def lines(text: str) -> str:
    return "\n".join(line.strip() for line in text.strip().split("\n"))


def unchanged(step: Pass, text: str) -> bool:
    return transform(step, text) == lines(text)


def resized(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType]:
    return (TensorType(attrs["new_shape"], types[0].dtype),)


class Broken:
    name = "broken"
    needs: ClassVar[frozenset[str]] = frozenset()

    def __call__(self, graph: Graph) -> Graph:
        raise IndexError("tuple index out of range")


def test_a_pass_with_an_internal_error_is_skipped_and_reported_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(config, "verify", False)
    monkeypatch.setattr(pipeline, "_failed", set())
    graph = parse_graph("graph g(%x: f32[]) -> (f32[]) { %a: f32[] = neg(%x) return %x }", TEST_OPS)
    with pytest.warns(errors.GraphcWarning, match=r"pass 'broken' failed on 'g' \(IndexError: .*was skipped") as told:
        assert not run_passes(graph, [Broken(), DCE(), Broken()]).nodes
    assert len(told) == 1
    monkeypatch.setattr(config, "verify", True)
    with pytest.raises(IndexError):
        run_passes(graph, [Broken()])


class TestDCE:
    def test_removes_what_nobody_uses_reads_included(self) -> None:
        text = """
            %a: f32[] = neg(%x)
            %b: f32[] = neg(%a)
            %r: f32[] = read() {name = "u"}
            %c: f32[] = neg(%y)
            return %c
        """
        assert transform(DCE(), text) == "%c: f32[] = neg(%y)\nreturn %c"

    def test_keeps_writes_and_what_they_need(self) -> None:
        assert unchanged(DCE(), '%a: f32[] = neg(%x)\n%w: () = write(%a) {name = "u"}\nreturn %x')

    def test_keeps_a_node_whose_region_writes(self) -> None:
        text = """
            %loop: f32[] = repeat(%x) {times = 2} {
            body(%c: f32[]) -> (f32[]) {
            %w: () = write(%c) {name = "u"}
            return %c
            }
            }
            return %x
        """
        assert unchanged(DCE(), text)

    def test_descends_into_regions(self) -> None:
        text = """
            %loop: f32[] = repeat(%x) {times = 2} {
              body(%c: f32[]) -> (f32[]) {
                %dead: f32[] = neg(%c)
                return %c
              }
            }
            return %loop
        """
        assert "dead" not in transform(DCE(), text)

    def test_a_control_edge_keeps_what_leads_back_to_an_effect(self) -> None:
        text = """
            %s: f32[] = swap(%x) {name = "u"}
            %join: f32[] = neg(%s)
            %w: () = write(%x) {name = "v"} after(%join)
            return %x
        """
        assert unchanged(DCE(), text)

    def test_a_chain_of_control_edges_back_to_an_effect_stays(self) -> None:
        text = """
            %v: () = write(%x) {name = "u"}
            %join: f32[] = neg(%x) after(%v)
            %w: () = write(%x) {name = "v"} after(%join)
            return %x
        """
        assert unchanged(DCE(), text)

    def test_what_a_node_waits_for_stays_pure_nodes_too(self) -> None:
        assert unchanged(DCE(), '%a: f32[] = neg(%x)\n%w: () = write(%x) {name = "u"} after(%a)\nreturn %x')
        assert unchanged(DCE(), "%a: f32[] = neg(%x)\n%b: f32[] = neg(%y) after(%a)\nreturn %b")

    def test_what_only_dead_nodes_wait_for_goes(self) -> None:
        text = "%a: f32[] = neg(%x)\n%b: f32[] = neg(%y) after(%a)\nreturn %x"
        assert transform(DCE(), text) == "return %x"


class TestCSE:
    def test_merges_equal_nodes_and_what_follows_from_them(self) -> None:
        text = """
            %a: f32[] = neg(%x)
            %b: f32[] = neg(%x)
            %c: f32[] = neg(%a)
            %d: f32[] = neg(%b)
            %s: f32[] = add(%c, %d)
            return %s
        """
        assert transform(CSE(), text) == lines("""
            %a: f32[] = neg(%x)
            %c: f32[] = neg(%a)
            %s: f32[] = add(%c, %c)
            return %s
        """)

    @pytest.mark.parametrize(
        "second", ["add(%y, %x)", 'add(%x, %y) @"/gpu:0"', "add(%x, %y) {a = 1}", "add(%x, %y) after(%w)"]
    )
    def test_leaves_nodes_that_differ(self, second: str) -> None:
        write = '%w: () = write(%x) {name = "u"}\n'
        assert unchanged(
            CSE(), f"{write}%a: f32[] = add(%x, %y)\n%b: f32[] = {second}\n%s: f32[] = mul(%a, %b)\nreturn %s"
        )

    def test_merges_reads_between_writes_of_other_resources(self) -> None:
        text = """
            %a: f32[] = read() {name = "u"}
            %w: () = write(%x) {name = "v"}
            %b: f32[] = read() {name = "u"}
            %s: f32[] = add(%a, %b)
            return %s
        """
        assert "%s: f32[] = add(%a, %a)" in transform(CSE(), text)

    @pytest.mark.parametrize("op", ["%w: () = write(%x)", "%w: f32[] = swap(%x)"])
    def test_leaves_reads_with_a_write_between(self, op: str) -> None:
        text = f"""
            %a: f32[] = read() {{name = "u"}}
            {op} {{name = "u"}}
            %b: f32[] = read() {{name = "u"}}
            %s: f32[] = add(%a, %b)
            return %s
        """
        assert unchanged(CSE(), text)

    def test_leaves_equal_writes(self) -> None:
        write = ' = swap(%x) {name = "u"}\n'
        assert unchanged(CSE(), f"%a: f32[]{write}%b: f32[]{write}%s: f32[] = add(%a, %b)\nreturn %s")

    def test_a_control_edge_follows_the_merge(self) -> None:
        text = """
            %a: f32[] = read() {name = "u"}
            %b: f32[] = read() {name = "u"}
            %w: () = write(%x) {name = "u"} after(%a, %b)
            return %x
        """
        assert '%w: () = write(%x) {name = "u"} after(%a)\n' in transform(CSE(), text)

    def test_merges_nodes_with_equal_regions(self) -> None:
        body = "= repeat(%x) {times = 2} { body(%c: f32[]) -> (f32[]) { %n: f32[] = neg(%c) return %n } }\n"
        text = f"%a: f32[] {body} %b: f32[] {body} %s: f32[] = add(%a, %b)\nreturn %s"
        assert "add(%a, %a)" in transform(CSE(), text)

    def test_descends_into_regions(self) -> None:
        body = "%a: f32[] = neg(%c) %b: f32[] = neg(%c) %s: f32[] = add(%a, %b) return %s"
        text = f"%r: f32[] = repeat(%x) {{times = 2}} {{ body(%c: f32[]) -> (f32[]) {{ {body} }} }} return %r"
        assert "add(%a, %a)" in transform(CSE(), text)


class TestFold:
    TWO = "%two: f32[] = constant() {value = f32[](2.0)}\n"

    def test_folds_through_a_chain_and_keeps_the_weak_flag(self) -> None:
        text = """
            %c: ~f32[] = constant() {value = f32[](2.0), weak = True}
            %a: ~f32[] = add(%c, %c)
            %b: ~f32[] = mul(%a, %c)
            return %x
        """
        assert "%b: ~f32[] = constant() {value = f32[](8.0), weak = True}" in transform(Fold(), text)

    def test_leaves_what_numpy_gives_another_dtype(self) -> None:
        assert unchanged(Fold(), self.TWO + "%h: f32[] = halve(%two)\nreturn %h")

    def test_leaves_overflow_to_the_device(self) -> None:
        assert unchanged(Fold(), "%c: f32[] = constant() {value = f32[](3e+38)}\n%a: f32[] = add(%c, %c)\nreturn %a")

    def test_leaves_what_a_fold_cannot_do(self) -> None:
        assert unchanged(Fold(), self.TWO + "%a: f32[] = neg(%two) {unknown = 1}\nreturn %a")

    @pytest.mark.parametrize(("before", "after", "folds"), [(1024, 1024, True), (1025, 1, False), (1, 1025, False)])
    def test_leaves_large_arrays(self, before: int, after: int, folds: bool) -> None:
        assert self.folds(before, OpDef("resize", np.resize, resized, ("x",), fold=np.resize), after) is folds

    def test_leaves_a_node_with_effects(self) -> None:
        op = OpDef("r", np.resize, resized, ("x",), fold=np.resize, effects=lambda attrs: (reads("u"),))
        assert not self.folds(1, op, 1)

    def folds(self, before: int, op: OpDef, after: int) -> bool:
        builder = GraphBuilder()
        constant = builder.append(CONSTANT, (), Attrs(value=Literal(np.zeros(before, np.float32))))
        graph = builder.build(builder.append(op, constant.outputs, Attrs(new_shape=(after,))).outputs)
        return Fold()(graph).nodes[1].op is CONSTANT

    def test_keeps_control_inputs_name_device_and_location(self) -> None:
        text = self.TWO + (
            '%w: () = write(%x) {name = "u"}\n'
            '%a: f32[] = {op} @"/device:CPU:0" after(%w) loc("f.py":3)\n'
            '%v: () = write(%x) {name = "v"} after(%a)\n'
            "return %a"
        )
        assert transform(Fold(), text.replace("{op}", "neg(%two)")) == text.replace(
            "{op}", "constant() {value = f32[](-2.0)}"
        )

    def test_leaves_a_node_whose_constant_waits_for_something(self) -> None:
        text = """
            %w: () = write(%x) {name = "u"}
            %c: f32[] = constant() {value = f32[](2.0)} after(%w)
            %a: f32[] = neg(%c)
            %v: () = write(%x) {name = "v"} after(%a)
            return %a
        """
        assert unchanged(Fold(), text)

    def test_descends_into_regions(self) -> None:
        body = f"body(%c: f32[]) -> (f32[]) {{ {self.TWO} %a: f32[] = neg(%two) return %a }}"
        text = f"%r: f32[] = repeat(%x) {{times = 1}} {{ {body} }}\nreturn %r"
        assert "%a: f32[] = constant() {value = f32[](-2.0)}" in transform(Fold(), text)


class TestOrder:
    def test_adds_the_edges_that_effects_need_and_no_more(self) -> None:
        text = """
            %a: f32[] = read() {name = "u"}
            %b: f32[] = read() {name = "u"}
            %w: () = write(%a) {name = "u"}
            %c: f32[] = read() {name = "u"}
            %o: () = write(%x) {name = "v"}
            %v: () = write(%x) {name = "u"}
            return %c
        """
        result = transform(Order(), text)
        assert '%w: () = write(%a) {name = "u"} after(%b)\n' in result  # data implies the edge from %a
        assert '%c: f32[] = read() {name = "u"} after(%w)\n' in result
        assert '%o: () = write(%x) {name = "v"}\n' in result  # nobody else touches v
        assert '%v: () = write(%x) {name = "u"} after(%c)\n' in result  # through %c after %w too

    def test_an_edge_that_was_added_makes_others_spare(self) -> None:
        text = """
            %p: f32[] = touch() {reads = ("v",), writes = ("u",)}
            %q: f32[] = touch() {reads = (), writes = ("v",)}
            %r: f32[] = touch() {reads = ("u", "v"), writes = ()}
            return %x
        """
        result = transform(Order(), text)
        assert 'writes = ("v",)} after(%p)\n' in result
        assert "writes = ()} after(%q)\n" in result

    def test_sees_the_effects_of_regions_and_orders_inside_them(self) -> None:
        text = """
            %a: f32[] = read() {name = "u"}
            %r: f32[] = repeat(%x) {times = 2} {
              body(%c: f32[]) -> (f32[]) {
                %v: () = write(%c) {name = "u"}
                %w: () = write(%c) {name = "u"}
                return %c
              }
            }
            return %a
        """
        result = transform(Order(), text)
        assert "{times = 2} after(%a) {" in result
        assert '%w: () = write(%c) {name = "u"} after(%v)' in result

    @given(graphs())
    @settings(max_examples=examples(60))
    def test_conflicting_nodes_have_a_path_and_no_added_edge_is_spare(self, graph: Graph) -> None:
        result = Order()(graph)
        assert [node.name for node in result.nodes] == [node.name for node in graph.nodes]
        before = ancestors(result)
        for index, node in enumerate(result.nodes):
            for earlier in result.nodes[:index]:
                assert not conflicts(earlier.effects, node.effects) or earlier in before[node]
            for control in node.control_inputs[len(graph.nodes[index].control_inputs) :]:
                others = [value.node for value in node.inputs if value.node is not None]
                others += [other for other in node.control_inputs if other is not control]
                assert not any(other is control or control in before[other] for other in others)


class TestPipeline:
    class Breaks:
        name = "breaks"
        needs: ClassVar[frozenset[str]] = frozenset()

        def __call__(self, graph: Graph) -> Graph:
            return Graph(graph.inputs, [], graph.outputs, graph.name)

    def graph(self) -> Graph:
        builder = GraphBuilder("net")
        return builder.build(builder.append(NEG, [builder.input(FLOAT, "x")]).outputs)

    def test_names_the_pass_that_breaks_a_graph(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(config, "verify", True)
        with pytest.raises(errors.VerificationError, match="the pass 'breaks' broke the graph: the graph 'net'"):
            run_passes(self.graph(), [DCE(), self.Breaks()])

    def test_checks_the_graph_it_is_given(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(config, "verify", True)
        with pytest.raises(errors.VerificationError, match=r"^the graph 'net' is not valid"):
            run_passes(self.Breaks()(self.graph()), [])

    def test_checks_only_when_asked_to(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(config, "verify", False)
        assert run_passes(self.graph(), [self.Breaks()]).nodes == ()

    def test_a_graph_with_nothing_to_do_comes_back_itself(self) -> None:
        graph = self.graph()
        assert run_passes(graph) is graph
