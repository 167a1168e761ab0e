"""Types with open sizes: what they say, how they print, and what two of them say together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphc.compiler.base import errors
from graphc.compiler.ir import (
    OPEN,
    Attrs,
    Graph,
    Literal,
    Node,
    TensorType,
    Value,
    compatible,
    merge,
    parse_graph,
    print_graph,
    print_value,
    verify,
    widen,
)
from tests.compiler.ir.strategies import FLOAT, READ, TEST_OPS

F32 = np.dtype("float32")
UNRANKED = TensorType((), F32, ranked=False)

sizes = st.sampled_from([OPEN, 0, 1, 2, 3])
shapes = st.lists(sizes, max_size=3).map(tuple)
open_types = st.builds(TensorType, shapes, st.just(F32)) | st.just(UNRANKED)


def covers(type: TensorType, concrete: TensorType) -> bool:
    """Whether a concrete type is one that an open type stands for."""
    if not type.ranked:
        return True
    same_rank = len(type.shape) == len(concrete.shape)
    return same_rank and all(a in (OPEN, b) for a, b in zip(type.shape, concrete.shape, strict=True))


@given(open_types, st.booleans(), st.sampled_from([F32, np.dtype(object)]))
def test_an_open_type_comes_back_from_its_text(type: TensorType, weak: bool, dtype: Any) -> None:
    type = replace(type, weak=weak, dtype=dtype)
    graph = Graph([Value(type, None, 0, "x")], [Node(READ, (), Attrs(type=type), [FLOAT])], ())
    text = print_graph(graph)
    assert str(type) in text
    assert parse_graph(text, TEST_OPS) == graph


@pytest.mark.parametrize(
    ("type", "text"),
    [
        (TensorType((OPEN, 10), F32), "f32[?,10]"),
        (UNRANKED, "f32[*]"),
        (TensorType((), np.dtype(object)), "str[]"),
        (TensorType((OPEN,), np.dtype(object)), "str[?]"),
    ],
)
def test_how_open_types_and_strings_print(type: TensorType, text: str) -> None:
    assert str(type) == text


@given(open_types, open_types)
def test_types_are_compatible_exactly_if_they_merge(first: TensorType, second: TensorType) -> None:
    if not compatible(first, second):
        with pytest.raises(errors.InvalidArgumentError, match="no tensor is both"):
            merge(first, second)
        return
    merged = merge(first, second)
    assert merged == merge(second, first)
    concrete = replace(merged, shape=tuple([7 if size == OPEN else size for size in merged.shape]), ranked=True)
    assert covers(first, concrete)
    assert covers(second, concrete)


@given(st.lists(open_types, min_size=1, max_size=3))
def test_the_widened_type_is_compatible_with_each(types: list[TensorType]) -> None:
    wide = widen(types)
    assert all(merge(wide, type) == type for type in types)


def test_types_of_other_dtypes_have_no_common_one() -> None:
    with pytest.raises(errors.InvalidArgumentError, match="differ in more than their shapes"):
        widen([UNRANKED, TensorType((), np.dtype("int32"))])


def test_the_size_of_an_open_type_is_refused() -> None:
    with pytest.raises(errors.InvalidArgumentError, match=r"the number of elements of f32\[\?\] is not known"):
        _ = TensorType((OPEN,), F32).size


def test_the_verifier_takes_open_types_and_no_other_negative_size() -> None:
    verify(Graph([Value(TensorType((OPEN, 3), F32), None, 0), Value(UNRANKED, None, 1)], [], []))
    with pytest.raises(errors.VerificationError, match="number of axes is marked unknown"):
        verify(Graph([Value(replace(UNRANKED, shape=(3,)), None, 0)], [], []))


@given(st.lists(st.binary(max_size=4), max_size=3))
def test_strings_come_back_bit_by_bit(items: list[bytes]) -> None:
    array = np.empty(len(items), object)
    array[:] = items
    literal = Literal(array)
    graph = Graph((), [Node(READ, (), Attrs(value=literal), [FLOAT])], ())
    text = print_graph(graph)
    text.encode()
    assert parse_graph(text, TEST_OPS).nodes[0].attrs["value"] == literal


def test_a_literal_of_strings_holds_bytes_and_nothing_else() -> None:
    assert print_value(Literal(np.array(["a", "bé"], object))) == 'str[2](["a", "bé"])'
    assert Literal("a") == Literal(np.array(b"a", object))
    with pytest.raises(errors.InvalidTypeError, match="a literal holds numbers or strings, not 1"):
        Literal(np.array([b"a", 1.5], object))


@pytest.mark.parametrize("text", ["f32[?]([1.0])", "f32[*](1.0)"])
def test_a_literal_has_no_open_type(text: str) -> None:
    with pytest.raises(errors.ParseError, match="a literal's type, without open sizes"):
        parse_graph(f"graph g() -> () {{ %read: f32[] = read() {{a = {text}}} return }}", TEST_OPS)
