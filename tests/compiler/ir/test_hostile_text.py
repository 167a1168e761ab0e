"""Texts that want to do harm: they are refused, with ParseError or VerificationError, at a cost of their own length."""

from __future__ import annotations

import base64
import re
import tracemalloc
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.compiler.base import Location, errors
from graphc.compiler.ir import Graph, parse_graph, print_graph, verify
from tests.compiler.ir.strategies import TEST_OPS, graphs
from tests.draws import examples

HEAD = "graph g(%x: f32[3]) -> (f32[3]) {\n  "
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|->|[-+A-Za-z0-9_./]+|\s+|.', re.DOTALL)
_HOSTILE = (
    *("-1", "0", "3", "4294967296", "9" * 400, "1e400", "nan", "None", "True", "bool", "f64[]", "%x"),
    *('""', '"\\ud800"', '"a\\u0000"', '"gpu:77"', "(((1,),),)", "complex(1.0, 2.0)", "f32[2]([1.0, 2.0])"),
    "f32[1000000000000,1000000000000]",
)


@given(graphs(), st.data())
@settings(max_examples=examples(150))
def test_a_changed_text_parses_or_is_refused(graph: Graph, data: st.DataObject) -> None:
    tokens = _TOKEN.findall(print_graph(graph))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.integers(0, len(tokens) - 1))
        tokens[place] = data.draw(st.sampled_from(("", *_HOSTILE, *sorted(TEST_OPS), *tokens)))
    with suppress(errors.ParseError, errors.VerificationError):
        verify(parse_graph("".join(tokens), TEST_OPS))


def _bomb(size: int) -> str:
    return base64.b64encode(zlib.compress(bytes(size))).decode()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "%y: f32[3] = neg(%x) {a = " + "(" * 500, "expected at most 200 levels of bodies, tuples and lists"),
        (HEAD + "%y: f32[3] = neg(%x) {a = f32[1](" + "[" * 500, "expected at most 200 levels of"),
        (HEAD + "%y: f32[3] = repeat(%x) { body(%x: f32[3]) -> (f32[3]) { " * 500, "expected at most 200 levels of"),
        (
            HEAD + "%y: f32[3] = neg(%x) {a = " + "9" * 5000,
            "line 2, column 29: expected an integer of at most 640 digits",
        ),
        (f"graph g(%x: f32[{'9' * 5000}])", "expected an integer of at most 640 digits"),
        (HEAD + f'%y: f32[3] = neg(%x) loc("a":{"9" * 5000})', "expected an integer of at most 640 digits"),
        (HEAD + '%y: f32[3] = neg(%x) loc("a":2147483648)', "expected the number of a line, at most 2147483647"),
        (HEAD + '%y: f32[3] = neg(%x) loc("a":-1)', "expected the number of a line"),
        (HEAD + '%y: f32[3] = neg(%x) {a = f32[2](zlib "eJw=")}', "of f32[2], found other elements"),
        (HEAD + f'%y: f32[3] = neg(%x) {{a = f32[{"9" * 99}](zlib "{_bomb(8)}")}}', "expected the elements of f32"),
        ('graph "\\ud800"(', "expected a name that UTF-8 can hold"),
        ('graph "a', "expected a string with the escapes of JSON"),
    ],
)
def test_what_goes_too_far_is_refused_where_it_stands(text: str, message: str) -> None:
    with pytest.raises(errors.ParseError) as caught:
        parse_graph(text, TEST_OPS)
    assert message in str(caught.value)


def test_no_more_of_a_constant_is_unpacked_than_its_type_says() -> None:
    text = HEAD + f'%y: f32[3] = neg(%x) {{a = f32[2](zlib "{_bomb(2**26)}")}}'
    tracemalloc.start()
    with pytest.raises(errors.ParseError, match="expected the elements of"):
        parse_graph(text, TEST_OPS)
    assert tracemalloc.get_traced_memory()[1] < 2**22
    tracemalloc.stop()


@pytest.mark.parametrize("text", ['"' + '\\"' * 100_000, "\n" * 200_000, "[" * 200_000])
def test_each_character_is_read_once(text: str) -> None:
    with pytest.raises(errors.ParseError):
        parse_graph(text, TEST_OPS)


def test_a_nest_as_deep_as_allowed_can_be_used() -> None:
    text = "%x"
    for _ in range(200):
        text = f"%x: f32[3] = repeat(%i) {{times = 2}} {{ body(%i: f32[3]) -> (f32[3]) {{ {text} return %x }} }}"
        text = text.replace("{ %x return %x }", "{ %x: f32[3] = neg(%i) return %x }")
    graph = parse_graph(f"graph g(%i: f32[3]) -> (f32[3]) {{ {text} return %x }}", TEST_OPS)
    verify(graph)
    assert hash(parse_graph(print_graph(graph), TEST_OPS)) == hash(graph)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('%y: f32[3] = neg(%x) @"bla"', "the device 'bla' has the part 'bla'"),
        (f'%y: f32[3] = neg(%x) @"cpu:{"9" * 5000}"', "has the part"),
        ("%y: f32[] = read() {name = 3} ", "a resource that it reads or writes is named 3, which is not a string"),
        ("%y: f32[] = read() ", "the op's own check fails: KeyError: 'name'"),
        ('%y: f32[] = neg(%x) loc("a\\u0000":1)', "inference returns"),
    ],
)
def test_a_node_that_means_nothing_is_refused(line: str, message: str) -> None:
    with pytest.raises(errors.VerificationError) as caught:
        verify(parse_graph(f"graph g(%x: f32[3]) -> () {{ {line} return }}", TEST_OPS))
    assert message in str(caught.value)


def test_a_tensor_that_no_memory_holds_is_refused() -> None:
    with pytest.raises(errors.VerificationError, match="which is larger than any memory"):
        verify(parse_graph(f"graph g(%x: f32[{2**62}]) -> () {{ return }}", TEST_OPS))


def test_a_message_reads_no_file_that_never_ends(tmp_path: Path) -> None:
    source = tmp_path / "source.py"
    source.write_text("x = 1\n")
    assert str(Location(str(source), 1)).endswith("x = 1")
    for file in ("/dev/zero", "a\0", "\ud800", str(tmp_path)):
        assert str(Location(file, 1)) == f'File "{file}", line 1, in <module>'
