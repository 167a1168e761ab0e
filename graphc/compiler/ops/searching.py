"""Searching functions, and functions that take elements by index.

Some results have a data-dependent size; see :mod:`graphc.compiler.ops.searching`.
"""

from __future__ import annotations

from functools import partial, wraps
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax as _lax

from graphc.compiler.core import as_dtype
from graphc.compiler.ops.table import define, row
from graphc.compiler.ops.values import fitted

lax: Any = _lax  # its functions are only partly annotated


def _top_k(x: Any, k: int, axis: int = -1) -> Any:
    return tuple(lax.top_k(x, k, axis=axis))


@wraps(jnp.where)
def _where(condition: Any, x1: Any, x2: Any) -> Any:
    # jnp.where is a function of its own for JAX, which takes as long to trace and compile as three selects.
    alike = all(isinstance(value, jax.Array) for value in (condition, x1, x2)) and x1.dtype == x2.dtype != bool
    if alike and x1.shape == x2.shape and condition.shape in ((), x1.shape) and condition.dtype == bool:
        return lax.select(condition, x1, x2)
    return jnp.where(condition, x1, x2)


@wraps(jnp.searchsorted)
def _searchsorted(x1: Any, x2: Any, side: str = "left", sorter: Any = None) -> Any:
    # In the dtype of indices, like argsort: JAX uses int32 if that suffices.
    return jnp.searchsorted(x1, x2, side=side, sorter=sorter).astype(as_dtype(int))


def _choose(x: Any, *choices: Any, mode: str = "clip") -> Any:
    return jnp.choose(x, choices, mode=mode)


def _put_along_axis(x: Any, indices: Any, values: Any, axis: int | None) -> Any:
    return jnp.put_along_axis(x, indices, fitted(values, x), axis, inplace=False)


def _isin(x: Any, values: Any, invert: bool = False) -> Any:
    return jnp.isin(x, values, invert=invert)


def _nonzero(x: Any, size: int, fill_value: Any = None) -> Any:
    return cast("Any", jnp.nonzero)(x, size=size, fill_value=fill_value)


_SIZE = "size: Size = None, fill_value: float | None = None"

_SEARCHING_ROWS = (
    row("nonzero", _nonzero, f"x, {_SIZE}",
        "The indices of the nonzero elements, for each axis.", differentiable=False, returns="tuple[Tensor, ...]",
        by_value=np.nonzero),
    row("argwhere", jnp.argwhere, f"x, {_SIZE}",
        "The indices of the nonzero elements, one row each.", differentiable=False, by_value=np.argwhere),
    row("flatnonzero", jnp.flatnonzero, f"x, {_SIZE}",
        "The flat indices of the nonzero elements.", differentiable=False, by_value=np.flatnonzero),
    row("where", _where, "condition, x1, x2",
        "x1 where the condition is true, x2 elsewhere.", fold=np.where, light=True),
    row("top_k", _top_k, "x, k: int, axis: int = -1",
        "The k largest elements along axis, in descending order, and their indices.", returns="tuple[Tensor, Tensor]"),
    row("searchsorted", _searchsorted, "x1, x2, side: str = 'left', sorter=None",
        "The indices at which to insert x2 into sorted x1, or x1[sorter]; side decides about equal elements.",
        differentiable=False),
    row("digitize", jnp.digitize, "x, bins, right: bool = False",
        "The index of the interval between monotonic bins that contains each element.", differentiable=False),
    row("bincount", jnp.bincount, "x, length: int",
        "The count of each of 0, 1, ..., length - 1 among nonnegative integers.", differentiable=False),
    row("isin", _isin, "x, values, invert: bool = False",
        "True where an element of x is in values.", differentiable=False),
    row("interp", jnp.interp, "x, xp, fp",
        "The piecewise linear interpolation at x through the points (xp, fp), with ascending xp."),
    row("take", jnp.take, "x, indices, axis: int | None = None",
        "The elements, or slices along axis, at indices; NaN or the smallest integer if out of range."),
    row("choose", _choose, "x, choices: Tensors, mode: str = 'clip'",
        "The elements of choices selected by x; mode is 'clip' or 'wrap' for indices out of range."),
    row("take_along_axis", jnp.take_along_axis, "x, indices, axis: int = -1",
        "The elements of x at indices along axis, position by position; NaN out of range."),
    row("put_along_axis", _put_along_axis, "x, indices, values, axis: int | None",
        "A copy with values stored at indices along axis."),
)  # fmt: skip


# Sorting functions.

_SORT = "x, axis: int = -1, descending: bool = False, stable: bool = True"


def _lexsort(*keys: Any, axis: int = -1) -> Any:
    return jnp.lexsort(keys, axis=axis)


_SORTING_ROWS = (
    row("partition", jnp.partition, "x, kth: int, axis: int = -1",
        "The tensor partitioned along axis: no element before index kth is larger, none after it smaller."),
    row("argpartition", jnp.argpartition, "x, kth: int, axis: int = -1",
        "The indices that partition along axis.", differentiable=False),
    row("lexsort", _lexsort, "keys: Tensors, axis: int = -1",
        "The indices that sort by several keys, of which the last is the primary one.", differentiable=False),
    row("sort_complex", jnp.sort_complex, "x", "The tensor sorted along the last axis, as complex numbers."),
    row("sort", jnp.sort, _SORT, "The tensor sorted along axis."),
    row("argsort", jnp.argsort, _SORT, "The indices that sort along axis.", differentiable=False),
)  # fmt: skip


# Set functions, whose results have a data-dependent size.
#
# In eager code NumPy computes them. A graph needs static shapes: there ``size`` is the number of results to keep,
# padded if necessary, as in JAX.


def _unique_values(x: Any, size: int, fill_value: Any = None) -> Any:
    return cast("Any", jnp.unique)(x, size=size, fill_value=fill_value, equal_nan=False)


def _unique_counts(x: Any, size: int, fill_value: Any = None) -> Any:
    return tuple(jnp.unique_counts(x, size=size, fill_value=fill_value))


def _unique_inverse(x: Any, size: int, fill_value: Any = None) -> Any:
    return tuple(jnp.unique_inverse(x, size=size, fill_value=fill_value))


def _unique_all(x: Any, size: int, fill_value: Any = None) -> Any:
    return tuple(jnp.unique_all(x, size=size, fill_value=fill_value))


def _unique(
    x: Any, size: int, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False,
    axis: int | None = None, fill_value: Any = None,
) -> Any:  # fmt: skip
    asked = (return_index, return_inverse, return_counts)
    return cast("Any", jnp.unique)(x, *asked, axis, size=size, fill_value=fill_value)


_SETS = f"x1, x2, {_SIZE}"

_SETS_ROWS = (
    row(
        "unique",
        _unique,
        "x, return_index: bool = False, return_inverse: bool = False, return_counts: bool = False, "
        f"axis: int | None = None, {_SIZE}",
        "The distinct values, ascending; optionally with first indices, inverse indices and counts.",
        differentiable=False,
        returns="Tensor | tuple[Tensor, ...]",
        by_value=np.unique,
    ),
    row("unique_values", _unique_values, f"x, {_SIZE}",
        "The distinct values, ascending; each NaN is distinct.", differentiable=False,
        by_value=partial(np.unique, equal_nan=False)),
    row("unique_counts", _unique_counts, f"x, {_SIZE}",
        "The distinct values and their counts.", differentiable=False, returns="UniqueCountsResult",
        by_value=np.unique_counts),
    row("unique_inverse", _unique_inverse, f"x, {_SIZE}",
        "The distinct values, and the index of each element among them.", differentiable=False,
        returns="UniqueInverseResult", by_value=np.unique_inverse),
    row("unique_all", _unique_all, f"x, {_SIZE}",
        "The distinct values, their first indices, the index of each element among them, and their counts.",
        differentiable=False, returns="UniqueAllResult", by_value=np.unique_all),
    row("union1d", jnp.union1d, _SETS,
        "The values that are in one of two tensors.", differentiable=False, by_value=np.union1d),
    row("intersect1d", jnp.intersect1d, _SETS,
        "The values that are in both of two tensors.", differentiable=False, by_value=np.intersect1d),
    row("setdiff1d", jnp.setdiff1d, _SETS,
        "The values of x1 that are not in x2.", differentiable=False, by_value=np.setdiff1d),
    row("setxor1d", jnp.setxor1d, _SETS,
        "The values that are in exactly one of two tensors.", differentiable=False, by_value=np.setxor1d),
)  # fmt: skip


define(globals(), (*_SEARCHING_ROWS, *_SORTING_ROWS, *_SETS_ROWS))
