"""Tensors of numbers for the layers above, which take no strings."""

from __future__ import annotations

from typing import Any

from graphc.base.errors import InvalidTypeError
from graphc.core import ArrayLike, StringTensor, Tensor, refused
from graphc.ops.conversion import asarray

__all__ = ["as_numbers"]


def as_numbers(x: ArrayLike) -> Tensor:
    """As :func:`graphc.asarray`, for what computes with numbers: strings are refused, as ops refuse them."""
    tensor: Any = asarray(x)
    if isinstance(tensor, StringTensor):
        problem = f"expected a tensor of numbers, got a tensor of strings ({tensor.type}) {tensor.tolist()!r:.60}"
        raise refused(InvalidTypeError(f"{problem}; gx.strings.to_number reads numbers from strings"))
    return tensor
