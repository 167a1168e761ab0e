"""Tensors of numbers for the layers above, which take no strings."""

from __future__ import annotations

from typing import Any

from graphc.base.errors import InvalidTypeError
from graphc.core import ArrayLike, StringTensor, Tensor, refused
from graphc.ops.conversion import asarray

__all__ = ["as_numbers", "as_wide"]


def as_numbers(x: ArrayLike) -> Tensor:
    """As :func:`graphc.asarray`, for what computes with numbers: strings are refused, as ops refuse them."""
    tensor: Any = asarray(x)
    if isinstance(tensor, StringTensor):
        problem = f"expected a tensor of numbers, got a tensor of strings ({tensor.type}) {tensor.tolist()!r:.60}"
        raise refused(InvalidTypeError(f"{problem}; gx.strings.to_number reads numbers from strings"))
    return tensor


def as_wide(tensor: Tensor) -> Tensor:
    """Returns a tensor of a floating dtype in at least float32, in which sums are taken; another as it is."""
    narrow = tensor.type.is_inexact and tensor.dtype.itemsize < 4
    return asarray(tensor, "float32") if narrow else tensor
