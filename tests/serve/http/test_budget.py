"""What a body may cost: memory and parsing follow the signature, whatever the body claims."""

from __future__ import annotations

import io
import json
import re
import struct
import tracemalloc
import zipfile
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphc.serve.http.bodies import JSON, NPY, NPZ, Budget, decode
from graphc.serve.http.offers import Endpoint, endpoint, offer
from graphc.serve.http.problems import ProblemError
from tests.draws import examples
from tests.serve.http.asking import as_bytes, npy, npz

_BODY_BYTES = 1 << 20
_ROWS = np.zeros((1, 64), np.float32)
_MOST_MEMORY = 4 << 20
"""Bytes; each of the large attacks below would take a hundred times as many."""


@pytest.fixture(scope="module", params=["with a signature", "without a signature"])
def served(request: pytest.FixtureRequest) -> Iterator[Endpoint]:
    example = (_ROWS,) if request.param == "with a signature" else None
    found = endpoint("predict", offer("predict", lambda x: x, example), {"max_waiting": 64})
    with found.replicas:
        yield found


def cost(served: Endpoint, kind: str, body: bytes) -> tuple[int, str]:
    """Returns the memory that the arguments of a body took, and the message if they were refused."""
    budget = Budget.of(served.forms, 64, _BODY_BYTES)
    refused: ProblemError | None = None
    tracemalloc.start()
    try:
        served.arguments(decode(kind, body, budget))
    except ProblemError as problem:
        refused = problem
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    if refused is None:
        return peak, ""
    assert refused.status in (400, 413)
    assert len(str(refused)) <= 1000
    return peak, str(refused)


def lying(body: bytes, size: int = 100) -> bytes:
    """Returns a zip file whose directory claims another size for each entry."""
    found, at = bytearray(body), -1
    while (at := found.find(b"PK\x01\x02", at + 1)) >= 0:
        found[at + 24 : at + 28] = struct.pack("<I", size)
    return bytes(found)


def zipped(method: int, *contents: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for number, content in enumerate(contents):
            archive.writestr(f"arr_{number}.npy", content)
    return file.getvalue()


def header(text: str) -> bytes:
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode()


def row(**fields: Any) -> bytes:
    return as_bytes({"args": [{"array": [[0] * 64], **fields}]})


LARGE = np.zeros((1 << 20, 64), np.float32)  # of 256 MB, and as many bytes of a zip file as a photo


@pytest.mark.parametrize(
    ("kind", "body", "message"),
    [
        (JSON, row(dtype="V60000000"), "no dtype of numbers is called 'V60000000'"),
        (JSON, row(dtype="S50000000"), "no dtype of numbers"),
        (JSON, row(dtype="object"), "no dtype of numbers is called 'object'"),
        (JSON, row(dtype="str"), "no dtype of numbers"),
        (JSON, row(dtype={}), "no dtype of numbers"),
        (JSON, row(dtype=[["a", "f4"]]), "no dtype of numbers"),
        (JSON, as_bytes({"args": [[["a" * 30_000, *[0] * 2000]]]}), "expected a nested list of numbers"),
        (JSON, as_bytes({"args": [[{}, *[[1]] * 5000]]}), "at most 1000 items, got 5001|have one length"),
        (JSON, as_bytes({"kwargs": {f"{n:50}": "text" for n in range(400)}}), "expected (the arguments|a nested list)"),
        (JSON, b'{"args":[' + b"[]," * 30_000 + b"1]}", "more than .* (numbers and lists|arguments)"),
        (JSON, as_bytes({"kwargs": {str(n): 1 for n in range(2000)}}), "more than 1000 names and objects"),
        (JSON, b'{"args":[' + b"{}," * 2000 + b"1]}", "more than 1000 names and objects"),
        (JSON, b'{"args":[' + b"[" * 900 + b"]" * 900 + b"]}", "nests too deep|one length|not JSON"),
        (JSON, b'{"args":[{"a":' + b"[" * 900 + b"{}" + b"]" * 900 + b"}]}", "nests too deep|an array|not JSON"),
        (JSON, b'{"args":[[' + b"1" * 100_000 + b"]]}", "more than 400 characters"),
        (NPZ, lying(zipped(zipfile.ZIP_DEFLATED, npy(LARGE))), "not an npz file: Bad CRC-32"),
        (NPZ, lying(zipped(zipfile.ZIP_DEFLATED, npy(LARGE)), 1 << 31), "arr_0.npy: the arrays of the body have more"),
        (NPZ, zipped(zipfile.ZIP_DEFLATED, npy(LARGE)), "arr_0.npy: the arrays of the body have more bytes"),
        (NPZ, zipped(zipfile.ZIP_DEFLATED, header("{" + " " * 60_000) + bytes(1 << 26)), "not an npy file"),
        (NPZ, zipped(zipfile.ZIP_DEFLATED, npy(_ROWS) + bytes(1 << 26)), "bytes for float32"),
        (NPZ, zipped(zipfile.ZIP_LZMA, npy(_ROWS)), "compressed with deflate"),
        (NPZ, zipped(zipfile.ZIP_BZIP2, npy(_ROWS)), "compressed with deflate"),
        (NPZ, npz(*[np.ones(1)] * 1100), "more than .* arrays"),
        (NPY, header("(" * 9000 + "\n"), "not an npy file"),
        (NPY, header("{'descr': '|V60000000', 'fortran_order': False, 'shape': (1,)}\n"), "holds no numbers"),
        (NPY, header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000000,)}\n"), "has 0 bytes for"),
    ],
)  # fmt: skip
def test_an_attack_costs_little_and_is_told_why(served: Endpoint, kind: str, body: bytes, message: str) -> None:
    peak, refused = cost(served, kind, body)
    assert re.search(message, refused), refused
    assert peak < _MOST_MEMORY


_HOSTILE = st.sampled_from(
    ["V60000000", "S50000000", "object", "U1000000", "float32", "int4", "complex128", "", "f4,f4"]
)
_LEAVES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.sampled_from([10**400, "a" * 9999])
)
_VALUES = st.recursive(
    _LEAVES | st.builds(lambda item, count: [item] * count, _LEAVES | st.just([]), st.sampled_from([1, 64, 3000])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.dictionaries(st.sampled_from(["array", "dtype", "a", "0"]), inner, max_size=3),
        st.fixed_dictionaries({"array": inner}, optional={"dtype": _HOSTILE}),
    ),
    max_leaves=6,
)
_FIELDS = st.fixed_dictionaries(
    {},
    optional={"args": st.lists(_VALUES, max_size=2) | _VALUES, "kwargs": st.dictionaries(st.text(max_size=3), _VALUES)},
)


@settings(max_examples=examples(90))
@given(fields=_FIELDS)
def test_any_json_is_read_within_the_budget_or_refused(served: Endpoint, fields: Any) -> None:
    body = json.dumps(fields).encode()
    if len(body) <= Budget.of(served.forms, 64, _BODY_BYTES).json_bytes:
        assert cost(served, JSON, body)[0] < 64 * _BODY_BYTES


_HEADS = st.builds(
    lambda descr, order, shape: header(f"{{'descr': {descr!r}, 'fortran_order': {order}, 'shape': {shape}}}\n"),
    st.sampled_from(["<f4", "|V99999999", "|S9999999", "|O", ">i8", "<c16", [("a", "<f4")]]),
    st.booleans(),
    st.lists(st.integers(-1, 1 << 40), max_size=4).map(tuple),
)
_DAMAGE = st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), max_size=4)


@settings(max_examples=examples(90))
@given(contents=st.lists(_HEADS | st.just(npy(_ROWS)), min_size=1, max_size=3), zeros=st.integers(0, 1 << 20),
       claimed=st.none() | st.integers(0, 200), damage=_DAMAGE)  # fmt: skip
def test_any_arrays_are_read_within_the_budget_or_refused(
    served: Endpoint, contents: list[bytes], zeros: int, claimed: int | None, damage: list[tuple[int, int]]
) -> None:
    archive = zipped(zipfile.ZIP_DEFLATED, *[content + bytes(zeros) for content in contents])
    for kind, body in ((NPY, contents[0]), (NPZ, archive if claimed is None else lying(archive, claimed))):
        changed = bytearray(body)
        for at, value in damage:
            changed[at % len(changed)] = value
        assert cost(served, kind, bytes(changed))[0] < _MOST_MEMORY


def test_the_signature_limits_the_size_of_a_body(served: Endpoint) -> None:
    budget = Budget.of(served.forms, 64, 64 << 20)
    if not served.forms:
        assert budget.json_bytes == budget.array_bytes == 64 << 20
        return
    most = np.random.default_rng(0).normal(size=(64, 64))  # as many rows as may wait, of 19 digits each
    large = json.dumps({"args": [most.tolist()]}, indent=4).encode()
    for kind, body, limit in (
        (JSON, large, budget.json_bytes),
        (NPY, npy(most), budget.array_bytes),
        (NPZ, npz(most), budget.array_bytes),
    ):
        assert len(body) < limit < 2 << 20
        (found,), _ = served.arguments(decode(kind, body, budget))
        np.testing.assert_array_equal(found, most.astype(np.float32))
    small = Budget.of(served.forms, 64, 1000)
    assert small.json_bytes == small.array_bytes == 1000
