"""Statistical and utility functions: sums, extrema, moments, quantiles and cumulative sums over axes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from graphc.compiler.ops.refusals import of_ordered
from graphc.compiler.ops.table import define, row

# Integer means of empty tensors, which would make XLA divide by zero at compile time and abort the process.


def of_something(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a mean that refuses to compute an integer mean of no elements."""

    @wraps(function)
    def checked(x: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
        if dtype is not None and jnp.issubdtype(dtype, jnp.integer):
            if function is jnp.nanmean and jnp.issubdtype(x.dtype, jnp.inexact):  # all may be NaN
                raise TypeError(f"the mean of {x.dtype} is not {jnp.dtype(dtype).name}; convert it with gx.astype")
            axes = range(x.ndim) if axis is None else np.atleast_1d(axis).tolist()
            if 0 in [x.shape[dimension] for dimension in axes if -x.ndim <= dimension < x.ndim]:
                raise ValueError(f"the mean of no elements is not {jnp.dtype(dtype).name}; omit dtype to get NaN")
        return function(x, axis=axis, dtype=dtype, keepdims=keepdims)

    return checked


_REDUCE = "x, axis: Axis = None, keepdims: bool = False"


_REDUCE_TO = "x, axis: Axis = None, dtype: DType = None, keepdims: bool = False"


_SPREAD = "x, axis: Axis = None, correction: float = 0, keepdims: bool = False"


_ONE_AXIS = "x, axis: int | None = None, keepdims: bool = False"


_QUANTILE = "x, q, axis: Axis = None, method: str = 'linear', keepdims: bool = False"


_RUNNING = "x, axis: int | None = None, dtype: DType = None"


def _widened(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """Returns a running sum or product with the dtype of the whole one; JAX wraps those of small integers."""

    @wraps(function)
    def running(x: Any, axis: int | None = None, dtype: Any = None, **options: Any) -> jax.Array:
        wide = jnp.sum(jnp.zeros(0, x.dtype)).dtype
        return function(x, axis=axis, dtype=wide if dtype is None and wide != x.dtype else dtype, **options)

    return running


def _of_truths(function: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """Returns ``all`` or ``any`` for complex numbers too, of which JAX tests only the real part."""

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
    except RuntimeError as error:  # JAX's message for weights that do not fit
        raise ValueError(str(error)) from None


_REDUCTIONS = (
    row("sum", jnp.sum, _REDUCE_TO, "The sum over axis; small integers are summed as int32."),
    row("prod", jnp.prod, _REDUCE_TO, "The product over axis."),
    row("mean", of_something(jnp.mean), _REDUCE_TO, "The arithmetic mean over axis; integers give floats."),
    row("max", jnp.max, _REDUCE, "The maximum over axis.", aliases=("amax",)),
    row("min", jnp.min, _REDUCE, "The minimum over axis.", aliases=("amin",)),
    row("ptp", jnp.ptp, _REDUCE, "The maximum minus the minimum over axis."),
    row("std", jnp.std, _SPREAD, "The standard deviation over axis; correction=1 for a sample."),
    row("var", jnp.var, _SPREAD, "The variance over axis; correction=1 for a sample."),
    row("average", jnp.average, "x, axis: Axis = None, weights=None, keepdims: bool = False",
        "The weighted mean over axis."),
    row("median", jnp.median, _REDUCE, "The median over axis.", light=False),
    row("quantile", jnp.quantile, _QUANTILE, "The quantile at q, between 0 and 1.", light=False),
    row("percentile", jnp.percentile, _QUANTILE, "The q-th percentile.", light=False),
    row("all", _of_truths(jnp.all), _REDUCE, "True if all elements over axis are true.", differentiable=False),
    row("any", _of_truths(jnp.any), _REDUCE, "True if any element over axis is true.", differentiable=False),
    row("count_nonzero", jnp.count_nonzero, _REDUCE, "The number of nonzero elements.", differentiable=False),
    row("argmax", of_ordered(jnp.argmax), _ONE_AXIS, "The index of the first maximum.", differentiable=False),
    row("argmin", of_ordered(jnp.argmin), _ONE_AXIS, "The index of the first minimum.", differentiable=False),
    row("cumsum", _widened(jnp.cumsum), _RUNNING,
        "The cumulative sum along axis; of the flattened tensor for None. Small integers are summed as int32.",
        light=False),
    row("cumprod", _widened(jnp.cumprod), _RUNNING,
        "The cumulative product along axis; of the flattened tensor for None.", light=False),
    row("cumulative_sum", jnp.cumulative_sum,
        "x, axis: int | None = None, dtype: DType = None, include_initial: bool = False",
        "The cumulative sum along axis, optional for 1-d tensors; include_initial prepends a zero.", light=False),
    row("cumulative_prod", _widened(jnp.cumulative_prod),
        "x, axis: int | None = None, dtype: DType = None, include_initial: bool = False",
        "The cumulative product along axis, optional for 1-d tensors; include_initial prepends a one.", light=False),
    row("diff", jnp.diff, "x, n: int = 1, axis: int = -1, prepend=None, append=None",
        "The n-th differences of consecutive elements along axis, with optional values before and after."),
    row("trace", jnp.trace, "x, offset: int = 0, axis1: int = 0, axis2: int = 1", "The sum of the diagonal."),
)  # fmt: skip

_STATISTICS = (
    row("cov", _cov,
        "x, y=None, rowvar: bool = True, bias: bool = False, ddof: int | None = None, fweights=None, aweights=None",
        "The covariance matrix of the variables in rows (columns for rowvar=False), of x and then y."),
    row("corrcoef", jnp.corrcoef, "x, y=None, rowvar: bool = True", "The correlation coefficients of variables."),
    row("nansum", jnp.nansum, _REDUCE_TO, "The sum over axis, ignoring NaN.", light=True),
    row("nanprod", jnp.nanprod, _REDUCE_TO, "The product over axis, ignoring NaN."),
    row("nanmean", of_something(jnp.nanmean), _REDUCE_TO, "The mean over axis, ignoring NaN.", light=True),
    row("nanmax", jnp.nanmax, _REDUCE, "The maximum over axis, ignoring NaN.", light=True),
    row("nanmin", jnp.nanmin, _REDUCE, "The minimum over axis, ignoring NaN.", light=True),
    row("nanstd", _nanstd, _SPREAD, "The standard deviation over axis, ignoring NaN."),
    row("nanvar", _nanvar, _SPREAD, "The variance over axis, ignoring NaN."),
    row("nanmedian", jnp.nanmedian, _REDUCE, "The median over axis, ignoring NaN."),
    row("nanquantile", jnp.nanquantile, _QUANTILE, "The quantile at q, between 0 and 1, ignoring NaN."),
    row("nanpercentile", jnp.nanpercentile, _QUANTILE, "The q-th percentile, ignoring NaN."),
    row("nancumsum", _widened(jnp.nancumsum), _RUNNING, "The cumulative sum along axis, with NaN as zero."),
    row("nancumprod", _widened(jnp.nancumprod), _RUNNING, "The cumulative product along axis, with NaN as one."),
    row("nanargmax", of_ordered(jnp.nanargmax), _ONE_AXIS,
        "The index of the first maximum, ignoring NaN; -1 if all are NaN.", differentiable=False),
    row("nanargmin", of_ordered(jnp.nanargmin), _ONE_AXIS,
        "The index of the first minimum, ignoring NaN; -1 if all are NaN.", differentiable=False),
)  # fmt: skip


# Rows: polynomials, given by their coefficients from the highest power down.


def _roots(p: Any) -> jax.Array:
    # Leading zeros, which only the values show, are kept: each yields a root that is not finite.
    return jnp.roots(p, strip_zeros=False)


def _polyfit(x: Any, y: Any, deg: int, *, w: Any = None, rcond: float | None = None) -> Any:
    return jnp.polyfit(x, y, deg, rcond=rcond, w=w)


@wraps(jnp.poly)
def _poly(x: Any) -> jax.Array:
    half = x.ndim == 2 and x.dtype in (jnp.float16, jnp.bfloat16)  # LAPACK has no eigenvalues for these dtypes
    return jnp.poly(x.astype(jnp.float32) if half else x)


_POLYNOMIALS_ROWS = (
    row("poly", _poly, "x", "The polynomial with given roots, or the characteristic polynomial of a matrix."),
    row("polyval", jnp.polyval, "p, x", "The value of the polynomial p at x."),
    row("polyadd", jnp.polyadd, "x1, x2", "The sum of polynomials."),
    row("polysub", jnp.polysub, "x1, x2", "The difference of polynomials."),
    row("polymul", jnp.polymul, "x1, x2", "The product of polynomials."),
    row("polydiv", jnp.polydiv, "x1, x2", "The quotient and the remainder.", returns="tuple[Tensor, Tensor]"),
    row("polyder", jnp.polyder, "p, m: int = 1", "The m-th derivative."),
    row("polyint", jnp.polyint, "p, m: int = 1, k=None", "The m-fold integral, with constants k."),
    row("polyfit", _polyfit, "x, y, deg: int, rcond: float | None = None, w=None",
        "The least-squares polynomial of degree deg through the points (x, y), with weights w."),
    row("roots", _roots, "p",
        "The roots of a polynomial whose first coefficient is not zero.", platforms=("cpu", "gpu")),
    row("vander", jnp.vander, "x, N: int | None = None, increasing: bool = False",
        "The Vandermonde matrix: N powers of each element, decreasing or increasing."),
)  # fmt: skip


define(globals(), (*_STATISTICS, *_POLYNOMIALS_ROWS), light=(*_REDUCTIONS,))
