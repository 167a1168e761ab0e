"""Numbers from the bytes of strings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import (
    STRING,
    Tensor,
    apply,
    as_dtype,
    bytes_array,
    host_tensor,
    in_graph,
    is_string_dtype,
    refused,
)
from graphc.compiler.ir import OPEN, Attrs, Graph, TensorType, define_op
from graphc.compiler.ops.strings.given import Texts, failed, texts

__all__ = ["decode_raw"]


def decode_raw(
    input_bytes: Texts, out_type: Any, little_endian: bool = True, fixed_length: int | None = None
) -> Tensor:
    """Interprets the bytes of each string as numbers.

    Args:
      input_bytes: a tensor of strings, all of the same number of bytes unless ``fixed_length`` is given.
      out_type: the dtype of the bytes.
      little_endian: whether the first byte of a number is the least significant.
      fixed_length: the length to which each string is cut or zero-padded, in bytes; a multiple of the item size.

    Returns:
      A tensor with the shape of ``input_bytes`` and an axis for the numbers of a string.

    Raises:
      InvalidArgumentError: the strings have different lengths, or lengths that are not a multiple of the item size.
      InvalidTypeError: the dtype is that of strings.

    Example:
      >>> import graphc as gx
      >>> gx.strings.decode_raw(["ab", "cd"], gx.uint8).tolist()
      [[97, 98], [99, 100]]
    """
    kind = getattr(out_type, "as_numpy_dtype", out_type)
    if is_string_dtype(kind) or kind == STRING:
        raise refused(InvalidTypeError("strings.decode_raw: out_type must be a dtype of numbers, got that of strings"))
    wide = jnp.dtype(kind)
    if fixed_length is not None and (fixed_length <= 0 or fixed_length % wide.itemsize):
        size = f"{wide.itemsize}, the size of {wide.name}"
        raise failed("decode_raw", f"fixed_length is {fixed_length}, expected a positive multiple of {size}")
    length = None if fixed_length is None else int(fixed_length)
    attrs = Attrs(dtype=wide, result=as_dtype(wide), little_endian=bool(little_endian), fixed_length=length)
    if in_graph(input_bytes):
        return apply(RAW, (input_bytes,), attrs)
    return host_tensor(_raw(bytes_array(texts("decode_raw", "input_bytes", input_bytes)), **attrs))


def _raw(
    strings: np.ndarray[Any, Any], *, dtype: np.dtype[Any], result: np.dtype[Any], little_endian: bool,
    fixed_length: int | None,
) -> np.ndarray[Any, Any]:  # fmt: skip
    items: list[bytes] = strings.ravel().tolist()
    if fixed_length is not None:
        items = [item[:fixed_length].ljust(fixed_length, b"\0") for item in items]
    length = len(items[0]) if items else 0
    if length % dtype.itemsize:
        problem = f"a string of {length} bytes, which is not a multiple of {dtype.itemsize}, the size of {dtype.name}"
        raise failed("decode_raw", problem)
    for number, item in enumerate(items):
        if len(item) != length:
            problem = (
                f"all strings must have the same number of bytes, but element {number} has {len(item)} and the first "
                f"{length}"
            )
            raise failed("decode_raw", f"{problem}; pass fixed_length to cut or pad them")
    # A dtype of ml_dtypes has no byte order: its bytes are swapped like those of an int.
    units = np.frombuffer(b"".join(items), f"{'<' if little_endian else '>'}u{_unit(dtype)}")
    numbers = units.astype(units.dtype.newbyteorder("=")).view(dtype)
    return _fitted(numbers, result).reshape(*strings.shape, length // dtype.itemsize if items else 0)


def _unit(dtype: np.dtype[Any]) -> int:
    """Returns the size in bytes of the unit with a byte order: a complex number is two numbers."""
    return dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize


def _fitted(numbers: np.ndarray[Any, Any], dtype: np.dtype[Any]) -> np.ndarray[Any, Any]:
    """Returns the numbers in the dtype that tensors have here; raises for ints that it cannot hold."""
    if numbers.dtype == bool:
        return numbers.view(np.uint8) != 0
    converted = numbers.astype(dtype)
    if dtype.kind in "iu" and not np.array_equal(converted, numbers):
        problem = (
            f"strings.decode_raw: {dtype.name} stands for {numbers.dtype.name} while gx.config.enable_x64 is False, "
            "and cannot hold all of these numbers; set that to True"
        )
        raise refused(InvalidArgumentError(problem))
    return converted


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    (strings,) = types
    if strings.dtype != STRING:
        raise InvalidTypeError(f"strings.decode_raw: input_bytes must be a tensor of strings, got {strings}")
    length = attrs["fixed_length"]
    size = OPEN if length is None else length // attrs["dtype"].itemsize
    shape = (*strings.shape, size) if strings.ranked else ()
    return (replace(strings, shape=shape, dtype=attrs["result"]),)


RAW = define_op(
    "strings.decode_raw",
    impl=_raw,
    infer=_types,
    params=("input_bytes",),
    differentiable=False,
    host=True,
    doc="The bytes of each string as numbers.",
)
