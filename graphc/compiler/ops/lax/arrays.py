"""Rows of ``lax``: shapes, slices, reductions, sorted keys and products."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import jax
from jax import lax

from graphc.compiler.ops.refusals import of_ordered
from graphc.compiler.ops.table import define, row

# Rows of ``lax``: products of tensors, and convolutions.


def _precision(value: Any) -> Any:
    """Returns JAX's value for the name of a Precision member or its short form, or for a pair of these."""
    if isinstance(value, tuple):
        return tuple(map(_precision, cast("tuple[Any, ...]", value)))
    return lax.Precision.__members__.get(value, value)


def _product(function: Any) -> Callable[..., jax.Array]:
    """Returns the function with its attributes converted to JAX's form."""

    @wraps(function)
    def product(*tensors: Any, precision: Any = None, **attrs: Any) -> jax.Array:
        return function(*tensors, precision=_precision(precision), **attrs)

    return product


def _convolution(function: Any) -> Callable[..., jax.Array]:
    """Converts a convolution likewise; its dimension numbers may also come from ``conv_dimension_numbers``."""

    @wraps(function)
    def convolution(*tensors: Any, dimension_numbers: Any = None, **attrs: Any) -> jax.Array:
        if dimension_numbers is not None and isinstance(dimension_numbers[0], tuple):
            dimension_numbers = lax.ConvDimensionNumbers(*dimension_numbers)
        return product(*tensors, dimension_numbers=dimension_numbers, **attrs)

    product = _product(function)
    return convolution


_EXACT = "precision: Precision = None"
_EXACT_TYPED = f"{_EXACT}, preferred_element_type: DType = None"

_PRODUCTS_ROWS = (
    row("lax.dot", _product(lax.dot), f"lhs, rhs, *, dimension_numbers: DimensionNumbers = None, {_EXACT_TYPED}",
        "The product of vectors and matrices; for other tensors dot_general with dimension_numbers."),
    row("lax.dot_general", _product(lax.dot_general), f"lhs, rhs, dimension_numbers: DimensionNumbers, {_EXACT_TYPED}",
        "The sum of products over the contracted axes, for each batch index."),
    row("lax.batch_matmul", _product(lax.batch_matmul), f"lhs, rhs, {_EXACT}",
        "The matrix products of the last two axes; the other axes must be equal."),
    row("lax.conv", _product(lax.conv), f"lhs, rhs, window_strides: Ints, padding: Padding, {_EXACT_TYPED}",
        "The convolution of an NCHW tensor with OIHW filters."),
    row(
        "lax.conv_with_general_padding",
        _product(lax.conv_with_general_padding),
        "lhs, rhs, window_strides: Ints, padding: Padding, lhs_dilation: Ints | None, rhs_dilation: Ints | None, "
        + _EXACT_TYPED,
        "The dilated convolution of an NCHW tensor with OIHW filters.",
    ),
    row(
        "lax.conv_general_dilated",
        _convolution(lax.conv_general_dilated),
        "lhs, rhs, window_strides: Ints, padding: Padding, lhs_dilation: Ints | None = None, "
        "rhs_dilation: Ints | None = None, dimension_numbers: DimensionNumbers = None, feature_group_count: int = 1, "
        f"batch_group_count: int = 1, {_EXACT_TYPED}",
        "The general convolution, with layouts from dimension_numbers, dilations and groups.",
    ),
    row(
        "lax.conv_transpose",
        _convolution(lax.conv_transpose),
        "lhs, rhs, strides: Ints, padding: Padding, rhs_dilation: Ints | None = None, "
        "dimension_numbers: DimensionNumbers = None, transpose_kernel: bool = False, "
        f"{_EXACT_TYPED}, use_consistent_padding: bool = False",
        "The transposed convolution, of NHWC with HWIO unless dimension_numbers is given.",
    ),
)  # fmt: skip


# Rows of ``lax``: reductions, cumulative reductions, and sorting.

_REDUCED = {
    "reduce_sum": "The sum over axes.",
    "reduce_prod": "The product over axes.",
    "reduce_max": "The maximum over axes.",
    "reduce_min": "The minimum over axes.",
}
_BITS = {
    "reduce_and": "Bitwise or logical AND over axes.",
    "reduce_or": "Bitwise or logical OR over axes.",
    "reduce_xor": "Bitwise or logical XOR over axes.",
}
_RUNNING = {
    "cumsum": "The cumulative sum along axis.",
    "cumprod": "The cumulative product along axis.",
    "cummax": "The cumulative maximum along axis.",
    "cummin": "The cumulative minimum along axis.",
    "cumlogsumexp": "The logarithm of the cumulative sum of exponentials along axis.",
}
_PLACES = {
    "argmax": "The index of the first maximum along axis.",
    "argmin": "The index of the first minimum along axis.",
}
_NEAR = {
    "approx_max_k": "The approximate k largest numbers and their indices; exact except on TPUs.",
    "approx_min_k": "The approximate k smallest numbers and their indices; exact except on TPUs.",
}
_PAIR = "tuple[Tensor, Tensor]"

_REDUCING_ROWS = (
    *[row(f"lax.{name}", getattr(lax, name), "operand, axes: Ints", doc) for name, doc in _REDUCED.items()],
    *[
        row(f"lax.{name}", getattr(lax, name), "operand, axes: Ints", doc, differentiable=False)
        for name, doc in _BITS.items()
    ],
    *[
        row(f"lax.{name}", getattr(lax, name), "operand, axis: int = 0, reverse: bool = False", doc)
        for name, doc in _RUNNING.items()
    ],
    *[
        row(
            f"lax.{name}",
            of_ordered(getattr(lax, name)),
            "operand, axis: int, index_dtype: DType",
            doc,
            differentiable=False,
        )
        for name, doc in _PLACES.items()
    ],
    row("lax.sort_key_val", lax.sort_key_val, "keys, values, dimension: int = -1, is_stable: bool = True",
        "Keys sorted along a dimension, and values in the same order.", returns=_PAIR),
    row("lax.top_k", lax.top_k, "operand, k: int, *, axis: int = -1",
        "The k largest numbers along axis, in descending order, and their indices.", returns=_PAIR),
    *[
        row(
            f"lax.{name}",
            getattr(lax, name),
            "operand, k: int, reduction_dimension: int = -1, recall_target: float = 0.95, "
            "reduction_input_size_override: int = -1, aggregate_to_topk: bool = True",
            doc,
            returns=_PAIR,
        )
        for name, doc in _NEAR.items()
    ],
)  # fmt: skip


# Rows of ``lax``: creation, conversion and rearrangement of tensors.


def _full(fill_value: Any, shape: Any, dtype: Any = None) -> jax.Array:
    sizes = cast("tuple[int, ...]", shape) if isinstance(shape, tuple) else (shape,)
    filled = lax.full(sizes, fill_value, dtype)
    # Converting to its own dtype makes a weakly typed array strongly typed.
    return lax.convert_element_type(filled, filled.dtype)


def _concatenate(*operands: Any, dimension: int) -> jax.Array:
    return lax.concatenate(operands, dimension)


_SHAPING_ROWS = (
    # Making.
    row("lax.iota", lax.iota, "dtype: DType, size: int", "The integers from 0 to size - 1."),
    row("lax.broadcasted_iota", lax.broadcasted_iota, "dtype: DType, shape: Ints, dimension: int",
        "The integers from 0 along a dimension, constant along the others."),
    row("lax.full", _full, "shape: Shape, fill_value, dtype: DType = None", "A tensor of a shape filled with a value."),
    row("lax.full_like", lax.full_like, "x, fill_value, dtype: DType = None, shape: Ints | None = None",
        "A tensor filled with a value, with x's shape and dtype unless given."),
    # Dtypes.
    row("lax.convert_element_type", lax.convert_element_type, "operand, new_dtype: DType",
        "The tensor converted to a dtype."),
    row("lax.bitcast_convert_type", lax.bitcast_convert_type, "operand, new_dtype: DType",
        "The same bits as another dtype; a different item size removes or adds a last axis.", differentiable=False),
    # Axes.
    row("lax.broadcast", lax.broadcast, "operand, sizes: Ints", "The tensor broadcast along new leading axes."),
    row("lax.broadcast_in_dim", lax.broadcast_in_dim, "operand, shape: Ints, broadcast_dimensions: Ints",
        "The tensor broadcast to a shape; broadcast_dimensions maps its axes."),
    row("lax.broadcast_to_rank", lax.broadcast_to_rank, "x, rank: int",
        "The tensor with leading axes of size 1 up to a rank."),
    row("lax.expand_dims", lax.expand_dims, "array, dimensions: Ints", "The tensor with axes of size 1 inserted."),
    row("lax.squeeze", lax.squeeze, "array, dimensions: Ints", "The tensor with axes of size 1 removed."),
    row("lax.collapse", lax.collapse, "operand, start_dimension: int, stop_dimension: int | None = None",
        "The tensor with the axes from start_dimension to before stop_dimension merged."),
    row("lax.reshape", lax.reshape, "operand, new_sizes: Ints, dimensions: Ints | None = None",
        "The same elements in another shape, read in the order of dimensions."),
    row("lax.transpose", lax.transpose, "operand, permutation: Ints", "The tensor with its axes permuted."),
    row("lax.rev", lax.rev, "operand, dimensions: Ints", "The tensor reversed along axes."),
    # Joining, splitting, enlarging.
    row("lax.concatenate", _concatenate, "operands: Tensors, dimension: int",
        "Tensors concatenated along an existing axis."),
    row("lax.split", lax.split, "operand, sizes: Ints, axis: int = 0",
        "The tensor split along axis into parts of given sizes.", returns="tuple[Tensor, ...]"),
    row("lax.tile", lax.tile, "operand, reps: Ints", "The tensor repeated along each axis."),
    row("lax.pad", lax.pad, "operand, padding_value, padding_config: PaddingConfig",
        "The tensor padded before, after and between the elements; negative padding crops."),
)  # fmt: skip


# Rows of ``lax``: slices at static or dynamic positions, and their updates.


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

_SLICING_ROWS = (
    row("lax.slice", lax.slice, "operand, start_indices: Ints, limit_indices: Ints, strides: Ints | None = None",
        "The block from start_indices up to but excluding limit_indices, one for each axis."),
    row("lax.slice_in_dim", lax.slice_in_dim,
        "operand, start_index: int | None, limit_index: int | None, stride: int = 1, axis: int = 0",
        "The slice start_index:limit_index:stride along axis."),
    row("lax.index_in_dim", lax.index_in_dim, "operand, index: int, axis: int = 0, keepdims: bool = True",
        "The slice at an index along axis."),
    row("lax.dynamic_slice", _dynamic_slice,
        "operand, start_indices: Tensors, slice_sizes: Ints, *, allow_negative_indices: Flags = True",
        f"The block of given sizes at start_indices, one for each axis{_REACH}"),
    row("lax.dynamic_slice_in_dim", lax.dynamic_slice_in_dim,
        "operand, start_index, slice_size: int, axis: int = 0, *, allow_negative_indices: bool = True",
        f"The slices along axis from start_index{_REACH}"),
    row("lax.dynamic_index_in_dim", lax.dynamic_index_in_dim,
        "operand, index, axis: int = 0, keepdims: bool = True, *, allow_negative_indices: bool = True",
        "The slice along axis at a tensor index, which is clamped."),
    row("lax.dynamic_update_slice", _dynamic_update_slice,
        "operand, update, start_indices: Tensors, *, allow_negative_indices: Flags = True",
        f"A copy with update stored at start_indices, one for each axis{_REACH}"),
    row("lax.dynamic_update_slice_in_dim", lax.dynamic_update_slice_in_dim,
        "operand, update, start_index, axis: int, *, allow_negative_indices: bool = True",
        f"A copy with update stored at start_index along axis{_REACH}"),
    row("lax.dynamic_update_index_in_dim", lax.dynamic_update_index_in_dim,
        "operand, update, index, axis: int, *, allow_negative_indices: bool = True",
        "A copy with update stored as the slice at an index along axis."),
    row(
        "lax.gather",
        _gather,
        "operand, start_indices, dimension_numbers: DimensionNumbers, slice_sizes: Ints, *, "
        "unique_indices: bool = False, indices_are_sorted: bool = False, mode: ScatterMode = None, "
        "fill_value: float | None = None",
        "Blocks of slice_sizes at each of start_indices.",
    ),
    *[row(f"lax.{name}", _scatter(getattr(lax, name)), _SCATTER, doc) for name, doc in _SCATTERS.items()],
)  # fmt: skip


define(globals(), (*_PRODUCTS_ROWS, *_REDUCING_ROWS, *_SLICING_ROWS), light=(*_SHAPING_ROWS,))
