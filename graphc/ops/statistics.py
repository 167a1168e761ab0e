"""Rows: covariance, and statistics that leave NaN out."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from graphc.ops.means import of_something
from graphc.ops.table import define, row

Array = jax.Array


def _nanstd(x: Any, axis: Any = None, correction: Any = 0, keepdims: bool = False) -> Array:
    return jnp.nanstd(x, axis, ddof=correction, keepdims=keepdims)


def _nanvar(x: Any, axis: Any = None, correction: Any = 0, keepdims: bool = False) -> Array:
    return jnp.nanvar(x, axis, ddof=correction, keepdims=keepdims)


def _cov(x: Any, **options: Any) -> Array:
    try:
        return jnp.cov(x, **options)
    except RuntimeError as error:  # what it says of weights that do not fit
        raise ValueError(str(error)) from None


_REDUCE = "x, axis: Axis = None, keepdims: bool = False"
_REDUCE_TO = "x, axis: Axis = None, dtype: DType = None, keepdims: bool = False"
_SPREAD = "x, axis: Axis = None, correction: float = 0, keepdims: bool = False"
_ONE_AXIS = "x, axis: int | None = None, keepdims: bool = False"
_QUANTILE = "x, q, axis: Axis = None, method: str = 'linear', keepdims: bool = False"
_RUNNING = "x, axis: int | None = None, dtype: DType = None"

_ROWS = (
    row(
        "cov",
        _cov,
        "x, y=None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights=None, aweights=None",
        "The covariance matrix of variables, in rows (columns for rowvar=False), with those of y after those of x.",
    ),
    row("corrcoef", jnp.corrcoef, "x, y=None, rowvar: bool = True", "The correlation coefficients of variables."),
    row("nansum", jnp.nansum, _REDUCE_TO, "The sum over axis, NaN left out.", light=True),
    row("nanprod", jnp.nanprod, _REDUCE_TO, "The product over axis, NaN left out."),
    row("nanmean", of_something(jnp.nanmean), _REDUCE_TO, "The mean over axis, NaN left out.", light=True),
    row("nanmax", jnp.nanmax, _REDUCE, "The largest element over axis, NaN left out.", light=True),
    row("nanmin", jnp.nanmin, _REDUCE, "The smallest element over axis, NaN left out.", light=True),
    row("nanstd", _nanstd, _SPREAD, "The standard deviation over axis, NaN left out."),
    row("nanvar", _nanvar, _SPREAD, "The variance over axis, NaN left out."),
    row("nanmedian", jnp.nanmedian, _REDUCE, "The middle value over axis, NaN left out."),
    row("nanquantile", jnp.nanquantile, _QUANTILE, "The value below which a share q lies, NaN left out."),
    row("nanpercentile", jnp.nanpercentile, _QUANTILE, "The value below which q percent lie, NaN left out."),
    row("nancumsum", jnp.nancumsum, _RUNNING, "Running sums along axis, NaN counted as zero."),
    row("nancumprod", jnp.nancumprod, _RUNNING, "Running products along axis, NaN counted as one."),
    row(
        "nanargmax",
        jnp.nanargmax,
        _ONE_AXIS,
        "The position of the first largest element that is not NaN; -1 where all are.",
        differentiable=False,
    ),
    row(
        "nanargmin",
        jnp.nanargmin,
        _ONE_AXIS,
        "The position of the first smallest element that is not NaN; -1 where all are.",
        differentiable=False,
    ),
)

define(globals(), _ROWS)
