"""Tensors from Example messages: what TensorFlow 2.21 gives for the same messages, and every refusal."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, InvalidTypeError
from graphc.graphs.queues import ops
from graphc.graphs.queues.examples import (
    FixedLenFeature,
    SparseValue,
    VarLenFeature,
    parse_example,
    parse_single_example,
)
from graphc.graphs.queues.ops import make_example


def message(**features: Any) -> bytes:
    return make_example(features).SerializeToString(deterministic=True)


ONE = message(a=1, b=[1.0, 2.0], c=[b"x", b"y"])
TWO = message(a=2, b=[3.0, 4.0], c="z")


def plain(value: Any) -> Any:
    if isinstance(value, SparseValue):
        return tuple(part.tolist() for part in value)
    return value.tolist()


@pytest.mark.parametrize(
    ("given", "feature", "expected"),
    [
        ([ONE, TWO], {"a": FixedLenFeature([], gx.int64)}, [1, 2]),
        ([ONE, TWO], {"b": FixedLenFeature([2], "float32")}, [[1.0, 2.0], [3.0, 4.0]]),
        ([ONE, TWO], {"b": FixedLenFeature((1, 2), np.float32)}, [[[1.0, 2.0]], [[3.0, 4.0]]]),
        ([ONE, TWO], {"c": VarLenFeature(gx.string)}, ([[0, 0], [0, 1], [1, 0]], ["x", "y", "z"], [2, 2])),
        ([ONE, TWO], {"none": FixedLenFeature([2], gx.int64, [1, 2])}, [[1, 2], [1, 2]]),
        ([TWO, TWO], {"c": FixedLenFeature([], gx.string)}, ["z", "z"]),
        ([TWO, TWO], {"none": FixedLenFeature([], gx.string, "?")}, ["?", "?"]),
        ([ONE, ONE], {"c": FixedLenFeature([2, 1], gx.string)}, [[["x"], ["y"]]] * 2),
        ([ONE, TWO], {"none": FixedLenFeature([2], gx.string, "?")}, [["?", "?"], ["?", "?"]]),
        ([ONE, TWO], {"none": VarLenFeature(gx.float32)}, ([], [], [2, 0])),
        (ONE, {"a": FixedLenFeature([], gx.int64)}, 1),
        (ONE, {"c": FixedLenFeature([2], gx.string)}, ["x", "y"]),
        (TWO, {"c": FixedLenFeature([], gx.string)}, "z"),
        (ONE, {"c": VarLenFeature(gx.string)}, ([[0], [1]], ["x", "y"], [2])),
        (ONE, {"none": VarLenFeature(gx.int64)}, ([], [], [0])),
    ],
)
def test_features_are_what_tensorflow_gives(given: Any, feature: dict[str, Any], expected: Any) -> None:
    (found,) = parse_example(given, feature).values()
    assert plain(found) == expected
    if isinstance(given, bytes):
        (found,) = parse_single_example(given, feature).values()
        assert plain(found) == expected


def test_sparse_values_become_dense() -> None:
    (found,) = parse_example([ONE, TWO], {"c": VarLenFeature(gx.string)}).values()
    assert found.to_dense().tolist() == [["x", "y"], ["z", ""]]
    assert found.to_dense("?").tolist() == [["x", "y"], ["z", "?"]]
    (found,) = parse_example([ONE, message()], {"b": VarLenFeature(gx.float32)}).values()
    assert found.to_dense().tolist() == [[1.0, 2.0], [0.0, 0.0]]
    assert found.to_dense(-1.0).tolist() == [[1.0, 2.0], [-1.0, -1.0]]
    assert gx.function(lambda: found.to_dense() * 2.0)().tolist() == [[2.0, 4.0], [0.0, 0.0]]


def test_several_features_come_by_their_names() -> None:
    features = {"c": VarLenFeature(gx.string), "a": FixedLenFeature([], gx.int64), "b": VarLenFeature(gx.float32)}
    found = parse_example(gx.asarray([TWO, ONE]), features)
    assert list(found) == ["c", "a", "b"]
    assert found["a"].tolist() == [2, 1]
    assert found["b"].values.tolist() == [3.0, 4.0, 1.0, 2.0]
    assert found["b"].indices.shape == (4, 2)


def test_ints_have_64_bits_where_there_are_such_types() -> None:
    wide = message(a=1 << 40)
    features = {"a": FixedLenFeature([], gx.int64)}
    with gx.config.scope(enable_x64=True):
        assert parse_single_example(wide, features)["a"].item() == 1 << 40
    with pytest.raises(InvalidArgumentError, match=r"feature 'a' has a value that int32 cannot hold; set gx\.config"):
        parse_single_example(wide, features)


def test_bytes_stay_what_they_are() -> None:
    data = bytes(range(256)) + b"\0"
    found = parse_single_example(message(raw=data), {"raw": FixedLenFeature([], gx.string)})["raw"]
    assert gx.strings.decode_raw(found, gx.uint8).tolist() == [*range(256), 0]


def test_a_message_is_that_of_tensorflows_protocol() -> None:
    # b: [1.0, 2.0] as TensorFlow 2.21 writes it.
    written = bytes.fromhex("0a130a110a0162120c120a0a080000803f00000040")
    assert message(b=[1.0, 2.0]) == written
    assert parse_single_example(written, {"b": FixedLenFeature([2], gx.float32)})["b"].tolist() == [1.0, 2.0]
    example = make_example({"t": True, "n": np.arange(4).reshape(2, 2), "s": ["ä", b"\xff"]})
    assert list(example.features.feature["n"].int64_list.value) == [0, 1, 2, 3]
    assert list(example.features.feature["s"].bytes_list.value) == ["ä".encode(), b"\xff"]
    assert list(example.features.feature["t"].int64_list.value) == [1]


INT, FLOAT = FixedLenFeature([], gx.int64), FixedLenFeature([], gx.float32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: parse_example([ONE], {"z": INT}),
            r"parse_example: message 0: feature 'z' \(int32\) is missing, and the FixedLenFeature has no default_value",
        ),
        (
            lambda: parse_example([ONE, TWO], {"a": FLOAT}, ["n1", "n2"]),
            r"parse_example: message 0 \(n1\): feature 'a' has values of int64, expected float32",
        ),
        (
            lambda: parse_example([ONE], {"b": FLOAT}),
            r"message 0: feature 'b' has 2 values, expected 1 for the shape \(\)",
        ),
        (lambda: parse_example([ONE, b"junk"], {"a": INT}), r"message 1: b'junk' is not an Example message"),
        (lambda: parse_single_example(b"junk", {"a": INT}), r"parse_single_example: b'junk' is not an Example message"),
        (
            lambda: parse_example([ONE], {"b": FixedLenFeature([None], "float32")}),
            r"feature 'b': a size of the shape \[None\] is unknown; use a VarLenFeature for any number",
        ),
        (
            lambda: parse_example([ONE], {"b": FixedLenFeature([2], "float32", [1.0, 2.0, 3.0])}),
            r"feature 'b': default_value has the shape \(3,\), expected \(2,\) or one value for all",
        ),
        (
            lambda: parse_example([ONE], {"a": VarLenFeature("int8")}),
            r"feature 'a': dtype must be float32, int64 or string, got 'int8'",
        ),
        (lambda: parse_example([ONE], {"a": 3}), r"feature 'a': expected a FixedLenFeature or VarLenFeature, got 3"),
        (lambda: parse_example([ONE], {}), r"features must be a dict with at least one feature, got \{\}"),
        (lambda: parse_example(3, {"a": INT}), r"parse_example: serialized must be a tensor of strings, got 3"),
        (
            lambda: parse_example([[ONE]], {"a": INT}),
            r"parse_example: serialized must be a vector of strings, got \w+\[1,1\]",
        ),
        (
            lambda: parse_single_example([ONE], {"a": INT}),
            r"parse_single_example: serialized must be a single string; use parse_example for several, got \w+\[1\]",
        ),
        (lambda: parse_example([ONE, TWO], {"a": INT}, ["x"]), r"parse_example: 1 example_names for 2 messages"),
        (
            lambda: SparseValue([[2]], [1.0], [2]).to_dense(),
            r"SparseValue\.to_dense: the index \[2\] is outside of the shape \(2,\)",
        ),
        (
            lambda: SparseValue([[0]], [1.0], [2]).to_dense("a"),
            r"SparseValue\.to_dense: default_value must be of the values' dtype, got 'a'",
        ),
        (lambda: make_example({"a": 1j}), r"make_example: 1j is not text, floats or ints"),
    ],
)
def test_what_is_wrong_is_said(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InvalidArgumentError, match=message) as caught:
        call()
    assert "test_examples.py" in str(caught.value)


def test_the_class_of_a_wrong_type() -> None:
    with pytest.raises(InvalidTypeError):
        parse_example([ONE], {"a": VarLenFeature(gx.bool)})


def test_without_the_library_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name.startswith("google"):
            raise ImportError(name)
        return real(name, *rest)

    ops.example_class.cache_clear()
    with monkeypatch.context() as patch:
        patch.setattr(builtins, "__import__", without)
        with pytest.raises(FailedPreconditionError, match=r"Example messages need protobuf: pip install 'graphc\[data"):
            parse_example([ONE], {"a": INT})
