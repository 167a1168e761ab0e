"""The printer and the parser: what one writes, the other reads."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.base import Location, errors
from graphc.compiler.ir import (
    Attrs,
    Graph,
    GraphBuilder,
    Literal,
    Node,
    parse_graph,
    print_graph,
    print_node,
    print_value,
)
from tests.compiler.ir.strategies import (
    ADD,
    FLOAT,
    NEG,
    PAIR,
    READ,
    REPEAT,
    TEST_OPS,
    VECTOR,
    WRITE,
    attribute_values,
    graphs,
)
from tests.draws import examples

GOLDEN = """\
graph step(%x: f32[3], %neg_1: f32[3]) -> (f32[3], f32[3]) {
  %read: f32[] = read() {name = "w"} @"/device:CPU:0" loc("train.py":12)
  %neg: f32[3] = neg(%x) loc(:13 in "step")
  %"a pair": (f32[3], f32[3]) = pair(%neg)
  %write: () = write(%read) {name = "w"} after(%neg, %"a pair")
  %repeat: f32[3] = repeat(%"a pair"#1) {times = 2} {
    body(%x: f32[3]) -> (f32[3]) {
      %add: f32[3] = add(%x, %x)
      return %add
    }
  }
  return %repeat, %neg_1
}"""


def golden_graph() -> Graph:
    body = GraphBuilder("body")
    x = body.input(VECTOR, "x")
    region = body.build(body.append(ADD, [x, x]).outputs)
    builder = GraphBuilder("step")
    x = builder.input(VECTOR, "x")
    y = builder.input(VECTOR, "neg")
    name = Attrs(name="w")
    read = builder.append(READ, (), name, device="/device:CPU:0", location=Location("train.py", 12))
    neg = builder.append(NEG, [x], location=Location("train.py", 13, "step"))
    pair = builder.append(PAIR, neg.outputs, name="a pair")
    builder.append(WRITE, read.outputs, name, control_inputs=[neg, pair])
    repeat = builder.append(REPEAT, [pair.outputs[1]], Attrs(times=2), regions=[region])
    return builder.build([repeat.outputs[0], y])


def test_prints_every_part_of_a_node() -> None:
    assert print_graph(golden_graph()) == GOLDEN


def test_leaves_locations_out_on_request() -> None:
    text = print_graph(golden_graph(), locations=False)
    assert "loc(" not in text
    assert parse_graph(text, TEST_OPS) == golden_graph()


def test_a_region_with_a_name_of_its_own_keeps_it() -> None:
    text = GOLDEN.replace("body(", "body: loop(")
    graph = parse_graph(text, TEST_OPS)
    assert graph.nodes[-1].regions[0].name == "loop"
    assert print_graph(graph) == text


def test_a_location_names_its_file_if_the_one_before_has_another() -> None:
    places = ['"a.py":1', '"b.py":2', ':3 in "f"']
    lines = [f"  %n{i}: f32[3] = neg(%{f'n{i - 1}' if i else 'x'}) loc({place})" for i, place in enumerate(places)]
    text = "\n".join([HEAD.rstrip(), *lines, "  return %n2", "}"])
    graph = parse_graph(text, TEST_OPS)
    files = [node.location.file for node in graph.nodes if node.location is not None]
    assert files == ["a.py", "b.py", "b.py"]
    assert print_graph(graph) == text


def test_prints_a_single_node_without_its_graph() -> None:
    graph = golden_graph()
    assert print_node(graph.nodes[1]) == '%neg: f32[3] = neg(%x) loc("train.py":13 in "step")'


def test_bits_that_a_list_cannot_hold_are_packed() -> None:
    quiet, other = Literal(np.float32(np.nan)), Literal(np.uint32(0x7FC00001).view(np.float32))
    assert print_value(quiet) == "f32[](nan)"
    assert print_value(other).startswith('f32[](zlib "')
    graph = Graph((), [Node(READ, (), Attrs(a=quiet, b=other), [FLOAT])], ())
    assert parse_graph(print_graph(graph), TEST_OPS).nodes[0].attrs == graph.nodes[0].attrs


def test_a_large_literal_is_packed() -> None:
    text = print_value(Literal(np.zeros(1000, np.float32)))
    assert text.startswith('f32[1000](zlib "')
    assert len(text) < 100


@given(graphs())
@settings(max_examples=examples(60))
def test_parsing_gives_the_graph_back(graph: Graph) -> None:
    text = print_graph(graph)
    parsed = parse_graph(text, TEST_OPS)
    assert parsed == graph
    assert print_graph(parsed) == text
    assert [(node.name, node.location) for node in parsed.walk()] == [
        (node.name, node.location) for node in graph.walk()
    ]


@given(attribute_values, st.text())
@settings(max_examples=examples(120))
def test_every_attribute_value_comes_back(value: object, name: str) -> None:
    graph = Graph((), [Node(READ, (), Attrs({name: value}), [FLOAT])], ())
    text = print_graph(graph)
    assert len(text.split("\n")) == 4
    assert parse_graph(text, TEST_OPS).nodes[0].attrs == graph.nodes[0].attrs


@given(st.data())
@settings(max_examples=examples(100))
def test_damaged_text_is_refused_or_read_but_never_crashes(data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(GOLDEN)))
    length = data.draw(st.integers(0, 8))
    text = GOLDEN[:start] + data.draw(st.text(' "%#(){}[]=,:~<>-1.eaf', max_size=3)) + GOLDEN[start + length :]
    try:
        graph = parse_graph(text, TEST_OPS)
    except errors.ParseError:
        return
    assert parse_graph(print_graph(graph), TEST_OPS) == graph


def test_a_python_object_prints_but_does_not_parse() -> None:
    graph = Graph((), [Node(READ, (), Attrs(fn=golden_graph), [FLOAT])], ())
    text = print_graph(graph)
    assert "{fn = <golden_graph>}" in text
    with pytest.raises(errors.ParseError, match="found a Python object, which a printed graph cannot hold"):
        parse_graph(text, TEST_OPS)


HEAD = "graph g(%x: f32[3]) -> (f32[3]) {\n  "


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1, column 1: expected 'graph', found the end of the text"),
        ("graph g(x", "line 1, column 9: expected '%', found 'x'"),
        ("graph g(%x: f33[3])", "line 1, column 13: expected a dtype such as f32, i32 or bool, found 'f33'"),
        ("graph g(%x: finfo[3])", "expected a dtype such as f32, i32 or bool, found 'finfo'"),
        ("graph g(%x: f32[-3])", "expected a nonnegative size, found '-3'"),
        ("graph g(%x: f32[], %x: f32[])", "line 1, column 21: expected a name that is not taken, found 'x'"),
        (HEAD + "%y: f32[3] = sin(%x)", "line 2, column 16: expected the name of one of the 25 ops, found 'sin'"),
        (HEAD + "%y: f32[3] = neg(%z)", "line 2, column 21: expected the name of an input or of a node above"),
        (HEAD + "%y: f32[3] = neg(%x) after(%x)", "line 2, column 31: expected the name of a node above, found 'x'"),
        (HEAD + "%y: (f32[3], f32[3]) = pair(%x) return %y }", "expected '#' and which of the 2 outputs of %y"),
        (HEAD + "%y: f32[3] = neg(%x) return %y#1 }", "expected an output of %y, which has 1, found '1'"),
        (HEAD + "%y: f32[3] = neg(%x) {a = 1, a = 2}", "expected a new attribute name, found 'a'"),
        (HEAD + "%y: f32[3] = neg(%x) {a = }", "expected a value, found '}'"),
        (HEAD + "%y: f32[3] = neg(%x) {a = i8[2]([1, 2, 3])}", "expected the elements of i8[2], found other elements"),
        (HEAD + "%y: f32[3] = neg(%x) {a = i8[1]([300])}", "expected the elements of i8[1], found other elements"),
        (HEAD + "%y: f32[3] = neg(%x) {a = f32[](1e300)}", "expected the elements of f32[], found other elements"),
        (HEAD + "%y: f32[3] = neg(%x) {a = i8[](1.5)}", "expected an integer, found '1.5'"),
        (HEAD + "%y: f32[3] = neg(%x) {a = bool[](1)}", "expected 'True' or 'False', found '1'"),
        (HEAD + '%y: f32[3] = neg(%x) {a = i8[2](zlib "xx")}', "expected the elements of i8[2], found other elements"),
        (HEAD + '%y: f32[3] = neg(%x) {a = "\\q"}', "expected a string with the escapes of JSON"),
        (HEAD + "%y: f32[3] = neg(%x) @cpu", "expected a string in double quotes, found 'cpu'"),
        (HEAD + '%y: f32[3] = neg(%x) loc("f":x)', "expected an integer, found 'x'"),
        (HEAD + "%y: f32[3] = neg(%x) loc(:3)", "expected a string in double quotes, found ':'"),
        (HEAD + "%y: f32[3] = repeat(%x) { loop(", "expected the op's regions (body) in order, found 'loop'"),
        (HEAD + "return }", "line 1, column 24: expected the types of the graph's outputs, (), found other types"),
        (HEAD + "return %x } x", "line 2, column 15: expected the end of the text, found 'x'"),
    ],
)
def test_a_parse_error_says_where_and_what(text: str, message: str) -> None:
    with pytest.raises(errors.ParseError) as caught:
        parse_graph(text, TEST_OPS)
    assert message in str(caught.value)
