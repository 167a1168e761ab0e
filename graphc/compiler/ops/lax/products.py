"""Rows of ``lax``: products of tensors, and convolutions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import jax
from jax import lax

from graphc.compiler.ops.table import define, row


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

_ROWS = (
    row(
        "lax.dot",
        _product(lax.dot),
        f"lhs, rhs, *, dimension_numbers: DimensionNumbers = None, {_EXACT_TYPED}",
        "The product of vectors and matrices; for other tensors dot_general with dimension_numbers.",
    ),
    row(
        "lax.dot_general",
        _product(lax.dot_general),
        f"lhs, rhs, dimension_numbers: DimensionNumbers, {_EXACT_TYPED}",
        "The sum of products over the contracted axes, for each batch index.",
    ),
    row(
        "lax.batch_matmul",
        _product(lax.batch_matmul),
        f"lhs, rhs, {_EXACT}",
        "The matrix products of the last two axes; the other axes must be equal.",
    ),
    row(
        "lax.conv",
        _product(lax.conv),
        f"lhs, rhs, window_strides: Ints, padding: Padding, {_EXACT_TYPED}",
        "The convolution of an NCHW tensor with OIHW filters.",
    ),
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
)

define(globals(), _ROWS)
