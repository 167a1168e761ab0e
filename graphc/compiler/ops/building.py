"""Functions that build tensors from parts or by calling a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import numpy as np

from graphc.compiler.core import FUNCTIONS, ArrayLike, Tensor
from graphc.compiler.ops.facts import ndim, shape

__all__ = ["apply_along_axis", "apply_over_axes", "array", "block", "einsum_path", "fromfunction", "mask_indices"]


def array(x: ArrayLike, dtype: Any = None, *, copy: bool = True, ndmin: int = 0) -> Tensor:
    """Returns a new tensor from an array-like.

    Args:
      x: a tensor, variable, array, number, or nested list of these.
      dtype: the dtype to convert to; None for the natural one.
      copy: False to return a tensor unchanged; see :func:`graphc.asarray`.
      ndmin: the minimum number of axes; missing ones are prepended with size 1.

    Example:
      >>> import graphc as gx
      >>> gx.array([1, 2], ndmin=2).shape
      (1, 2)
    """
    tensor = FUNCTIONS["asarray"](x, dtype=dtype, copy=True if copy else None)
    missing = ndmin - tensor.ndim
    return FUNCTIONS["expand_dims"](tensor, tuple(range(missing))) if missing > 0 else tensor


def block(arrays: Any) -> Tensor:
    """Assembles blocks: the innermost lists along the last axis, enclosing ones along the axis before.

    Args:
      arrays: tensors in nested lists.

    Example:
      >>> import graphc as gx
      >>> gx.block([[gx.eye(1), gx.zeros((1, 2))], [gx.ones((1, 3))]]).tolist()
      [[1.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    """
    depth = _depth(arrays)
    axes = max(depth, *[ndim(leaf) for leaf in _leaves(arrays)], 0)

    def joined(value: Any, level: int) -> Any:
        if isinstance(value, list):
            parts = [joined(item, level - 1) for item in cast("list[Any]", value)]
            return FUNCTIONS["concat"](parts, axis=-level)
        missing = axes - ndim(value)
        return FUNCTIONS["expand_dims"](value, tuple(range(missing))) if missing else FUNCTIONS["asarray"](value)

    return joined(arrays, depth)


def _depth(value: Any) -> int:
    return 1 + max(map(_depth, cast("list[Any]", value)), default=0) if isinstance(value, list) else 0


def _leaves(value: Any) -> list[Any]:
    if not isinstance(value, list):
        return [value]
    return [leaf for item in cast("list[Any]", value) for leaf in _leaves(item)]


def apply_along_axis(func1d: Callable[..., Any], axis: int, arr: ArrayLike, *args: Any, **kwargs: Any) -> Tensor:
    """Calls a function on every 1-d slice along an axis and puts its results in place of the slices.

    Args:
      func1d: a function of a 1-d tensor whose results all have the same shape.
      axis: the axis of the slices.
      arr: a tensor.
      *args: further arguments of the function.
      **kwargs: further arguments of the function.

    Example:
      >>> import graphc as gx
      >>> gx.apply_along_axis(lambda row: row[0] + row[-1], 1, [[1, 2, 3], [4, 5, 6]]).tolist()
      [4, 10]
    """
    sizes = shape(arr)
    axis = axis % len(sizes)
    rows = FUNCTIONS["reshape"](FUNCTIONS["moveaxis"](arr, axis, -1), (-1, sizes[axis]))
    results = FUNCTIONS["stack"]([func1d(row, *args, **kwargs) for row in FUNCTIONS["unstack"](rows)])
    inner = results.shape[1:]
    outer = sizes[:axis] + sizes[axis + 1 :]
    results = FUNCTIONS["reshape"](results, outer + inner)
    last = tuple(range(len(outer), len(outer) + len(inner)))
    return FUNCTIONS["moveaxis"](results, last, tuple(range(axis, axis + len(inner))))


def apply_over_axes(func: Callable[[Any, int], Any], a: ArrayLike, axes: int | Sequence[int]) -> Tensor:
    """Calls a function of a tensor and an axis for several axes in turn.

    Args:
      func: the function; an axis that it removes is restored with size 1.
      a: a tensor.
      axes: the axes.

    Example:
      >>> import graphc as gx
      >>> gx.apply_over_axes(gx.sum, gx.ones((2, 3, 4)), (0, 2)).tolist()
      [[[8.0], [8.0], [8.0]]]
    """
    result: Any = FUNCTIONS["asarray"](a)
    for axis in (axes,) if isinstance(axes, int) else axes:
        reduced = func(result, axis)
        result = reduced if reduced.ndim == result.ndim else FUNCTIONS["expand_dims"](reduced, axis)
    return result


def fromfunction(function: Callable[..., Any], shape: Sequence[int], *, dtype: Any = float, **kwargs: Any) -> Any:
    """Calls a function once with the coordinates of a grid.

    Args:
      function: a function of one coordinate tensor for each axis.
      shape: the shape of the grid.
      dtype: the dtype of the coordinates.
      **kwargs: further arguments of the function.

    Example:
      >>> import graphc as gx
      >>> gx.fromfunction(lambda i, j: i * 10 + j, (2, 2), dtype=int).tolist()
      [[0, 1], [10, 11]]
    """
    return function(*FUNCTIONS["unstack"](FUNCTIONS["indices"](tuple(shape), dtype=dtype)), **kwargs)


def mask_indices(n: int, mask_func: Callable[..., Any], k: int = 0) -> tuple[Tensor, ...]:
    """Returns the indices at which a mask function keeps the ones of a matrix.

    Args:
      n: the number of rows and columns of the matrix.
      mask_func: a function of a matrix and ``k``, such as :func:`graphc.triu`.
      k: its second argument.

    Example:
      >>> import graphc as gx
      >>> [places.tolist() for places in gx.mask_indices(2, gx.triu)]
      [[0, 0, 1], [0, 1, 1]]
    """
    return FUNCTIONS["nonzero"](mask_func(FUNCTIONS["ones"]((n, n)), k))


def einsum_path(subscripts: str, *operands: ArrayLike, optimize: Any = "greedy") -> tuple[list[Any], str]:
    """Returns the cheapest contraction order for :func:`graphc.einsum`, from the shapes.

    Args:
      subscripts: as for :func:`graphc.einsum`.
      *operands: the tensors; only their shapes matter.
      optimize: the search: ``greedy`` or ``optimal``.

    Returns:
      The path in NumPy's form, and a printable report.
    """
    empty = [np.broadcast_to(np.empty((), np.float32), shape(operand)) for operand in operands]
    path, report = np.einsum_path(subscripts, *empty, optimize=optimize)
    return path, report


for _name in __all__:
    FUNCTIONS.add(_name, globals()[_name])
