"""Rows of ``lax``: creation, conversion and rearrangement of tensors."""

from __future__ import annotations

from typing import Any, cast

import jax
from jax import lax

from graphc.compiler.ops.table import define, row


def _full(fill_value: Any, shape: Any, dtype: Any = None) -> jax.Array:
    sizes = cast("tuple[int, ...]", shape) if isinstance(shape, tuple) else (shape,)
    filled = lax.full(sizes, fill_value, dtype)
    # Converting to its own dtype makes a weakly typed array strongly typed.
    return lax.convert_element_type(filled, filled.dtype)


def _concatenate(*operands: Any, dimension: int) -> jax.Array:
    return lax.concatenate(operands, dimension)


_ROWS = (
    # Making.
    row("lax.iota", lax.iota, "dtype: DType, size: int", "The integers from 0 to size - 1."),
    row(
        "lax.broadcasted_iota",
        lax.broadcasted_iota,
        "dtype: DType, shape: Ints, dimension: int",
        "The integers from 0 along a dimension, constant along the others.",
    ),
    row("lax.full", _full, "shape: Shape, fill_value, dtype: DType = None", "A tensor of a shape filled with a value."),
    row(
        "lax.full_like",
        lax.full_like,
        "x, fill_value, dtype: DType = None, shape: Ints | None = None",
        "A tensor filled with a value, with x's shape and dtype unless given.",
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
        "The same bits as another dtype; a different item size removes or adds a last axis.",
        differentiable=False,
    ),
    # Axes.
    row("lax.broadcast", lax.broadcast, "operand, sizes: Ints", "The tensor broadcast along new leading axes."),
    row(
        "lax.broadcast_in_dim",
        lax.broadcast_in_dim,
        "operand, shape: Ints, broadcast_dimensions: Ints",
        "The tensor broadcast to a shape; broadcast_dimensions maps its axes.",
    ),
    row(
        "lax.broadcast_to_rank",
        lax.broadcast_to_rank,
        "x, rank: int",
        "The tensor with leading axes of size 1 up to a rank.",
    ),
    row("lax.expand_dims", lax.expand_dims, "array, dimensions: Ints", "The tensor with axes of size 1 inserted."),
    row("lax.squeeze", lax.squeeze, "array, dimensions: Ints", "The tensor with axes of size 1 removed."),
    row(
        "lax.collapse",
        lax.collapse,
        "operand, start_dimension: int, stop_dimension: int | None = None",
        "The tensor with the axes from start_dimension to before stop_dimension merged.",
    ),
    row(
        "lax.reshape",
        lax.reshape,
        "operand, new_sizes: Ints, dimensions: Ints | None = None",
        "The same elements in another shape, read in the order of dimensions.",
    ),
    row("lax.transpose", lax.transpose, "operand, permutation: Ints", "The tensor with its axes permuted."),
    row("lax.rev", lax.rev, "operand, dimensions: Ints", "The tensor reversed along axes."),
    # Joining, splitting, enlarging.
    row(
        "lax.concatenate",
        _concatenate,
        "operands: Tensors, dimension: int",
        "Tensors concatenated along an existing axis.",
    ),
    row(
        "lax.split",
        lax.split,
        "operand, sizes: Ints, axis: int = 0",
        "The tensor split along axis into parts of given sizes.",
        returns="tuple[Tensor, ...]",
    ),
    row("lax.tile", lax.tile, "operand, reps: Ints", "The tensor repeated along each axis."),
    row(
        "lax.pad",
        lax.pad,
        "operand, padding_value, padding_config: PaddingConfig",
        "The tensor padded before, after and between the elements; negative padding crops.",
    ),
)

define(globals(), light=_ROWS)
