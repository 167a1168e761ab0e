"""Bodies: the arguments of requests and the results in answers, as JSON and in NumPy's npy and npz formats."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping
from typing import Any, cast

import numpy as np
from numpy.lib import format as npy

from graphc.base import nest
from graphc.base.errors import UnimplementedError
from graphc.serve.http.forms import Arguments
from graphc.serve.http.numbers import plain, portable
from graphc.serve.http.problems import ProblemError
from graphc.serve.rows import Array

__all__ = ["JSON", "NPY", "NPZ", "decode", "encode", "media_type", "negotiate"]

JSON, NPY, NPZ = "application/json", "application/x-npy", "application/x-npz"

_FORM = "application/x-www-form-urlencoded"  # the content type of curl -d
_MAX_HEADER = 10_000
_COUNTED = "arr_"
"""Prefix of the names that NumPy gives unnamed arrays in an npz file: arr_0, arr_1."""


def media_type(header: str) -> str:
    """Returns the media type of a Content-Type header; JSON if the header is missing.

    Raises:
      ProblemError: bodies of that type are not supported.
    """
    found = header.partition(";")[0].strip().lower() or JSON
    if found not in (JSON, NPY, NPZ):
        hint = f" (curl --json, or -H 'content-type: {JSON}')" if found == _FORM else ""
        raise ProblemError(415, f"a body of {found} cannot be read; send {JSON}{hint}, {NPY} or {NPZ}")
    return found


def negotiate(accept: str, sent: str) -> str:
    """Returns the media type of the answer.

    Args:
      accept: the Accept header of the request.
      sent: the type of the request's body, which is the default for the answer.

    Raises:
      ProblemError: the header names types that no answer has.
    """
    wanted = [part.partition(";")[0].strip().lower() for part in accept.split(",") if part.strip()]
    if not wanted or {"*/*", "application/*"} & {*wanted}:
        return next((each for each in wanted if each in (JSON, NPY, NPZ)), sent)
    for each in wanted:
        if each in (JSON, NPY, NPZ):
            return each
    raise ProblemError(406, f"an answer has the type {JSON}, {NPY} or {NPZ}, not {accept:.60}")


def decode(kind: str, body: bytes, limit: int) -> Arguments:
    """Decodes the arguments in a body.

    Args:
      kind: its media type.
      body: the bytes. JSON is ``{"args": [...], "kwargs": {...}, "signature": "..."}``, each of which may be left out;
        npy is the only argument; npz has arguments by name, and those named ``arr_0``, ``arr_1`` are positional.
      limit: the maximum number of bytes of the arrays in an npz body.

    Raises:
      ProblemError: the body is malformed; the message says where.
    """
    if kind == NPY:
        return Arguments((_read_npy(body, "the body"),))
    return _decode_npz(body, limit) if kind == NPZ else _decode_json(body)


def encode(kind: str, result: Any) -> tuple[str, bytes]:
    """Encodes an answer; returns its media type and its body.

    Args:
      kind: the requested type. A result with several arrays becomes an npz if npy was requested.
      result: the function's result, with NumPy arrays.

    Raises:
      ProblemError: the result cannot be written in this type.
    """
    if kind == JSON:
        try:
            found = plain(result)
        except UnimplementedError as error:
            raise ProblemError(406, error.message, kind=type(error).__name__) from None
        return JSON, json.dumps({"result": found}, separators=(",", ":"), allow_nan=False).encode()
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


_MOST_NESTED = 64


def _depth(value: Any) -> int:
    """Returns the nesting depth of lists and objects, up to the limit."""
    depth, level = 0, [value]
    while level and depth <= _MOST_NESTED:
        lists = [cast("list[Any]", one) for one in level if isinstance(one, list)]
        objects = [cast("dict[str, Any]", one) for one in level if isinstance(one, dict)]
        depth += bool(lists or objects)
        level = [part for inner in (*lists, *[one.values() for one in objects]) for part in inner]
    return depth


def _decode_json(body: bytes) -> Arguments:
    try:
        found: Any = json.loads(body or b"{}", parse_constant=lambda name: name)
    except (ValueError, RecursionError) as error:
        raise ProblemError(400, f"the body is not JSON: {error}") from None
    if _depth(found) > _MOST_NESTED:
        raise ProblemError(400, f"the body nests deeper than {_MOST_NESTED} lists and objects")
    if not isinstance(found, dict):
        raise ProblemError(400, f'the body is {{"args": [...], "kwargs": {{...}}}}, got {found!r:.60}')
    fields = cast("dict[str, Any]", found)
    if unknown := fields.keys() - {"args", "kwargs", "signature"}:
        raise ProblemError(400, f"the body has the unknown field {min(unknown)!r}; it may have args, kwargs, signature")
    args, kwargs, signature = fields.get("args", []), fields.get("kwargs", {}), fields.get("signature", "")
    for name, value, kind in (("args", args, list), ("kwargs", kwargs, dict), ("signature", signature, str)):
        if not isinstance(value, kind):
            words = {list: "a list", dict: "an object", str: "a string"}[kind]
            raise ProblemError(400, f"{name} is {words}, got {value!r:.60}")
    return Arguments(tuple(cast("list[Any]", args)), cast("dict[str, Any]", kwargs), cast("str", signature))


def _decode_npz(body: bytes, limit: int) -> Arguments:
    try:
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            infos = archive.infolist()
            if sum(info.file_size for info in infos) > limit:
                raise ProblemError(413, f"the arrays of the body have more than {limit} bytes")
            arrays = {
                info.filename.removesuffix(".npy"): _read_npy(archive.read(info), info.filename) for info in infos
            }
    except ProblemError:
        raise
    except Exception as error:  # BadZipFile, zlib.error, LZMAError, NotImplementedError and others
        raise ProblemError(400, f"the body is not an npz file: {error}") from None
    args: list[Array] = []
    while (array := arrays.pop(f"{_COUNTED}{len(args)}", None)) is not None:
        args.append(array)
    return Arguments(tuple(args), arrays)


def _read_npy(data: bytes, what: str) -> Array:
    """Reads an array without allocating more than the data needs: NumPy trusts the shape in the header."""
    file = io.BytesIO(data)
    try:
        version = npy.read_magic(file)
        read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, fortran, dtype = cast("Callable[..., Any]", read)(file, max_header_size=_MAX_HEADER)
        if dtype.hasobject or dtype.kind not in "biufc":
            raise ValueError(f"dtype {dtype} holds no numbers")
        if any(size < 0 for size in shape):
            raise ValueError(f"there is no shape {shape}")
        found = np.frombuffer(data, dtype, offset=file.tell())
        return found.reshape(shape, order="F" if fortran else "C")
    except Exception as error:  # the header is Python text, which may be malformed in many ways
        raise ProblemError(400, f"{what} is not an npy file: {error}".partition("\n")[0]) from None


def _paths(result: Any, root: str = "") -> list[tuple[str, Any]]:
    """Returns the leaves of a result by their npz names: keys joined by dots, arr_0 for the first of a tuple."""
    parts = nest.children(result)
    if parts is None:
        return [(root, result)]
    found: list[tuple[str, Any]] = []
    for key, item in zip(*parts, strict=True):
        name = f"{_COUNTED}{key}" if isinstance(key, int) and not isinstance(result, Mapping) else str(key)
        found += _paths(item, f"{root}.{name}" if root else name)
    return found
