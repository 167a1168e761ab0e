"""Rows: positions of elements: grids of them, and those of diagonals and triangles."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from graphc.ops.table import define, row

Array = jax.Array


def _indices(dimensions: Any, dtype: Any = None) -> Array:
    return jnp.indices(dimensions, dtype)


def _of_triangle(function: Any) -> Any:
    """The positions of a triangle in a matrix of a tensor's shape."""

    def impl(x: Any, k: int = 0) -> Any:
        return function(x.shape[-2], k, x.shape[-1])

    return impl


def _diag_indices_from(x: Any) -> Any:
    if x.ndim < 2 or len(set(x.shape)) != 1:
        raise ValueError(f"expected two axes or more, all of one size; the shape is {x.shape}")
    return jnp.diag_indices(x.shape[0], x.ndim)


def _ravel_multi_index(*indices: Any, dims: Any, mode: str = "clip") -> Array:
    return jnp.ravel_multi_index(indices, dims, mode=mode)


_PAIR = "tuple[Tensor, Tensor]"
_SEVERAL = "tuple[Tensor, ...]"
_TRIANGLE = "n: int, k: int = 0, m: int | None = None"

_ROWS = (
    row(
        "indices", _indices, "dimensions: Shape, dtype: DType = None", "For each axis of a grid, the position along it."
    ),
    row("diag_indices", jnp.diag_indices, "n: int, ndim: int = 2", "Where a diagonal is.", returns=_SEVERAL),
    row(
        "diag_indices_from",
        _diag_indices_from,
        "x",
        "Where the diagonal of x is.",
        returns=_SEVERAL,
        differentiable=False,
    ),
    row("tril_indices", jnp.tril_indices, _TRIANGLE, "Where diagonal k and what is below are.", returns=_PAIR),
    row("triu_indices", jnp.triu_indices, _TRIANGLE, "Where diagonal k and what is above are.", returns=_PAIR),
    row(
        "tril_indices_from",
        _of_triangle(jnp.tril_indices),
        "x, k: int = 0",
        "Where diagonal k of x and what is below are.",
        returns=_PAIR,
        differentiable=False,
    ),
    row(
        "triu_indices_from",
        _of_triangle(jnp.triu_indices),
        "x, k: int = 0",
        "Where diagonal k of x and what is above are.",
        returns=_PAIR,
        differentiable=False,
    ),
    row(
        "ravel_multi_index",
        _ravel_multi_index,
        "multi_index: Tensors, dims: Shape, mode: str = 'clip'",
        "Positions on several axes as positions in the flattened tensor; 'clip' or 'wrap' for those out of range.",
        differentiable=False,
    ),
    row(
        "unravel_index",
        jnp.unravel_index,
        "indices, shape: Shape",
        "Positions in the flattened tensor as positions on each axis.",
        returns=_SEVERAL,
        differentiable=False,
    ),
    row(
        "ix_",
        jnp.ix_,
        "*arrays",
        "1-d positions shaped so that together they index a block.",
        returns=_SEVERAL,
        differentiable=False,
    ),
)

define(globals(), _ROWS)
