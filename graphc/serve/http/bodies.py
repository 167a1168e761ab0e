"""Bodies: the arguments of requests and the results in answers, as JSON and in NumPy's npy and npz formats."""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import IO, Any, Literal, Self, cast

import numpy as np
from numpy.lib import format as npy

from graphc.compiler.base import nest
from graphc.compiler.base.errors import UnimplementedError
from graphc.serve.copies import Array
from graphc.serve.http.arrays import BodyArguments, Form, plain, portable, shown
from graphc.serve.http.problems import ProblemError

JSON, NPY, NPZ = "application/json", "application/x-npy", "application/x-npz"

_FORM = "application/x-www-form-urlencoded"  # the content type of curl -d
_MAX_HEADER = 1024
"""The maximum length of an npy header in bytes, of which NumPy writes 128 for most arrays."""

_SPARE = 1 << 16
"""Bytes of a body besides its numbers: headers of arrays, names, spaces."""

_NUMBER_BYTES, _VALUE_BYTES = 16, 64
"""The maximum size of a number in an array, and the average size of a number or bracket in JSON."""

_SPARE_VALUES = 4096
_MOST_NAMES = 1000
_MOST_ARRAYS = 1000
_LONGEST_GAP = 400
"""Characters between two commas of a large JSON body: Python reads an int in quadratic time."""

_ENCODER = json.JSONEncoder(separators=(",", ":"), allow_nan=False)
_DECODER = json.JSONDecoder(parse_constant=str)  # NaN is taken as "NaN", its name in answers
_ENTRY = b"PK\x01\x02"  # the beginning of an entry in the directory of a zip file
_COUNTED = "arr_"
"""Prefix of the names that NumPy gives unnamed arrays in an npz file: arr_0, arr_1."""


def media_type(header: str) -> str:
    """Returns the media type of a Content-Type header; JSON if the header is missing."""
    kind = header.partition(";")[0].strip().lower() or JSON
    if kind not in (JSON, NPY, NPZ):
        hint = f" (curl --json, or -H 'content-type: {JSON}')" if kind == _FORM else ""
        raise ProblemError(415, f"a body of {kind} cannot be read; send {JSON}{hint}, {NPY} or {NPZ}")
    return kind


def negotiate(accept: str, sent: str) -> str:
    """Returns the media type of the answer."""
    wanted = [part.partition(";")[0].strip().lower() for part in accept.split(",") if part.strip()]
    if not wanted or {"*/*", "application/*"} & {*wanted}:
        return next((each for each in wanted if each in (JSON, NPY, NPZ)), sent)
    for each in wanted:
        if each in (JSON, NPY, NPZ):
            return each
    raise ProblemError(406, f"an answer has the type {JSON}, {NPY} or {NPZ}, not {accept:.60}")


@dataclass(frozen=True)
class Budget:
    """The limits of one request's body.

    Python cannot interrupt the parsing of JSON, which stops all other threads: a million values take 0.1 to 0.2 s.

    Attributes:
      values: the maximum number of numbers, lists, names and objects in a JSON body.
      array_bytes: the maximum size of an npy or npz body, and of the arrays in it.
    """

    json_bytes: int
    values: int
    array_bytes: int
    arrays: int = _MOST_ARRAYS

    @classmethod
    def of(cls, forms: Iterable[Form], rows: int, num_bytes: int) -> Self:
        """Returns the limits for requests that match one of some forms."""
        most = max(num_bytes // _VALUE_BYTES, _SPARE_VALUES)
        counts = [(form.elements(rows), form.specs) for form in forms]
        if not counts or any(count is None for count, _ in counts):
            return cls(num_bytes, most, num_bytes)
        elements = max(count or 0 for count, _ in counts)
        axes = max((len(spec.shape or ()) for _, specs in counts for spec in specs), default=1)
        # In an array of shape (n, 1, 1), each number is in two lists of its own.
        values = min(most, 2 * axes * elements + _SPARE_VALUES)
        return cls(
            min(num_bytes, values * _VALUE_BYTES + _SPARE), values, min(num_bytes, elements * _NUMBER_BYTES + _SPARE),
            max(len(specs) for _, specs in counts),
        )  # fmt: skip


def decode(kind: str, body: bytes, budget: Budget) -> BodyArguments:
    """Decodes the arguments in a body."""
    if kind == NPY:
        return BodyArguments((_read_npy(body),))
    return _decode_npz(body, budget) if kind == NPZ else _decode_json(body, budget)


def encode(kind: str, result: Any) -> tuple[str, bytes]:
    """Encodes an answer; returns its media type and its body."""
    if kind == JSON:
        try:
            content = plain(result)
        except UnimplementedError as error:
            raise ProblemError(406, error.message, kind=type(error).__name__) from None
        return JSON, _ENCODER.encode({"result": content}).encode()
    if isinstance(result, np.ndarray) and kind == NPY:
        file = io.BytesIO()
        npy.write_array(file, portable(cast("Array", result)), allow_pickle=False)
        return NPY, file.getvalue()
    arrays: dict[str, Array] = {}
    for path, leaf in _paths(result):
        if not isinstance(leaf, np.ndarray | np.generic | int | float | complex):
            raise ProblemError(406, f"{NPZ} holds arrays, and the result has {leaf!r:.60}; ask with Accept: {JSON}")
        arrays[path or f"{_COUNTED}0"] = portable(np.asarray(cast("Any", leaf)))
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w") as entry:
                npy.write_array(entry, array, allow_pickle=False)
    return NPZ, file.getvalue()


def _check_json(body: bytes, budget: Budget) -> None:
    """Refuses JSON that would take long to parse; the characters may also be in texts, which are short."""
    names = body.count(b":") + body.count(b"{")
    if names > _MOST_NAMES:
        raise ProblemError(413, f"the body has more than {_MOST_NAMES} names and objects")
    if names + body.count(b",") + body.count(b"[") > budget.values:
        raise ProblemError(413, f"the body has more than {budget.values} numbers and lists; send {NPY} or {NPZ}")
    if len(body) > _SPARE:
        commas = np.flatnonzero(np.frombuffer(body, np.uint8) == ord(","))
        if np.diff(commas, prepend=-1, append=len(body)).max() > _LONGEST_GAP:
            raise ProblemError(413, f"the body has a number or text of more than {_LONGEST_GAP} characters")


def _decode_json(body: bytes, budget: Budget) -> BodyArguments:
    _check_json(body, budget)
    try:
        document: Any = _DECODER.decode(body.decode() or "{}")
    except (ValueError, RecursionError) as error:
        raise ProblemError(400, f"the body is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise ProblemError(400, f'the body is {{"args": [...], "kwargs": {{...}}}}, got {shown(document)}')
    fields = cast("dict[str, Any]", document)
    if unknown := fields.keys() - {"args", "kwargs", "signature"}:
        raise ProblemError(
            400, f"the body has the unknown field {shown(min(unknown))}; it may have args, kwargs, signature"
        )
    args, kwargs, signature = fields.get("args", []), fields.get("kwargs", {}), fields.get("signature", "")
    for name, value, kind in (("args", args, list), ("kwargs", kwargs, dict), ("signature", signature, str)):
        if not isinstance(value, kind):
            words = {list: "a list", dict: "an object", str: "a string"}[kind]
            raise ProblemError(400, f"{name} is {words}, got {shown(value)}")
    if len(args) > _MOST_ARRAYS:
        raise ProblemError(413, f"the body has more than {_MOST_ARRAYS} arguments")
    return BodyArguments(tuple(cast("list[Any]", args)), cast("dict[str, Any]", kwargs), cast("str", signature))


def _decode_npz(body: bytes, budget: Budget) -> BodyArguments:
    # One more than the budget is read, so that a request with another argument is told its name.
    if body.count(_ENTRY) > budget.arrays + 1:
        raise ProblemError(413, f"the body has more than {budget.arrays} arrays")
    left = budget.array_bytes
    arrays: dict[str, Array] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            for info in archive.infolist():
                if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                    raise ProblemError(400, "an npz file is compressed with deflate, or not at all")
                with archive.open(info) as entry:
                    array = _read_entry(entry, left, info.filename)
                left -= array.nbytes
                arrays[info.filename.removesuffix(".npy")] = array
    except ProblemError:
        raise
    except Exception as error:  # BadZipFile, zlib.error, NotImplementedError and others
        raise ProblemError(400, f"the body is not an npz file: {error}") from None
    args: list[Array] = []
    while (array := arrays.pop(f"{_COUNTED}{len(args)}", None)) is not None:
        args.append(array)
    return BodyArguments(tuple(args), arrays)


_Order = Literal["C", "F"]


def _read_npy(data: bytes) -> Array:
    """Returns an array that shares the memory of the body."""
    shape, order, dtype, start = _header(data[:_MAX_HEADER], "the body")
    return _shaped(memoryview(data)[start:], shape, order, dtype, "the body")


def _read_entry(entry: IO[bytes], limit: int, name: str) -> Array:
    """Reads an array, whatever size the directory of the file claims, as far as its own header claims it."""
    first = entry.read(_MAX_HEADER)
    shape, order, dtype, start = _header(first, name)
    size = math.prod(shape) * dtype.itemsize
    if size > limit:
        raise ProblemError(413, f"{name}: the arrays of the body have more bytes than are taken")
    data = first[start:] + entry.read(max(0, start + size - len(first)))
    data += entry.read(1)  # too much, or the end, where the checksum is compared
    return _shaped(memoryview(data), shape, order, dtype, name)


def _shaped(data: memoryview, shape: tuple[int, ...], order: _Order, dtype: np.dtype[Any], what: str) -> Array:
    try:
        return np.frombuffer(data, dtype).reshape(shape, order=order)
    except ValueError:  # also for an array without elements that has too large axes
        text = f"{what} is not an npy file: it has {len(data)} bytes for {dtype}{list(shape)}"
        raise ProblemError(400, text) from None


def _header(data: bytes, what: str) -> tuple[tuple[int, ...], _Order, np.dtype[Any], int]:
    """Returns the shape, the order and the dtype of an npy file, and the position of its data."""
    file = io.BytesIO(data)
    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = cast("Callable[..., Any]", read)(file, max_header_size=_MAX_HEADER)
        if dtype.hasobject or dtype.kind not in "biufc":
            raise ValueError(f"dtype {dtype} holds no numbers")
        if any(size < 0 for size in shape):
            raise ValueError(f"there is no shape {shape}")
        return shape, "F" if fortran else "C", dtype, file.tell()
    except Exception as error:  # the header is Python text, which may be malformed in many ways
        raise ProblemError(400, f"{what} is not an npy file: {error}".partition("\n")[0]) from None


def _paths(result: Any, root: str = "") -> list[tuple[str, Any]]:
    """Returns the leaves of a result by their npz names: keys joined by dots, arr_0 for the first of a tuple."""
    parts = nest.children(result)
    if parts is None:
        return [(root, result)]
    leaves: list[tuple[str, Any]] = []
    for key, item in zip(*parts, strict=True):
        name = f"{_COUNTED}{key}" if isinstance(key, int) and not isinstance(result, Mapping) else str(key)
        leaves += _paths(item, f"{root}.{name}" if root else name)
    return leaves
