"""Rows of ``lax``: slices at static or dynamic positions, and their updates."""

from __future__ import annotations

from typing import Any

import jax
from jax import lax

from graphc.compiler.ops.table import define, row


def _dynamic_slice(operand: Any, *start_indices: Any, **attrs: Any) -> jax.Array:
    return lax.dynamic_slice(operand, start_indices, **attrs)


def _dynamic_update_slice(operand: Any, update: Any, *start_indices: Any, **attrs: Any) -> jax.Array:
    return lax.dynamic_update_slice(operand, update, start_indices, **attrs)


def _mode(mode: str | None) -> Any:
    """Returns JAX's value for the name of a GatherScatterMode member or its short form."""
    return mode if mode is None else lax.GatherScatterMode.__members__.get(mode, mode)


def _gather(operand: Any, start_indices: Any, dimension_numbers: Any, mode: Any = None, **attrs: Any) -> jax.Array:
    numbers = lax.GatherDimensionNumbers(*dimension_numbers)
    return lax.gather(operand, start_indices, numbers, mode=_mode(mode), **attrs)


def _scatter(function: Any) -> Any:
    def scatter(
        operand: Any, scatter_indices: Any, updates: Any, dimension_numbers: Any, mode: Any = None, **attrs: Any
    ) -> jax.Array:
        numbers = lax.ScatterDimensionNumbers(*dimension_numbers)
        return function(operand, scatter_indices, updates, numbers, mode=_mode(mode), **attrs)

    return scatter


_SCATTER = (
    "operand, scatter_indices, updates, dimension_numbers: DimensionNumbers, *, indices_are_sorted: bool = False, "
    "unique_indices: bool = False, mode: ScatterMode = None"
)
_SCATTERS = {
    "scatter": "The updates stored at the indices; with repeated indices any of them.",
    "scatter_add": "The updates added at the indices.",
    "scatter_sub": "The updates subtracted at the indices.",
    "scatter_mul": "The elements at the indices multiplied by the updates.",
    "scatter_min": "The minimum of the elements at the indices and the updates.",
    "scatter_max": "The maximum of the elements at the indices and the updates.",
}
_REACH = "; shifted to fit into the tensor if necessary."

_ROWS = (
    row(
        "lax.slice",
        lax.slice,
        "operand, start_indices: Ints, limit_indices: Ints, strides: Ints | None = None",
        "The block from start_indices up to but excluding limit_indices, one for each axis.",
    ),
    row(
        "lax.slice_in_dim",
        lax.slice_in_dim,
        "operand, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0",
        "The slice start_index:limit_index:stride along axis.",
    ),
    row(
        "lax.index_in_dim",
        lax.index_in_dim,
        "operand, index: int, axis: int = 0, keepdims: bool = True",
        "The slice at an index along axis.",
    ),
    row(
        "lax.dynamic_slice",
        _dynamic_slice,
        "operand, start_indices: Tensors, slice_sizes: Ints, *, allow_negative_indices: Flags = True",
        f"The block of given sizes at start_indices, one for each axis{_REACH}",
    ),
    row(
        "lax.dynamic_slice_in_dim",
        lax.dynamic_slice_in_dim,
        "operand, start_index, slice_size: int, axis: int = 0, *, allow_negative_indices: bool = True",
        f"The slices along axis from start_index{_REACH}",
    ),
    row(
        "lax.dynamic_index_in_dim",
        lax.dynamic_index_in_dim,
        "operand, index, axis: int = 0, keepdims: bool = True, *, allow_negative_indices: bool = True",
        "The slice along axis at a tensor index, which is clamped.",
    ),
    row(
        "lax.dynamic_update_slice",
        _dynamic_update_slice,
        "operand, update, start_indices: Tensors, *, allow_negative_indices: Flags = True",
        f"A copy with update stored at start_indices, one for each axis{_REACH}",
    ),
    row(
        "lax.dynamic_update_slice_in_dim",
        lax.dynamic_update_slice_in_dim,
        "operand, update, start_index, axis: int, *, allow_negative_indices: bool = True",
        f"A copy with update stored at start_index along axis{_REACH}",
    ),
    row(
        "lax.dynamic_update_index_in_dim",
        lax.dynamic_update_index_in_dim,
        "operand, update, index, axis: int, *, allow_negative_indices: bool = True",
        "A copy with update stored as the slice at an index along axis.",
    ),
    row(
        "lax.gather",
        _gather,
        "operand, start_indices, dimension_numbers: DimensionNumbers, slice_sizes: Ints, *, "
        "unique_indices: bool = False, indices_are_sorted: bool = False, mode: ScatterMode = None, "
        "fill_value: float | None = None",
        "Blocks of slice_sizes at each of start_indices.",
    ),
    *[row(f"lax.{name}", _scatter(getattr(lax, name)), _SCATTER, doc) for name, doc in _SCATTERS.items()],
)

define(globals(), _ROWS)
