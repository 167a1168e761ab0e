"""What the passes over loops do, on small texts."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import dedent

import numpy as np
import pytest

from graphc.compiler.ir import Attrs, Graph, GraphBuilder, OpDef, parse_graph, print_graph, verify
from graphc.compiler.ir.passes import CSE, Hoist, Loops, Sink
from tests.compiler.ir.strategies import ADD, FLOAT, INT, SCAN, TEST_OPS, calls

HEAD = "graph g(%x: f32[], %y: f32[], %v: f32[3], %n0: i32[]) -> "


PRINT = OpDef("print", np.negative, lambda types, attrs, regions: tuple(types), ("x",), opaque=True)


def transform(step: Callable[[Graph], Graph], text: str, types: str = "(f32[])") -> str:
    """The lines of a graph after a pass, without the first and the last."""
    graph = parse_graph(f"{HEAD}{types} {{{dedent(text)}}}", {**TEST_OPS, "print": PRINT})
    verify(graph)
    result = step(graph)
    verify(result)
    return "\n".join(line.strip() for line in print_graph(result).split("\n")[1:-1])


def lines(text: str) -> str:
    trips = "length = 3, start = 0, step = 1, reverse = False, num_carry = 1, num_xs = 0, num_ys = 0"
    return "\n".join(line.strip() for line in text.strip().split("\n")).replace("TRIPS", trips)


def scan(operands: str, entries: str, body: str, types: str = "f32[]", **attrs: object) -> str:
    """A scan that carries its first operand alone, unless the attributes say more."""
    trips = {"length": 3, "start": 0, "step": 1, "reverse": False, "num_carry": 1, "num_xs": 0, "num_ys": 0}
    written = ", ".join(f"{name} = {value}" for name, value in {**trips, **attrs}.items())
    result = types if types.count("[") == 1 else f"({types})"
    return f"""
        %s: {result} = scan({operands}) {{{written}}} {{
          body(%i: i32[], {entries}) -> ({types}) {{
            {body}
          }}
        }}
    """


class TestSink:
    def test_a_loop_of_which_only_the_last_iteration_counts_is_that_iteration(self) -> None:
        text = scan("%x, %y", "%c: f32[], %k: f32[]", '%h: f32[] = halve(%k) loc("train.py":3)\n return %h')
        expected = '%h: f32[] = halve(%y) loc("train.py":3)\n return %h'
        assert transform(Sink(TEST_OPS), text + "return %s") == lines(expected)

    @pytest.mark.parametrize(
        ("attrs", "index", "row"),
        [({}, 2, 2), ({"reverse": True}, 0, 0), ({"start": 5, "step": -2}, 1, 2)],
        ids=["forward", "backward", "other indices"],
    )
    def test_the_last_iteration_has_the_last_index_and_row(
        self, attrs: dict[str, object], index: int, row: int
    ) -> None:
        text = scan("%x, %v", "%c: f32[], %r: f32[]", "%h: f32[] = halve(%r)\n return %h", num_xs=1, **attrs)
        expected = f"%get_item: f32[] = get_item(%v) {{index = ({row},)}}\n %h: f32[] = halve(%get_item)\n return %h"
        assert transform(Sink(TEST_OPS), text + "return %s") == lines(expected)
        text = "%n: i32[] = constant() {value = i32[](7)}" + scan("%n", "%c: i32[]", "return %i", "i32[]", **attrs)
        expected = f"%constant: i32[] = constant() {{value = i32[]({index})}}\n return %constant"
        assert transform(Loops(TEST_OPS), text + "return %s", "(i32[])") == lines(expected)

    def test_a_loop_without_iterations_stays(self) -> None:
        text = scan("%x, %y", "%c: f32[], %k: f32[]", "return %k", length=0)
        assert "scan" in transform(Loops(TEST_OPS), text + "return %s")

    def test_what_nobody_reads_is_not_carried_and_what_no_iteration_changes_is_an_operand(self) -> None:
        body = "%a: f32[] = add(%p, %p)\n %b: f32[] = add(%q, %u)\n return %a, %b, %u"
        text = scan("%x, %y, %x", "%p: f32[], %q: f32[], %u: f32[]", body, "f32[], f32[], f32[]", num_carry=3)
        found = transform(Sink(TEST_OPS), text + "%z: f32[] = add(%s#1, %s#2)\n return %z")
        expected = """
            %s: f32[] = scan(%y, %x) {TRIPS} {
            body(%i: i32[], %q: f32[], %u: f32[]) -> (f32[]) {
            %b: f32[] = add(%q, %u)
            return %b
            }
            }
            %z: f32[] = add(%s, %x)
            return %z
        """
        assert found == lines(expected)

    def test_variables_that_a_body_assigns_keep_their_place(self) -> None:
        # The last carried value is cut off from gradients in each iteration, and so it is not the operand.
        body = "%a: f32[] = add(%p, %u)\n return %a, %u"
        text = scan("%x, %y", "%p: f32[], %u: f32[]", body, "f32[], f32[]", num_carry=2, assigned='("u",)')
        assert "num_carry = 2" in transform(Sink(TEST_OPS), text + "return %s#0")
        body = "%a: f32[] = add(%p, %p)\n %h: f32[] = halve(%k)\n return %a, %h"
        entries = "%p: f32[], %u: f32[], %k: f32[]"
        text = scan("%x, %y, %y", entries, body, "f32[], f32[]", num_carry=2, assigned='("u",)')
        found = transform(Sink(TEST_OPS), text + "%z: f32[] = add(%s#0, %s#1)\n return %z")
        assert "num_carry = 1" in found
        assert "assigned" not in found
        assert found.endswith("%h: f32[] = halve(%y)\n%z: f32[] = add(%s, %h)\nreturn %z")

    def test_effects_happen_as_often_as_before(self) -> None:
        body = '%l: f32[] = neg(%k)\n %w: () = write(%l) {name = "u"}\n return %l'
        text = scan("%x, %y", "%c: f32[], %k: f32[]", body)
        found = transform(Sink(TEST_OPS), text + "return %s")
        assert "num_carry = 0" in found
        assert found.count("write") == 1
        assert found.endswith("}\n}\n%l: f32[] = neg(%y)\nreturn %l")

    def test_what_is_heavy_and_needed_in_each_iteration_is_not_computed_once_more(self) -> None:
        body = '%h: f32[] = halve(%k)\n %w: () = write(%h) {name = "u"}\n return %h'
        assert "num_carry = 1" in transform(Sink(TEST_OPS), scan("%x, %y", "%c: f32[], %k: f32[]", body) + "return %s")

    def test_rows_that_nobody_collects_or_takes_go(self) -> None:
        body = "%a: f32[] = add(%c, %c)\n return %a, %r"
        text = scan("%x, %v", "%c: f32[], %r: f32[]", body, "f32[], f32[3]", num_xs=1, num_ys=1)
        text = text.replace("-> (f32[], f32[3])", "-> (f32[], f32[])")
        assert "scan(%x) {" in transform(Sink(TEST_OPS), text + "return %s#0")
        assert "scan(%v) {" in transform(Sink(TEST_OPS), text + "return %s#1", "(f32[3])")

    def test_a_loop_that_the_user_ordered_stays_one_node(self) -> None:
        text = scan("%x, %y", "%c: f32[], %k: f32[]", "return %k").replace("} {", "} after(%a) {", 1)
        text = "%a: f32[] = neg(%y)" + text + "%z: f32[] = neg(%y) after(%s)\n return %z"
        expected = """
            %a: f32[] = neg(%y)
            %s: f32[] = call(%x, %y) after(%a) {
            body(%x: f32[], %y: f32[]) -> (f32[]) {
            return %y
            }
            }
            %z: f32[] = neg(%y) after(%s)
            return %z
        """
        assert transform(Sink(TEST_OPS), text) == lines(expected)


WHILE = """
    %n: i32[] = START
    %m: i32[] = constant() {value = i32[](2)}
    %s: (i32[], f32[]) = while(%n, %x, %y, %m) {num_carry = 2} {
      test(%n: i32[], %c: f32[], %k: f32[], %m: i32[]) -> (bool[]) {
        %l: bool[] = less(%n, %m)
        return %l
      }
      body(%n: i32[], %c: f32[], %k: f32[], %m: i32[]) -> (i32[], f32[]) {
        %a: i32[] = add(%n, %m)
        %h: f32[] = halve(%k)
        return %a, %h
      }
    }
"""


class TestWhile:
    def test_its_last_iteration_stands_in_a_branch(self) -> None:
        found = transform(Loops(TEST_OPS), WHILE.replace("START", "add(%n0, %n0)") + "return %s#1")
        expected = """
            %n: i32[] = add(%n0, %n0)
            %m: i32[] = constant() {value = i32[](2)}
            %l: bool[] = less(%n, %m)
            %cond: f32[] = cond(%l, %x, %y) {
            true: "an iteration"(%c: f32[], %k: f32[]) -> (f32[]) {
            %h: f32[] = halve(%k)
            return %h
            }
            false: "no iteration"(%c: f32[], %k: f32[]) -> (f32[]) {
            return %c
            }
            }
            return %cond
        """
        assert found == lines(expected)

    def test_there_is_no_branch_where_constants_tell_that_it_runs(self) -> None:
        found = transform(Loops(TEST_OPS), WHILE.replace("START", "constant() {value = i32[](1)}") + "return %s#1")
        assert found == "%h: f32[] = halve(%y)\nreturn %h"

    def test_what_is_alike_goes_before_it_where_it_is_known_to_run(self) -> None:
        adding = WHILE.replace("return %a, %h", "%d: f32[] = add(%c, %h)\n return %a, %d")
        found = transform(Hoist(TEST_OPS), adding.replace("START", "constant() {value = i32[](1)}") + "return %s#1")
        assert "%h: f32[] = halve(%y)\n%s: (i32[], f32[]) = while(%n, %x, %y, %m, %h)" in found
        found = transform(Hoist(TEST_OPS), adding.replace("START", "constant() {value = i32[](2)}") + "return %s#1")
        assert "while(%n, %x, %y, %m)" in found


class TestHoist:
    def test_what_each_iteration_computes_alike_goes_before_the_loop_with_what_it_needs(self) -> None:
        body = "%l: f32[] = neg(%k)\n %h: f32[] = halve(%l)\n %b: f32[] = add(%c, %h)\n"
        body += "%d: f32[] = add(%b, %l)\n return %d"
        found = transform(Hoist(TEST_OPS), scan("%x, %y", "%c: f32[], %k: f32[]", body) + "return %s")
        expected = """
            %l: f32[] = neg(%y)
            %h: f32[] = halve(%l)
            %s: f32[] = scan(%x, %y, %h) {TRIPS} {
            body(%i: i32[], %c: f32[], %k: f32[], %arg3: f32[]) -> (f32[]) {
            %l: f32[] = neg(%k)
            %b: f32[] = add(%c, %arg3)
            %d: f32[] = add(%b, %l)
            return %d
            }
            }
            return %s
        """
        assert found == lines(expected)

    @pytest.mark.parametrize(
        "inside",
        [
            "%h: f32[] = neg(%k)",
            "%h: f32[] = halve(%c)",
            '%h: f32[] = swap(%k) {name = "u"}',
            "%n: f32[] = neg(%c)\n %h: f32[] = halve(%k) after(%n)",
            "%h: f32[] = halve(%k)\n %n: f32[] = neg(%c) after(%h)",
            "%h: f32[] = print(%k)",
        ],
        ids=["light", "of what is carried", "an effect", "waits", "is awaited", "opaque"],
    )
    def test_other_nodes_stay(self, inside: str) -> None:
        text = scan("%x, %y", "%c: f32[], %k: f32[]", f"{inside}\n %b: f32[] = add(%c, %h)\n return %b") + "return %s"
        assert transform(Hoist(TEST_OPS), text) == transform(lambda graph: graph, text)

    def test_out_of_a_nest_it_goes_all_the_way(self) -> None:
        inner = scan("%c, %k", "%c: f32[], %k: f32[]", "%h: f32[] = halve(%k)\n %b: f32[] = add(%c, %h)\n return %b")
        found = transform(Loops(TEST_OPS), scan("%x, %y", "%c: f32[], %k: f32[]", inner + "return %s") + "return %s")
        assert found.startswith("%h: f32[] = halve(%y)\n%s: f32[] = scan(%x, %h)")
        assert found.count("halve") == 1


def loops(count: int) -> Graph:
    """Loops one after the other; each passes on what it takes, and carries besides what only the next one carries."""
    body = GraphBuilder("body")
    _, a, b = (body.input(type) for type in (INT, FLOAT, FLOAT))
    region = body.build([*body.append(ADD, [a, a]).outputs, *body.append(ADD, [b, a]).outputs])
    builder = GraphBuilder()
    values = [builder.input(FLOAT), builder.input(FLOAT)]
    for _ in range(count):
        attrs = Attrs(length=3, start=0, step=1, reverse=False, num_carry=2, num_xs=0, num_ys=0)
        values = list(builder.append(SCAN, values, attrs, regions=[region]).outputs)
    return builder.build(values[:1])


def test_a_chain_of_loops_takes_one_round() -> None:
    result = Sink(TEST_OPS)(loops(40))
    assert {node.attrs["num_carry"] for node in result.nodes} == {1}
    assert CSE()(Sink(TEST_OPS)(result)) is result
    small, large = loops(40), loops(160)
    assert calls(lambda: Loops(TEST_OPS)(large)) <= 4.4 * calls(lambda: Loops(TEST_OPS)(small))
