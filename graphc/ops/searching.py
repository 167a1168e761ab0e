"""Searching functions, and those that take elements by their positions.

Some results have as many elements as the values say; see :mod:`graphc.ops.sets`.
"""

from __future__ import annotations

from functools import wraps
from typing import Any, cast

import jax.numpy as jnp
import numpy as np
from jax import lax

from graphc.core import as_dtype
from graphc.ops.table import define, row
from graphc.ops.values import fitted


def _top_k(x: Any, k: int, axis: int = -1) -> Any:
    return tuple(lax.top_k(x, k, axis=axis))


@wraps(jnp.searchsorted)
def _searchsorted(x1: Any, x2: Any, side: str = "left", sorter: Any = None) -> Any:
    # Of the dtype of positions, as argsort's: JAX takes int32 for itself where that is enough.
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

_ROWS = (
    row(
        "nonzero",
        _nonzero,
        f"x, {_SIZE}",
        "The positions of what is not zero, on each axis.",
        differentiable=False,
        returns="tuple[Tensor, ...]",
        by_value=np.nonzero,
    ),
    row(
        "argwhere",
        jnp.argwhere,
        f"x, {_SIZE}",
        "The positions of what is not zero, a row for each.",
        differentiable=False,
        by_value=np.argwhere,
    ),
    row(
        "flatnonzero",
        jnp.flatnonzero,
        f"x, {_SIZE}",
        "The positions of what is not zero, in the flattened tensor.",
        differentiable=False,
        by_value=np.flatnonzero,
    ),
    row(
        "where",
        jnp.where,
        "condition, x1, x2",
        "x1 where the condition is true, x2 elsewhere.",
        fold=np.where,
        light=True,
    ),
    row(
        "top_k",
        _top_k,
        "x, k: int, axis: int = -1",
        "The k largest elements along axis, largest first, and their positions.",
        returns="tuple[Tensor, Tensor]",
    ),
    row(
        "searchsorted",
        _searchsorted,
        "x1, x2, side: str = 'left', sorter=None",
        "Where in the sorted x1, or x1[sorter], elements of x2 belong: before equals for 'left', after for 'right'.",
        differentiable=False,
    ),
    row(
        "digitize",
        jnp.digitize,
        "x, bins, right: bool = False",
        "Which interval of the monotonic bins each element lies in.",
        differentiable=False,
    ),
    row(
        "bincount",
        jnp.bincount,
        "x, length: int",
        "How often each of 0, 1, ..., length - 1 occurs among non-negative integers.",
        differentiable=False,
    ),
    row("isin", _isin, "x, values, invert: bool = False", "Whether x is among values.", differentiable=False),
    row(
        "interp",
        jnp.interp,
        "x, xp, fp",
        "The value at x of the piecewise linear function through the points (xp, fp), xp ascending.",
    ),
    row(
        "take",
        jnp.take,
        "x, indices, axis: int | None = None",
        "The elements (slices, along axis) at these positions; one out of range is NaN, or the smallest integer.",
    ),
    row(
        "choose",
        _choose,
        "x, choices: Tensors, mode: str = 'clip'",
        "For each element of x the element of the choice that it names; 'clip' or 'wrap' for those out of range.",
    ),
    row(
        "take_along_axis",
        jnp.take_along_axis,
        "x, indices, axis: int = -1",
        "For each position, the element of x along axis that indices names there; NaN out of range.",
    ),
    row(
        "put_along_axis",
        _put_along_axis,
        "x, indices, values, axis: int | None",
        "A copy in which the elements along axis that indices name are values.",
    ),
)

define(globals(), _ROWS)
