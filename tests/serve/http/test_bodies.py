"""Bodies: what JSON, npy and npz stand for, what results are written as, and what is refused."""

from __future__ import annotations

import io
import json
import struct
import zipfile
from contextlib import suppress
from typing import Any, NamedTuple

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError, NumberOverflowError
from graphc.serve.http.arrays import BodyArguments, Form, natural, plain
from graphc.serve.http.bodies import JSON, NPY, NPZ, Budget, decode, encode, media_type, negotiate
from graphc.serve.http.problems import ProblemError
from tests.draws import examples
from tests.serve.http.asking import as_bytes, npy, npz

_BUDGET = Budget.of((), 1, 1 << 20)


class Pair(NamedTuple):
    a: Any
    b: Any


def test_lists_of_numbers_are_arrays_and_other_lists_are_structures() -> None:
    value = {"a": [[1, 2]], "b": [{"c": [1.5]}, {"c": [True]}], "d": {"array": [[1]], "dtype": "int8"}, "e": ["NaN", 1]}
    found = natural(value, "args[0]")
    assert [found[key].dtype.name for key in "ade"] == ["int32", "int8", "float32"]
    assert [item["c"].dtype.name for item in found["b"]] == ["float32", "bool"]
    np.testing.assert_array_equal(found["e"], np.asarray([np.nan, 1], np.float32))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([[1], [2, 3]], "args: the lists of an array have one length on each level"),
        (["one"], r"args: expected a nested list of numbers, got \['one'\]"),
        ([None], "args: expected a nested list of numbers"),
        ([1e300], "args: float32 does not hold numbers as large"),
        ([1e400], 'args: no dtype holds numbers as large; an infinity is written "Infinity"'),
        ([1e400, "NaN"], "args: no dtype holds numbers as large"),
        (np.asarray([1e39]), "args: float32 does not hold numbers as large"),
        (np.ones(1, np.longdouble), "JAX has no long double; convert to float64"),
        ({"array": [3.4e38], "dtype": "bfloat16"}, "args: bfloat16 does not hold numbers as large"),
        ({"array": [500], "dtype": "float8_e4m3fn"}, "args: float8_e4m3fn does not hold numbers as large"),
        ({"array": [500], "dtype": "float4_e2m1fn"}, "args: float4_e2m1fn does not hold numbers as large"),
        ({"array": ["NaN"], "dtype": "float4_e2m1fn"}, "args: float4_e2m1fn does not hold"),
        ({"array": [8], "dtype": "int4"}, "args: int4 holds numbers from -8 to 7"),
        ([1 << 40], "int32"),
        ([1 << 90], "args: expected a nested list of numbers"),
        ({"array": [1], "type": "int8"}, "args: expected an array, as a nested list or"),
        ({"array": [1], "dtype": "int9"}, "args: no dtype of numbers is called 'int9'"),
        ({"array": [300], "dtype": "uint8"}, "args: uint8 holds numbers from 0 to 255"),
        ({"array": [1.5], "dtype": "int8"}, "args: expected numbers of int8, got float64"),
    ],
)
def test_a_value_that_is_no_array_is_refused_by_its_path(value: Any, message: str) -> None:
    with pytest.raises((InvalidArgumentError, NumberOverflowError), match=message):
        natural(value, "args")


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float8_e5m2", "float8_e4m3fn", "int4", "uint2"])
def test_numbers_at_the_bounds_are_taken_as_they_are(dtype: str) -> None:
    largest = float((jnp.iinfo if "int" in dtype else jnp.finfo)(dtype).max)
    words = ["NaN"] * (dtype.startswith(("f", "b"))) + ["Infinity"] * (dtype in ("float16", "bfloat16", "float8_e5m2"))
    sent = [int(largest) if "int" in dtype else float(str(np.float32(largest))), 1, *words]
    found = natural({"array": sent, "dtype": dtype}, "args")
    assert found.dtype.name == dtype
    assert found[0] == largest
    assert plain(found)[1:] == [1, *words]


def predict(x: Any, pair: Any, scale: Any) -> Any:
    return x, pair, scale


def test_a_form_names_arguments_and_converts_numbers_that_fit() -> None:
    spec = gx.TensorSpec((None, None), "int32")
    form = Form.of("default", predict, (np.ones((1, 2)), Pair(spec, {"c": np.ones((5, 1), bool)})), {"scale": spec})
    assert str(form) == "x: float32[?,2], pair: {a: int32[?,?], b: {c: bool[?,1]}}, scale: int32[?,?]"
    expected = [np.asarray([[1, 2]], np.float32), np.asarray([[3]], np.int32), np.asarray([[True]])]
    pair = {"a": [[3]], "b": {"c": [[True]]}}
    for arguments in (
        BodyArguments(([[1, 2]], pair), {"scale": [[3]]}),
        BodyArguments(([[1, 2]],), {"pair": [[[3]], {"c": [[True]]}], "scale": [[3]]}),
        BodyArguments((), {"x": np.asarray([[1, 2]], np.uint8), "pair": pair, "scale": [[3]]}),
    ):
        (x, found), kwargs = form.fit(arguments)
        assert isinstance(found, Pair)
        for array, wanted in zip((x, found.a, found.b["c"]), expected, strict=True):
            np.testing.assert_array_equal(array, wanted)
            assert array.dtype == wanted.dtype
        np.testing.assert_array_equal(kwargs["scale"], [[3]])
    assert form.example() is None, "the second axis of the ints is open"
    known = Form.of("default", predict, (np.ones((4, 2)), Pair(np.ones((4,), np.int32), ())), {}).example()
    assert known is not None
    np.testing.assert_array_equal(known[0][0], np.zeros((1, 2), np.float32))


@pytest.mark.parametrize(
    ("args", "kwargs", "message"),
    [
        ((), {}, r"expected the arguments \(x: float32\[\?,2\], pair: .*\), got none"),
        (([[1, 2]], [[[1]], [[2]]]), {"y": 1}, "got x, pair, y"),
        (([[1, 2, 3]], [[[1]], [[2]]]), {}, r"x: expected float32\[\?,2\], got an array of shape \[1, 3\]"),
        (([[1, 2]], [[[1]]]), {}, "pair: expected a list of 2 items, got 1"),
        (([[1, 2]], {"a": [[1]]}), {}, "pair: expected the fields a, b, got a"),
        (([[1, 2]], {"a": [[1.5]], "b": [[1]]}), {}, r"pair.a: expected numbers of int32, got float64"),
        (([[1, 2]], 3), {}, r"pair: expected \{a: int32\[\?,1\], b: int32\[\?,1\]\}, got 3"),
    ],
)
def test_arguments_of_another_form_are_refused_by_name(args: Any, kwargs: Any, message: str) -> None:
    one = np.ones((1, 1), np.int32)
    form = Form.of("default", predict, (np.ones((1, 2)), Pair(one, one)), {})
    with pytest.raises(InvalidArgumentError, match=message):
        form.fit(BodyArguments(args, kwargs))


def test_an_example_has_arrays_with_rows() -> None:
    with pytest.raises(
        InvalidTypeError, match=r"an example has arrays or .* got int 3; bind arguments that are the same .*partial"
    ):
        Form.of("default", predict, (3,), {})
    with pytest.raises(InvalidArgumentError, match=r"needs an axis of rows, .* x\[None\]"):
        Form.of("default", predict, (np.float32(3),), {})


def test_arrays_of_numpy_go_both_ways() -> None:
    x = np.asfortranarray(np.arange(6, dtype=np.float64).reshape(2, 3))
    (found,) = decode(NPY, npy(x), _BUDGET).args
    np.testing.assert_array_equal(found, x)
    arguments = decode(NPZ, npz(x, x + 1, scale=x[:1]), _BUDGET)
    np.testing.assert_array_equal(arguments.args[1], x + 1)
    np.testing.assert_array_equal(arguments.kwargs["scale"], x[:1])
    kind, body = encode(NPY, np.asarray([1.5], ml_dtypes.bfloat16))
    assert kind == NPY
    assert np.load(io.BytesIO(body)).dtype == np.float32
    kind, body = encode(NPY, {"file": x, "pair": Pair(x, (x, np.float32(3)))})
    assert kind == NPZ
    with np.load(io.BytesIO(body)) as archive:
        assert sorted(archive) == ["file", "pair.a", "pair.b.arr_0", "pair.b.arr_1"]
        np.testing.assert_array_equal(archive["pair.b.arr_0"], x)
    with pytest.raises(ProblemError, match=r"holds arrays, and the result has 'text'; ask with Accept: .*json"):
        encode(NPY, "text")


def test_results_are_strict_json() -> None:
    result = {
        "a": np.asarray([[1.5, np.nan], [np.inf, -np.inf]], np.float32),
        "b": Pair(np.int8(3), [None, "text", 2.5]),
    }
    kind, body = encode(JSON, result)
    assert kind == JSON
    expected = {"a": [[1.5, "NaN"], ["Infinity", "-Infinity"]], "b": {"a": 3, "b": [None, "text", 2.5]}}
    assert json.loads(body, parse_constant=pytest.fail) == {"result": expected}
    np.testing.assert_array_equal(natural(expected["a"], ""), result["a"])
    with pytest.raises(ProblemError, match="JSON has no complex numbers; ask with Accept: application/x-npy"):
        encode(JSON, np.ones(2, np.complex64))
    with pytest.raises(ProblemError, match="the result contains object"):
        encode(JSON, object())


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b"{", "the body is not JSON: .* line 1"),
        (b"\xff\xfe", "the body is not JSON"),
        (b"[" * 10_000, "the body is not JSON"),
        (b"[1]", r"the body is .* got \[1\]"),
        ({"inputs": []}, "unknown field 'inputs'; it may have args, kwargs, signature"),
        ({"args": {}}, r"args is a list, got \{\}"),
        ({"kwargs": []}, "kwargs is an object"),
        ({"signature": 3}, "signature is a string, got 3"),
    ],
)
def test_malformed_json_is_refused(body: Any, message: str) -> None:
    with pytest.raises(ProblemError, match=message) as caught:
        decode(JSON, as_bytes(body), _BUDGET)
    assert caught.value.status == 400


def _npy_header(text: str, data: bytes = b"") -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode() + data


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\x93NUMPY",
        npy(np.ones(4))[:-1],
        npy(np.ones(4)) + b"more",
        _npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}", b"\0" * 8),
        _npy_header("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, 2)}", b"\0" * 8 * 3),
        _npy_header("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", b"\0" * 8),
        _npy_header("__import__('os').abort()"),
        npy(np.asarray(["text"])),
    ],
)
def test_malformed_npy_is_refused_without_making_room_for_what_it_claims(body: bytes) -> None:
    with pytest.raises(ProblemError, match="the body is not an npy file") as caught:
        decode(NPY, body, _BUDGET)
    assert caught.value.status == 400


def test_malformed_npz_is_refused() -> None:
    with pytest.raises(ProblemError, match="not an npz file"):
        decode(NPZ, b"text", _BUDGET)
    with pytest.raises(ProblemError, match="not an npz file"):
        decode(
            NPZ,
            bytes(value ^ 85 if 40 < place < 60 else value for place, value in enumerate(npz(np.ones(400)))),
            _BUDGET,
        )
    with pytest.raises(ProblemError, match="more bytes than are taken") as caught:
        decode(NPZ, npz(np.zeros(1 << 20)), _BUDGET)  # a thousand times as large as its file
    assert caught.value.status == 413
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("x.npy", "text")
    with pytest.raises(ProblemError, match=r"x.npy is not an npy file"):
        decode(NPZ, file.getvalue(), _BUDGET)


@settings(max_examples=examples(50))
@given(st.sampled_from([npy(np.ones((2, 3))), npz(np.arange(4), y=np.ones(2))]), st.data())
def test_any_bytes_are_read_or_refused(body: bytes, data: st.DataObject) -> None:
    changed = bytearray(body)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    for kind in (NPY, NPZ, JSON):
        with suppress(ProblemError):
            decode(kind, bytes(changed), _BUDGET)


def test_types_of_bodies_are_negotiated() -> None:
    assert media_type("") == media_type("application/json; charset=utf-8") == JSON
    with pytest.raises(ProblemError, match="a body of text/html cannot be read; send application/json") as caught:
        media_type("text/html")
    assert caught.value.status == 415
    assert negotiate("", NPY) == negotiate("*/*", NPY) == NPY
    assert negotiate("text/html, application/json;q=0.5", NPY) == JSON
    assert negotiate("application/x-npy, */*", JSON) == NPY
    with pytest.raises(ProblemError, match="not text/html") as caught:
        negotiate("text/html", JSON)
    assert caught.value.status == 406
