"""Rows of the namespace ``nn``: pooling over sliding windows."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from graphc.compiler.ops.nn.axes import DataFormat, per_axis
from graphc.compiler.ops.table import define, row

Array = jax.Array


def _windows(x: Any, first: Any, combine: Any, window: Any, strides: Any, padding: Any, data_format: Any) -> Array:
    axes = DataFormat.parse(data_format, x.ndim)
    space = len(axes.space)
    sizes = axes.spread(per_axis(window, space, "window"), 1)
    steps = sizes if strides is None else axes.spread(per_axis(strides, space, "strides"), 1)
    pads = padding if isinstance(padding, str) else axes.spread(padding, (0, 0))
    return lax.reduce_window(x, first, combine, sizes, steps, pads)


def _max_pool(
    x: Any, window: Any, strides: Any = None, padding: Any = "VALID", data_format: str | None = None
) -> Array:
    smallest = -jnp.inf if jnp.issubdtype(x.dtype, jnp.inexact) else jnp.iinfo(x.dtype).min
    return _windows(x, smallest, lax.max, window, strides, padding, data_format)


def _avg_pool(
    x: Any, window: Any, strides: Any = None, padding: Any = "VALID", data_format: str | None = None
) -> Array:
    sums = _windows(x, 0.0, lax.add, window, strides, padding, data_format)
    counts = _windows(jnp.ones(x.shape, x.dtype), 0.0, lax.add, window, strides, padding, data_format)
    return sums / counts


_POOL = "x, window: Shape, strides: Axis = None, padding: Padding = 'VALID', data_format: str | None = None"

_ROWS = (
    row("nn.max_pool", _max_pool, _POOL, "The maximum of each window; without strides windows are adjacent."),
    row(
        "nn.avg_pool",
        _avg_pool,
        _POOL,
        "The mean of each window, excluding padding; without strides windows are adjacent.",
    ),
)

define(globals(), _ROWS)
