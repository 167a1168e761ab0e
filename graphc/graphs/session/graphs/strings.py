"""Array functions of strings in graphs: each is a host op that applies the rule for strings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphc.compiler.base import at, nest, user_location
from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import STRING, STRING_RULES, as_strings, bytes_array
from graphc.compiler.ir import OPEN, OPS, Attrs, Graph, OpDef, TensorType, widen

__all__ = ["string_op"]


def string_op(op: OpDef, types: Sequence[TensorType], attrs: Attrs) -> tuple[OpDef, Attrs]:
    """Returns the host op that does for strings what ``op`` does for numbers, and its attributes.

    Raises:
      InvalidTypeError: the op takes no strings.
    """
    if op.name not in STRING_RULES:
        given = ", ".join(map(str, types))
        error = InvalidTypeError(
            f"{op.name}({given}): strings are no numbers; gx.strings.to_number reads numbers from strings"
        )
        raise at(error, user_location())
    return _ON_STRINGS, Attrs({"op": op.name, **attrs})


def _run(*arrays: Any, op: str, **attrs: Any) -> tuple[Any, ...]:
    texts = [_decoded(array) if array.dtype == STRING else array for array in arrays]
    results = nest.as_tuple(STRING_RULES[op].function(*texts, **attrs))
    return tuple(_encoded(result) for result in results)


def _decoded(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    found = as_strings(array)
    return array if found is None else found.__array__()


def _encoded(result: Any) -> np.ndarray[Any, Any]:
    if isinstance(result, str):
        return bytes_array(result)
    array = np.asarray(result)
    return bytes_array(array) if array.dtype == STRING else array


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    """Infers the types by a run on dummy strings, with two sizes for each open one."""
    del regions
    found = [_run(*[_sample(type, size) for type in types], **attrs) for size in (2, 3)]
    columns = zip(*[[TensorType(array.shape, array.dtype) for array in arrays] for arrays in found], strict=True)
    ranked = all(type.ranked for type in types)
    return tuple(widen(column) if ranked else TensorType((), column[0].dtype, ranked=False) for column in columns)


def _sample(type: TensorType, size: int) -> np.ndarray[Any, Any]:
    shape = [size if axis == OPEN else axis for axis in type.shape]
    return np.full(shape, b"0", object) if type.dtype == STRING else np.zeros(shape, type.dtype)


_ON_STRINGS = OPS.add(
    "on_strings",
    OpDef("on_strings", _run, _types, ("*values",), differentiable=False, host=True, doc="Another op, on strings."),
)
