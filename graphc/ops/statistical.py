"""Statistical and utility functions: sums, extremes, moments, quantiles and running sums over axes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp

from graphc.ops.means import of_something
from graphc.ops.table import define, row

_REDUCE = "x, axis: Axis = None, keepdims: bool = False"


_REDUCE_TO = "x, axis: Axis = None, dtype: DType = None, keepdims: bool = False"


_SPREAD = "x, axis: Axis = None, correction: float = 0, keepdims: bool = False"


_ONE_AXIS = "x, axis: int | None = None, keepdims: bool = False"


_QUANTILE = "x, q, axis: Axis = None, method: str = 'linear', keepdims: bool = False"


_RUNNING = "x, axis: int | None = None, dtype: DType = None"


@wraps(jnp.cumulative_prod)
def _cumulative_prod(x: Any, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> jax.Array:
    if dtype is None and jnp.issubdtype(x.dtype, jnp.integer):
        dtype = jnp.prod(jnp.zeros(0, x.dtype)).dtype  # wide enough for products, as that of cumulative_sum for sums
    return jnp.cumulative_prod(x, axis=axis, dtype=dtype, include_initial=include_initial)


def _of_truths(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """``all`` or ``any``, which JAX asks of the real part of complex numbers only."""

    @wraps(function)
    def asked(x: Any, axis: Any = None, keepdims: bool = False) -> jax.Array:
        return function(x != 0 if jnp.iscomplexobj(x) else x, axis=axis, keepdims=keepdims)

    return asked


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


_REDUCTIONS = (
    row("sum", jnp.sum, _REDUCE_TO, "The sum over axis; small integers are summed as int32."),
    row("prod", jnp.prod, _REDUCE_TO, "The product over axis."),
    row("mean", of_something(jnp.mean), _REDUCE_TO, "The arithmetic mean over axis; integers give floats."),
    row("max", jnp.max, _REDUCE, "The largest element over axis.", aliases=("amax",)),
    row("min", jnp.min, _REDUCE, "The smallest element over axis.", aliases=("amin",)),
    row("ptp", jnp.ptp, _REDUCE, "The largest element less the smallest, over axis."),
    row("std", jnp.std, _SPREAD, "The standard deviation over axis; correction=1 for that of a sample."),
    row("var", jnp.var, _SPREAD, "The variance over axis; correction=1 for that of a sample."),
    row(
        "average",
        jnp.average,
        "x, axis: Axis = None, weights=None, keepdims: bool = False",
        "The mean over axis, with weights.",
    ),
    row("median", jnp.median, _REDUCE, "The middle value over axis.", light=False),
    row("quantile", jnp.quantile, _QUANTILE, "The value below which a share q, between 0 and 1, lies.", light=False),
    row("percentile", jnp.percentile, _QUANTILE, "The value below which q percent lie.", light=False),
    row("all", _of_truths(jnp.all), _REDUCE, "Whether every element over axis is true.", differentiable=False),
    row("any", _of_truths(jnp.any), _REDUCE, "Whether an element over axis is true.", differentiable=False),
    row("count_nonzero", jnp.count_nonzero, _REDUCE, "How many elements are not zero.", differentiable=False),
    row("argmax", jnp.argmax, _ONE_AXIS, "The position of the first largest element.", differentiable=False),
    row("argmin", jnp.argmin, _ONE_AXIS, "The position of the first smallest element.", differentiable=False),
    row("cumsum", jnp.cumsum, _RUNNING, "Running sums along axis; of the flattened tensor for None.", light=False),
    row(
        "cumprod", jnp.cumprod, _RUNNING, "Running products along axis; of the flattened tensor for None.", light=False
    ),
    row(
        "cumulative_sum",
        jnp.cumulative_sum,
        "x, axis: int | None = None, dtype: DType = None, include_initial: bool = False",
        "Running sums along axis, which a 1-d tensor need not name; include_initial begins with a zero.",
        light=False,
    ),
    row(
        "cumulative_prod",
        _cumulative_prod,
        "x, axis: int | None = None, dtype: DType = None, include_initial: bool = False",
        "Running products along axis, which a 1-d tensor need not name; include_initial begins with a one.",
        light=False,
    ),
    row(
        "diff",
        jnp.diff,
        "x, n: int = 1, axis: int = -1, prepend=None, append=None",
        "Differences of neighbours along axis, taken n times, with values put before and after.",
    ),
    row("trace", jnp.trace, "x, offset: int = 0, axis1: int = 0, axis2: int = 1", "The sum of the diagonal."),
)

_STATISTICS = (
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

define(globals(), _STATISTICS, light=_REDUCTIONS)
