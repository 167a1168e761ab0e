"""Rows of ``lax``: making, converting and rearranging tensors."""

from __future__ import annotations

from typing import Any, cast

import jax
from jax import lax

from graphc.ops.table import define, row


def _full(fill_value: Any, shape: Any, dtype: Any = None) -> jax.Array:
    sizes = cast("tuple[int, ...]", shape) if isinstance(shape, tuple) else (shape,)
    filled = lax.full(sizes, fill_value, dtype)
    # The conversion to its own dtype is what makes a weakly typed array an ordinary one.
    return lax.convert_element_type(filled, filled.dtype)


def _concatenate(*operands: Any, dimension: int) -> jax.Array:
    return lax.concatenate(operands, dimension)


_ROWS = (
    # Making.
    row("lax.iota", lax.iota, "dtype: DType, size: int", "The whole numbers from zero on, so many."),
    row(
        "lax.broadcasted_iota",
        lax.broadcasted_iota,
        "dtype: DType, shape: Ints, dimension: int",
        "The whole numbers from zero on along a dimension, the same along the others.",
    ),
    row("lax.full", _full, "shape: Shape, fill_value, dtype: DType = None", "One number in every place of a shape."),
    row(
        "lax.full_like",
        lax.full_like,
        "x, fill_value, dtype: DType = None, shape: Ints | None = None",
        "One number in every place; shape and dtype are those of x unless given.",
    ),
    # Dtypes.
    row(
        "lax.convert_element_type",
        lax.convert_element_type,
        "operand, new_dtype: DType",
        "The tensor converted to a dtype.",
    ),
    row(
        "lax.bitcast_convert_type",
        lax.bitcast_convert_type,
        "operand, new_dtype: DType",
        "The same bits as another dtype; one of another size takes or gives a last axis.",
        differentiable=False,
    ),
    # Axes.
    row("lax.broadcast", lax.broadcast, "operand, sizes: Ints", "Repeated along new axes of these sizes, in front."),
    row(
        "lax.broadcast_in_dim",
        lax.broadcast_in_dim,
        "operand, shape: Ints, broadcast_dimensions: Ints",
        "Repeated to a shape, in which broadcast_dimensions says where each axis goes.",
    ),
    row("lax.broadcast_to_rank", lax.broadcast_to_rank, "x, rank: int", "Axes of size 1 put in front, up to so many."),
    row("lax.expand_dims", lax.expand_dims, "array, dimensions: Ints", "Axes of size 1 added at these places."),
    row("lax.squeeze", lax.squeeze, "array, dimensions: Ints", "These axes of size 1 removed."),
    row(
        "lax.collapse",
        lax.collapse,
        "operand, start_dimension: int, stop_dimension: int | None = None",
        "The axes from start_dimension to before stop_dimension made one.",
    ),
    row(
        "lax.reshape",
        lax.reshape,
        "operand, new_sizes: Ints, dimensions: Ints | None = None",
        "The same elements in another shape, read in the order of dimensions.",
    ),
    row("lax.transpose", lax.transpose, "operand, permutation: Ints", "The axes in another order."),
    row("lax.rev", lax.rev, "operand, dimensions: Ints", "Reversed along these axes."),
    # Joining, cutting, enlarging.
    row("lax.concatenate", _concatenate, "operands: Tensors, dimension: int", "Joined along an axis that they have."),
    row(
        "lax.split",
        lax.split,
        "operand, sizes: Ints, axis: int = 0",
        "Cut along axis into parts of these sizes.",
        returns="tuple[Tensor, ...]",
    ),
    row("lax.tile", lax.tile, "operand, reps: Ints", "Repeated so many times along each axis."),
    row(
        "lax.pad",
        lax.pad,
        "operand, padding_value, padding_config: PaddingConfig",
        "Enlarged by padding_value before, after and between the elements; less than none cuts.",
    ),
)

define(globals(), light=_ROWS)
