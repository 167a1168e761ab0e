"""Conversion to numeric tensors, for the layers above."""

from __future__ import annotations

from typing import Any

from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import ArrayLike, StringTensor, Tensor, refused
from graphc.compiler.ops.conversion import asarray

__all__ = ["as_numbers", "as_wide"]


def as_numbers(x: ArrayLike) -> Tensor:
    """Converts like :func:`graphc.asarray`, but refuses strings, as numeric ops do."""
    tensor: Any = asarray(x)
    if isinstance(tensor, StringTensor):
        problem = f"expected a tensor of numbers, got a tensor of strings ({tensor.type}) {tensor.tolist()!r:.60}"
        raise refused(InvalidTypeError(f"{problem}; gx.strings.to_number parses numbers"))
    return tensor


def as_wide(tensor: Tensor) -> Tensor:
    """Returns a floating tensor in at least float32, for accumulating sums; other tensors as they are."""
    narrow = tensor.type.is_inexact and tensor.dtype.itemsize < 4
    return asarray(tensor, "float32") if narrow else tensor
