"""Arithmetic where zeros, integers or ranges need care, running sums, and tensors scaled by their norms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphc.compiler.core import ArrayLike, Tensor, as_dtype
from graphc.compiler.ops import functions as gx
from graphc.compiler.ops import linalg, nn

__all__ = [
    "as_axes", "clip_by_global_norm", "clip_by_norm", "cumulative", "divide_no_nan", "global_norm", "kept_dtype",
    "l2_normalize", "mean", "multiply_no_nan", "norm", "normalize", "one_hot", "saturate_cast", "truncate_divide",
    "xdivy",
]  # fmt: skip


def as_axes(axes: Any) -> Any:
    """Returns several axes as a tuple, and one, or None, as it is.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.as_axes([0, 1]), gx.arrays.as_axes(2)
      ((0, 1), 2)
    """
    requested: Any = axes
    return tuple(requested) if isinstance(axes, list | tuple) else requested


def mean(x: ArrayLike, axis: Any = None, keepdims: bool = False) -> Tensor:
    """Returns the mean over axes, as an integer for integers: cut towards zero.

    Args:
      x: a tensor.
      axis: an axis or several; all when None.
      keepdims: whether the axes stay, with size 1.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.mean([7, -8, 5]).item(), gx.arrays.mean([1.0, 2.0]).item()
      (1, 1.5)
    """
    tensor = gx.asarray(x)
    if tensor.dtype.kind not in "iu":
        return gx.mean(tensor, axis, keepdims=keepdims)
    total = gx.sum(tensor, axis, dtype=tensor.dtype, keepdims=keepdims)
    count = tensor.size // max(total.size, 1)
    return gx.astype(truncate_divide(total, count), tensor.dtype)


def kept_dtype(x: ArrayLike) -> Any:
    """Returns the dtype of a tensor of integers, which TensorFlow's sums keep; None for other tensors.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.kept_dtype(gx.ones(2, "int8")), gx.arrays.kept_dtype([1.0])
      (dtype('int8'), None)
    """
    dtype = gx.asarray(x).dtype
    return dtype if dtype.kind in "iu" else None


def truncate_divide(x: ArrayLike, y: ArrayLike) -> Tensor:
    """Returns the quotient cut towards zero, of integers or floats.

    Args:
      x: a tensor.
      y: the divisor.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.truncate_divide([-7, 7], 2).tolist()
      [-3, 3]
    """
    if gx.asarray(x).dtype.kind in "iu":
        return gx.floor_divide(gx.subtract(x, gx.fmod(x, y)), y)
    return gx.trunc(gx.divide(x, y))


def divide_no_nan(x: ArrayLike, y: ArrayLike) -> Tensor:
    """Returns the quotient, and 0 where the divisor is 0; gradients are finite there, too.

    Args:
      x: a tensor.
      y: the divisor.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.divide_no_nan([1.0, 3.0], [0.0, 2.0]).tolist()
      [0.0, 1.5]
    """
    zero = gx.equal(y, 0)
    return gx.where(zero, 0, gx.divide(x, gx.where(zero, 1, y)))


def multiply_no_nan(x: ArrayLike, y: ArrayLike) -> Tensor:
    """Returns the product, and 0 where ``y`` is 0, even if ``x`` is infinite or NaN.

    Args:
      x: a tensor.
      y: the other factor.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.multiply_no_nan([float("inf"), 3.0], [0.0, 2.0]).tolist()
      [0.0, 6.0]
    """
    return gx.multiply(gx.where(gx.equal(y, 0), 0, x), y)


def xdivy(x: ArrayLike, y: ArrayLike) -> Tensor:
    """Returns the quotient ``x / y``, and 0 where ``x`` is 0.

    Args:
      x: a tensor.
      y: the divisor.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.xdivy([0.0, 3.0], [0.0, 2.0]).tolist()
      [0.0, 1.5]
    """
    zero = gx.equal(x, 0)
    return gx.where(zero, 0, gx.divide(x, gx.where(zero, 1, y)))


def saturate_cast(value: ArrayLike, dtype: Any) -> Tensor:
    """Returns a tensor of another dtype, in which numbers beyond its range are its nearest.

    Args:
      value: a tensor.
      dtype: the dtype.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.saturate_cast([300.0, -5.0], "uint8").tolist()
      [255, 0]
    """
    wanted, tensor = as_dtype(dtype), gx.asarray(value)
    if tensor.dtype == wanted:
        return tensor
    limits: Any = gx.iinfo(wanted) if wanted.kind in "iu" else gx.finfo(wanted)
    low, high = limits.min, limits.max
    if tensor.dtype.kind == "f" and wanted.kind in "iu":
        # The largest float that the integers hold, which is not always the float of the largest integer.
        of = tensor.dtype.type
        high = float(np.nextafter(of(high), of(0))) if int(of(high)) > high else high
        saturated = gx.astype(gx.clip(tensor, float(low), float(high)), wanted)
        return gx.where(gx.greater_equal(tensor, float(limits.max)), limits.max, saturated)
    if tensor.dtype.kind in "iu":
        have = gx.iinfo(tensor.dtype)
        low, high = max(low, have.min), min(high, have.max)
    return gx.astype(gx.clip(tensor, low, high), wanted)


def cumulative(how: str, x: ArrayLike, axis: int = 0, exclusive: bool = False, reverse: bool = False) -> Tensor:
    """Returns running sums or products of the tensor's dtype.

    Args:
      how: ``"sum"`` or ``"prod"``.
      x: a tensor.
      axis: along which axis.
      exclusive: whether each element itself is left out.
      reverse: whether it begins at the end.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.cumulative("sum", [1, 2, 3], exclusive=True).tolist()
      [0, 1, 3]
    """
    function, first = {"sum": (gx.cumsum, 0), "prod": (gx.cumprod, 1)}[how]
    tensor = gx.asarray(x)
    tensor = gx.flip(tensor, axis) if reverse else tensor
    if exclusive:
        selection = [slice(None)] * tensor.ndim
        selection[axis] = slice(0, -1)
        start = [*tensor.shape]
        start[axis] = 1
        tensor = gx.concat([gx.full(tuple(start), first, dtype=tensor.dtype), tensor[tuple(selection)]], axis)
    result = function(tensor, axis, dtype=tensor.dtype)
    return gx.flip(result, axis) if reverse else result


def l2_normalize(x: ArrayLike, axis: Any = None, epsilon: float = 1e-12) -> Tensor:
    """Returns a tensor scaled to a Euclidean norm of 1 over axes.

    Args:
      x: a tensor.
      axis: an axis or several; all when None.
      epsilon: squared norms below it count as it.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.l2_normalize([3.0, 4.0]).tolist() == gx.asarray([0.6, 0.8]).tolist()
      True
    """
    squares = gx.sum(gx.square(x), axis, keepdims=True)
    return gx.multiply(x, gx.rsqrt(gx.maximum(squares, epsilon)))


def _root(squares: Any) -> Any:
    """Returns the square root, with a gradient of 0 at 0."""
    positive = squares > 0
    return gx.where(positive, gx.sqrt(gx.where(positive, squares, 1)), squares)


def clip_by_norm(t: ArrayLike, clip_norm: Any, axes: Any = None) -> Tensor:
    """Returns a tensor scaled down to a Euclidean norm over axes, where its own is larger.

    Args:
      t: a tensor.
      clip_norm: the norm.
      axes: an axis or several; all when None.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.clip_by_norm([30.0, 40.0], 5.0).tolist()
      [3.0, 4.0]
    """
    length = _root(gx.sum(gx.square(t), axes, keepdims=True))
    return gx.divide(gx.multiply(t, clip_norm), gx.maximum(length, clip_norm))


def global_norm(t_list: Sequence[ArrayLike | None]) -> Tensor:
    """Returns the Euclidean norm of all elements of several tensors (``optax.global_norm``).

    Args:
      t_list: tensors; None among them counts nothing.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.global_norm([[3.0], None, [4.0]]).item()
      5.0
    """
    return gx.sqrt(gx.sum(gx.stack([gx.sum(gx.square(t)) for t in t_list if t is not None])))


def clip_by_global_norm(
    t_list: Sequence[ArrayLike | None], clip_norm: Any, use_norm: Any = None
) -> tuple[list[Tensor | None], Tensor]:
    """Returns several tensors scaled down together to a norm, if theirs is larger, and their norm.

    Args:
      t_list: tensors; None stays.
      clip_norm: the norm.
      use_norm: theirs, if it is known already.

    Example:
      >>> import graphc as gx
      >>> clipped, length = gx.arrays.clip_by_global_norm([[30.0], [40.0]], 5.0)
      >>> [round(one.item(), 3) for one in clipped], length.item()
      ([3.0, 4.0], 50.0)
    """
    length = global_norm(t_list) if use_norm is None else use_norm
    scale = gx.multiply(clip_norm, gx.minimum(gx.divide(1.0, length), gx.divide(1.0, clip_norm)))
    scale = gx.where(gx.isfinite(length), scale, np.nan)
    return [None if t is None else gx.multiply(t, scale) for t in t_list], length


def norm(tensor: ArrayLike, ord: Any = "euclidean", axis: Any = None, keepdims: bool = False) -> Tensor:
    """Returns the norm of vectors, over one axis or all elements, or of matrices, over two axes.

    Args:
      tensor: a tensor.
      ord: ``"euclidean"`` or ``"fro"``, a number, or infinity; of matrices 1, 2 and infinity too.
      axis: one axis, or two for matrices; all elements as one vector when None.
      keepdims: whether the axes stay, with size 1.

    Raises:
      InvalidArgumentError: there is no such norm.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.norm([[3.0, 4.0]], axis=1).tolist(), gx.arrays.norm([[3.0, 4.0]], ord=1).item()
      ([5.0], 7.0)
    """
    axes: Any = as_axes(axis)
    if np.ndim(axes) == 1 and len(axes) == 2:
        return linalg.norm(tensor, "fro" if ord == "euclidean" else ord, axes, bool(keepdims))
    kind = 2 if ord in ("euclidean", "fro") else ord
    return linalg.vector_norm(tensor, axis=axes, keepdims=bool(keepdims), ord=kind)


def normalize(tensor: ArrayLike, ord: Any = "euclidean", axis: Any = None) -> tuple[Tensor, Tensor]:
    """Returns a tensor divided by its norm, and the norm; see :func:`norm`.

    Example:
      >>> import graphc as gx
      >>> unit, length = gx.arrays.normalize([[3.0, 4.0]], ord=1, axis=1)
      >>> length.tolist()
      [[7.0]]
    """
    length = norm(tensor, ord, axis, True)
    return gx.divide(tensor, length), length


def one_hot(
    indices: ArrayLike, depth: int, on_value: Any = None, off_value: Any = None, axis: int | None = None,
    dtype: Any = None,
) -> Tensor:  # fmt: skip
    """Returns one value at the position that each index names on a new axis, and another one elsewhere.

    Args:
      indices: the positions.
      depth: the size of the new axis.
      on_value: 1 when None.
      off_value: 0 when None.
      axis: the position of the new axis; None for the last.
      dtype: of the result; that of the values when None, and float32 if there are none.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.one_hot([1, 0], 2, on_value=5, off_value=-1).tolist()
      [[-1, 5], [5, -1]]
    """
    values = [value for value in (on_value, off_value) if value is not None]
    for value in values:
        dtype = getattr(value, "dtype", None) if dtype is None else dtype
    if dtype is None:
        dtype = gx.asarray(values[0]).dtype if values else "float32"
    axis = -1 if axis is None else axis
    if not values:
        return nn.one_hot(indices, depth, dtype, axis)
    on, off = (1 if on_value is None else on_value), (0 if off_value is None else off_value)
    return gx.astype(gx.where(nn.one_hot(indices, depth, "bool", axis), on, off), dtype)
