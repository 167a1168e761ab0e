"""Rows of the namespace ``nn``: convolutions over one, two or three axes.

The axes follow TensorFlow: ``(batch, *space, channels)`` for the input, ``(*space, in, out)`` for filters;
``data_format`` names another order of the input's axes, such as ``NCHW``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax import lax

from graphc.compiler.ops.nn.axes import DataFormat, per_axis
from graphc.compiler.ops.table import Row, define, row

Array = jax.Array


def _conv(space: int) -> Callable[..., Array]:
    """Returns the convolution over a number of spatial axes."""

    def impl(
        x: Any,
        filters: Any,
        strides: Any = 1,
        padding: Any = "SAME",
        dilations: Any = 1,
        groups: int = 1,
        data_format: str | None = None,
    ) -> Array:
        axes = DataFormat.parse(data_format, x.ndim, space)
        return lax.conv_general_dilated(
            x,
            filters,
            per_axis(strides, space, "strides"),
            padding,
            rhs_dilation=per_axis(dilations, space, "dilations"),
            dimension_numbers=(axes.letters, axes.space + "IO", axes.letters),
            feature_group_count=groups,
        )

    return impl


def _conv_transpose(space: int) -> Callable[..., Array]:
    """Returns the transposed convolution over a number of spatial axes: the gradient of a strided convolution."""

    def impl(
        x: Any,
        filters: Any,
        strides: Any = 1,
        padding: Any = "SAME",
        dilations: Any = 1,
        data_format: str | None = None,
    ) -> Array:
        axes = DataFormat.parse(data_format, x.ndim, space)
        return lax.conv_transpose(
            x,
            filters,
            per_axis(strides, space, "strides"),
            padding,
            rhs_dilation=per_axis(dilations, space, "dilations"),
            dimension_numbers=(axes.letters, axes.space + "IO", axes.letters),
        )

    return impl


def _depthwise(
    x: Any, filters: Any, strides: Any = 1, padding: Any = "SAME", dilations: Any = 1, data_format: str | None = None
) -> Array:
    channels = filters.shape[2]
    filters = filters.reshape(*filters.shape[:2], 1, -1)
    return _conv(2)(x, filters, strides, padding, dilations, channels, data_format)


_WHERE = "strides: Axes = 1, padding: Padding = 'SAME', dilations: Axes = 1"
_FORMAT = "data_format: str | None = None"


def _rows(space: int) -> tuple[Row, Row]:
    axes = {1: "one axis", 2: "two axes", 3: "three axes"}[space]
    shapes = "(batch, *space, in) with filters (*space, in / groups, out)"
    return (
        row(
            f"nn.conv{space}d",
            _conv(space),
            f"x, filters, {_WHERE}, groups: int = 1, {_FORMAT}",
            f"The convolution over {axes} of x {shapes}.",
        ),
        row(
            f"nn.conv{space}d_transpose",
            _conv_transpose(space),
            f"x, filters, {_WHERE}, {_FORMAT}",
            f"The transposed convolution over {axes}: strides upsample; filters (*space, in, out).",
        ),
    )


_ROWS = (
    *_rows(1),
    *_rows(2),
    *_rows(3),
    row(
        "nn.depthwise_conv2d",
        _depthwise,
        f"x, filters, {_WHERE}, {_FORMAT}",
        "The depthwise convolution: each channel separately, with filters (height, width, in, multiplier).",
    ),
)

define(globals(), _ROWS)
