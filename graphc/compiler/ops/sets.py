"""Set functions, whose results have a data-dependent size.

In eager code NumPy computes them. A graph needs static shapes: there ``size`` is the number of results to keep, padded
if necessary, as in JAX.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import jax.numpy as jnp
import numpy as np

from graphc.compiler.ops.table import define, row


def _unique_values(x: Any, size: int, fill_value: Any = None) -> Any:
    return cast("Any", jnp.unique)(x, size=size, fill_value=fill_value, equal_nan=False)


def _unique_counts(x: Any, size: int, fill_value: Any = None) -> Any:
    return tuple(jnp.unique_counts(x, size=size, fill_value=fill_value))


def _unique_inverse(x: Any, size: int, fill_value: Any = None) -> Any:
    return tuple(jnp.unique_inverse(x, size=size, fill_value=fill_value))


def _unique_all(x: Any, size: int, fill_value: Any = None) -> Any:
    return tuple(jnp.unique_all(x, size=size, fill_value=fill_value))


def _unique(
    x: Any,
    size: int,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    fill_value: Any = None,
) -> Any:
    asked = (return_index, return_inverse, return_counts)
    return cast("Any", jnp.unique)(x, *asked, axis, size=size, fill_value=fill_value)


_SIZE = "size: Size = None, fill_value: float | None = None"
_SETS = f"x1, x2, {_SIZE}"

_ROWS = (
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
    row(
        "unique_values",
        _unique_values,
        f"x, {_SIZE}",
        "The distinct values, ascending; each NaN is distinct.",
        differentiable=False,
        by_value=partial(np.unique, equal_nan=False),
    ),
    row(
        "unique_counts",
        _unique_counts,
        f"x, {_SIZE}",
        "The distinct values and their counts.",
        differentiable=False,
        returns="UniqueCountsResult",
        by_value=np.unique_counts,
    ),
    row(
        "unique_inverse",
        _unique_inverse,
        f"x, {_SIZE}",
        "The distinct values, and the index of each element among them.",
        differentiable=False,
        returns="UniqueInverseResult",
        by_value=np.unique_inverse,
    ),
    row(
        "unique_all",
        _unique_all,
        f"x, {_SIZE}",
        "The distinct values, their first indices, the index of each element among them, and their counts.",
        differentiable=False,
        returns="UniqueAllResult",
        by_value=np.unique_all,
    ),
    row(
        "union1d",
        jnp.union1d,
        _SETS,
        "The values that are in one of two tensors.",
        differentiable=False,
        by_value=np.union1d,
    ),
    row(
        "intersect1d",
        jnp.intersect1d,
        _SETS,
        "The values that are in both of two tensors.",
        differentiable=False,
        by_value=np.intersect1d,
    ),
    row(
        "setdiff1d",
        jnp.setdiff1d,
        _SETS,
        "The values of x1 that are not in x2.",
        differentiable=False,
        by_value=np.setdiff1d,
    ),
    row(
        "setxor1d",
        jnp.setxor1d,
        _SETS,
        "The values that are in exactly one of two tensors.",
        differentiable=False,
        by_value=np.setxor1d,
    ),
)

define(globals(), _ROWS)
