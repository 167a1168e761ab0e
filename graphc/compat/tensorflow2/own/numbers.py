"""Compositions: arithmetic and reductions where TensorFlow's rules for zero, integers or norms are its own."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from graphc.compat.tensorflow2.own.sequences import is_sequence
from graphc.core import as_dtype
from graphc.ops import functions as gx
from graphc.ops import linalg, nn

__all__ = [
    "add_n",
    "clip_by_global_norm",
    "clip_by_norm",
    "complex_number",
    "divide_no_nan",
    "global_norm",
    "integer_dtype",
    "l2_normalize",
    "multiply_no_nan",
    "norm",
    "normalize",
    "one_hot",
    "polyval",
    "reduce_mean",
    "running",
    "saturate_cast",
    "truncatediv",
    "xdivy",
]


def integer_dtype(x: Any) -> Any:
    """The dtype of a tensor of integers, which TensorFlow's sums keep; None for other tensors."""
    dtype = x.dtype if hasattr(x, "dtype") else gx.asarray(x).dtype
    return dtype if np.dtype(dtype).kind in "iu" else None


def reduce_mean(x: Any, axis: Any, keepdims: bool) -> Any:
    """The mean over axis; integers give an integer, cut towards zero."""
    x = gx.asarray(x)
    if integer_dtype(x) is None:
        return gx.mean(x, axis, keepdims=keepdims)
    total = gx.sum(x, axis, dtype=x.dtype, keepdims=keepdims)
    count = math.prod(x.shape) // max(math.prod(total.shape), 1)
    return gx.astype(truncatediv(total, count), x.dtype)


def add_n(inputs: Sequence[Any]) -> Any:
    """The sum of several tensors of one shape."""
    return functools.reduce(gx.add, map(gx.asarray, inputs))


def truncatediv(x: Any, y: Any) -> Any:
    """The quotient cut towards zero, of integers or floats."""
    return gx.floor_divide(gx.subtract(x, gx.fmod(x, y)), y) if integer_dtype(gx.asarray(x)) else gx.trunc(x / y)


def divide_no_nan(x: Any, y: Any) -> Any:
    """The quotient, and 0 where the divisor is 0."""
    zero = gx.equal(y, 0)
    return gx.where(zero, 0, gx.divide(x, gx.where(zero, 1, y)))


def multiply_no_nan(x: Any, y: Any) -> Any:
    """The product, and 0 where y is 0, even if x is infinite or NaN."""
    return gx.multiply(gx.where(gx.equal(y, 0), 0, x), y)


def xdivy(x: Any, y: Any) -> Any:
    """The quotient x / y, and 0 where x is 0."""
    zero = gx.equal(x, 0)
    return gx.where(zero, 0, gx.divide(x, gx.where(zero, 1, y)))


def complex_number(real: Any, imag: Any) -> Any:
    """A complex tensor of its real and imaginary parts."""
    return gx.add(real, gx.multiply(gx.asarray(imag), 1j))


def polyval(coeffs: Sequence[Any], x: Any) -> Any:
    """A polynomial at x, the coefficient of the highest power first."""
    if not coeffs:
        return gx.zeros_like(x)
    return functools.reduce(lambda total, coefficient: total * x + coefficient, map(gx.asarray, coeffs))


def saturate_cast(value: Any, dtype: Any) -> Any:
    """Converted to dtype, numbers beyond its range to its nearest."""
    wanted = as_dtype(dtype)
    limits: Any = gx.iinfo(wanted) if wanted.kind in "iu" else gx.finfo(wanted)
    value = gx.asarray(value)
    if value.dtype == wanted:
        return value
    low, high = limits.min, limits.max
    if value.dtype.kind == "f" and wanted.kind in "iu":
        # The largest float that the integers hold, which is not always the float of the largest integer.
        high = (
            float(np.nextafter(value.dtype.type(high), value.dtype.type(0)))
            if int(value.dtype.type(high)) > high
            else high
        )
        saturated = gx.astype(gx.clip(value, float(low), float(high)), wanted)
        return gx.where(gx.greater_equal(value, float(limits.max)), limits.max, saturated)
    if value.dtype.kind in "iu":
        have = gx.iinfo(value.dtype)
        low, high = max(low, have.min), min(high, have.max)
    return gx.astype(gx.clip(value, low, high), wanted)


def running(function: Callable[..., Any], first: Any, x: Any, axis: int, exclusive: bool, reverse: bool) -> Any:
    """Running sums or products; exclusive ones leave each element itself out, reversed ones begin at the end."""
    x = gx.asarray(x)
    x = gx.flip(x, axis) if reverse else x
    if exclusive:
        kept = [slice(None)] * x.ndim
        kept[axis] = slice(0, -1)
        start = [*x.shape]
        start[axis] = 1
        x = gx.concat([gx.full(tuple(start), first, dtype=x.dtype), x[tuple(kept)]], axis)
    result = function(x, axis, dtype=x.dtype)
    return gx.flip(result, axis) if reverse else result


def l2_normalize(x: Any, axis: Any, epsilon: float) -> Any:
    """The tensor scaled to a Euclidean norm of 1 over axis; norms below the root of epsilon count as that."""
    squares = gx.sum(gx.square(x), axis, keepdims=True)
    return gx.multiply(x, gx.rsqrt(gx.maximum(squares, epsilon)))


def _root(squares: Any) -> Any:
    """The square root, with a gradient of 0 at 0."""
    positive = squares > 0
    return gx.where(positive, gx.sqrt(gx.where(positive, squares, 1)), squares)


def clip_by_norm(t: Any, clip_norm: Any, axes: Any) -> Any:
    """The tensor scaled down to a Euclidean norm of clip_norm over axes, where it is larger."""
    length = _root(gx.sum(gx.square(t), axes, keepdims=True))
    return gx.divide(gx.multiply(t, clip_norm), gx.maximum(length, clip_norm))


def global_norm(t_list: Sequence[Any]) -> Any:
    """The Euclidean norm of all elements of several tensors; None among them counts nothing."""
    squares = [gx.sum(gx.square(t)) for t in t_list if t is not None]
    return gx.sqrt(add_n(squares))


def clip_by_global_norm(t_list: Sequence[Any], clip_norm: Any, use_norm: Any) -> tuple[list[Any], Any]:
    """Several tensors scaled down together to a norm of clip_norm, if theirs is larger, and their norm."""
    length = global_norm(t_list) if use_norm is None else use_norm
    scale = gx.multiply(clip_norm, gx.minimum(gx.divide(1.0, length), gx.divide(1.0, clip_norm)))
    scale = gx.where(gx.isfinite(length), scale, np.nan)
    return [None if t is None else gx.multiply(t, scale) for t in t_list], length


def norm(tensor: Any, ord: Any, axis: Any, keepdims: Any) -> Any:
    """The norm of vectors, one axis or all elements, or of matrices, two axes."""
    tensor = gx.asarray(tensor)
    pair = is_sequence(axis) and len(axis) == 2
    keepdims = bool(keepdims)
    if ord in ("euclidean", "fro") or (ord == 2 and not pair):
        squares = gx.sum(gx.real(gx.multiply(tensor, gx.conj(tensor))), axis, keepdims=keepdims)
        return gx.sqrt(squares)
    if pair and ord == 2:
        values = _singular_values(tensor, axis)
        largest = gx.max(values, -1)
        return gx.expand_dims(largest, tuple(axis)) if keepdims else largest
    sizes = gx.abs(tensor)
    if pair and ord in (1, np.inf):
        rows, columns = (one % tensor.ndim for one in axis)
        summed, rest = (rows, columns) if ord == 1 else (columns, rows)
        found = gx.max(gx.sum(sizes, summed, keepdims=True), rest, keepdims=True)
        return found if keepdims else gx.squeeze(found, (rows, columns))
    if pair:
        raise ValueError(f"tf.norm: ord of matrices is 'euclidean', 'fro', 1, 2 or inf, got {ord!r}")
    if ord == np.inf:
        return gx.max(sizes, axis, keepdims=keepdims)
    if ord == 1:
        return gx.sum(sizes, axis, keepdims=keepdims)
    return gx.pow(gx.sum(gx.pow(sizes, ord), axis, keepdims=keepdims), 1.0 / ord)


def _singular_values(x: Any, axes: Any) -> Any:
    """The singular values of matrices whose rows and columns lie along two axes."""
    return linalg.svdvals(gx.moveaxis(x, tuple(axes), (-2, -1)))


def normalize(tensor: Any, ord: Any, axis: Any) -> tuple[Any, Any]:
    """The tensor divided by its norm over axis, and the norm."""
    length = norm(tensor, ord, axis, True)
    return gx.divide(tensor, length), length


def one_hot(indices: Any, depth: int, on_value: Any, off_value: Any, axis: Any, dtype: Any) -> Any:
    """on_value at the position that each index names on a new axis, off_value elsewhere."""
    for value in (on_value, off_value):
        dtype = getattr(value, "dtype", None) if dtype is None else dtype
    if dtype is None:
        given = [value for value in (on_value, off_value) if value is not None]
        dtype = gx.asarray(given[0]).dtype if given else "float32"
    axis = -1 if axis is None else axis
    if on_value is None and off_value is None:
        return nn.one_hot(indices, depth, dtype, axis)
    on, off = (1 if on_value is None else on_value), (0 if off_value is None else off_value)
    return gx.astype(gx.where(nn.one_hot(indices, depth, "bool", axis), on, off), dtype)
