"""Creation functions: tensors from a shape, grids, and indices of elements."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from graphc.compiler.core import as_dtype, check_fits, natural_dtype, too_large
from graphc.compiler.ops.refusals import broadcasts, counts
from graphc.compiler.ops.table import define, row

Array = jax.Array


def _zeros(shape: Any, dtype: Any = None) -> Array:
    return jnp.zeros(shape, as_dtype(float) if dtype is None else dtype)


def _ones(shape: Any, dtype: Any = None) -> Array:
    return jnp.ones(shape, as_dtype(float) if dtype is None else dtype)


def _full(fill_value: Any, shape: Any, dtype: Any = None) -> Array:
    # Strongly typed even if from a Python number: a requested tensor does not yield in promotion.
    dtype = natural_dtype(fill_value) if dtype is None else dtype
    return lax.convert_element_type(jnp.full(shape, fill_value, dtype), dtype)


def _check_full(shape: Any, fill_value: Any, dtype: Any, device: Any) -> None:
    if dtype is not None:
        check_fits("full", fill_value, as_dtype(dtype))


def _check_full_like(x: Any, fill_value: Any, dtype: Any, device: Any) -> None:
    _check_full((), fill_value, getattr(x, "dtype", None) if dtype is None else dtype, device)


def _full_like(x: Any, fill_value: Any, dtype: Any = None) -> Array:
    return _full(fill_value, x.shape, x.dtype if dtype is None else dtype)


def _zeros_like(x: Any, dtype: Any = None) -> Array:
    return jnp.zeros(jnp.shape(x), jnp.result_type(x) if dtype is None else dtype)


def _ones_like(x: Any, dtype: Any = None) -> Array:
    return jnp.ones(jnp.shape(x), jnp.result_type(x) if dtype is None else dtype)


def _eye(n_rows: int, n_cols: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    return jnp.eye(n_rows, n_cols, k, as_dtype(float) if dtype is None else dtype)


def _tri(N: int, M: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    return jnp.tri(N, M, k, as_dtype(float) if dtype is None else dtype)


def _arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> Array:
    numbers = (start, step) if stop is None else (start, stop, step)
    dtype = natural_dtype(*numbers) if dtype is None else dtype
    if step == 0:
        raise ValueError("step must not be 0")
    if np.dtype(dtype).kind in "iu" and all(isinstance(number, int) for number in numbers):
        values = range(0, start, step) if stop is None else range(start, stop, step)
        limits = np.iinfo(dtype)
        for number in (values[0], values[-1]) if values else ():
            if not limits.min <= number <= limits.max:  # JAX would keep only the lower bits
                raise ValueError(str(too_large(number, np.dtype(dtype))))
    return jnp.arange(start, stop, step, dtype)


def _linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Array:
    dtype = _between(start, stop) if dtype is None else dtype
    if jnp.issubdtype(dtype, jnp.integer):
        return _whole_numbers(start, stop, num, endpoint, dtype, axis)
    is_complex = jnp.iscomplexobj(start) or jnp.iscomplexobj(stop)
    if is_complex and not jnp.issubdtype(dtype, jnp.complexfloating):
        raise TypeError(f"complex numbers do not fit {jnp.dtype(dtype).name}; use gx.real")
    return jnp.linspace(start, stop, num, endpoint, dtype=dtype, axis=axis)


def _whole_numbers(start: Any, stop: Any, num: int, endpoint: bool, dtype: Any, axis: int) -> Array:
    """Returns the values of linspace as integers, with exact ends even if a float cannot hold them."""
    count = num if endpoint else num + 1
    values = jnp.floor(jnp.linspace(start, stop, count, dtype=as_dtype(np.float64))).astype(dtype)
    if count > 1:
        values = values.at[-1].set(_floored(stop, dtype))
    if count > 0:
        values = values.at[0].set(_floored(start, dtype))
    return jnp.moveaxis(values[:num], 0, axis)


def _floored(number: Any, dtype: Any) -> Array:
    return (jnp.floor(number) if jnp.issubdtype(jnp.result_type(number), jnp.inexact) else jnp.asarray(number)).astype(
        dtype
    )


def _logspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype: Any = None, axis: int = 0
) -> Array:
    dtype = _between(start, stop) if dtype is None else dtype
    return jnp.logspace(start, stop, num, endpoint, base, dtype=dtype, axis=axis)


def _geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Array:
    return jnp.geomspace(start, stop, num, endpoint, dtype=_between(start, stop) if dtype is None else dtype, axis=axis)


def _between(start: Any, stop: Any) -> np.dtype[Any]:
    return natural_dtype(start, stop, 0.0)


_MADE = "dtype: DType = None, device: Device = None"


_SHAPE = f"shape: Shape, {_MADE}"


_LIKE = f"x, {_MADE}"


def _indices(dimensions: Any, dtype: Any = None) -> Array:
    return jnp.indices(dimensions, dtype)


def _of_triangle(function: Any) -> Any:
    """Returns the indices of a triangle in a matrix of a tensor's shape."""

    def impl(x: Any, k: int = 0) -> Any:
        return function(x.shape[-2], k, x.shape[-1])

    return impl


def _diag_indices_from(x: Any) -> Any:
    if x.ndim < 2 or len(set(x.shape)) != 1:
        raise ValueError(f"expected at least two axes of the same size, got shape {x.shape}")
    return jnp.diag_indices(x.shape[0], x.ndim)


def _ravel_multi_index(*indices: Any, dims: Any, mode: str = "clip") -> Array:
    return jnp.ravel_multi_index(indices, dims, mode=mode)


_PAIR = "tuple[Tensor, Tensor]"


_SEVERAL = "tuple[Tensor, ...]"


_TRIANGLE = "n: int, k: int = 0, m: int | None = None"

_TENSORS = (
    row("zeros", _zeros, _SHAPE,
        "A tensor of zeros; of the default floating dtype unless dtype is given.", aliases=("empty",)),
    row("ones", _ones, _SHAPE, "A tensor of ones; of the default floating dtype unless dtype is given."),
    row("full", _full, f"shape: Shape, fill_value, {_MADE}",
        "A tensor filled with a value.", need=broadcasts("fill_value"), check=_check_full),
    row("zeros_like", _zeros_like, _LIKE,
        "A tensor of zeros with x's shape and dtype.", differentiable=False, aliases=("empty_like",)),
    row("ones_like", _ones_like, _LIKE, "A tensor of ones with x's shape and dtype.", differentiable=False),
    row("full_like", _full_like, f"x, fill_value, {_MADE}",
        "A tensor filled with a value, with x's shape and dtype.", check=_check_full_like),
    row("arange", _arange, f"start: float, stop: float | None = None, step: float = 1, {_MADE}",
        "Evenly spaced numbers from start up to but excluding stop; a single argument is stop, with start 0."),
    row("linspace", _linspace, f"start, stop, num: int = 50, endpoint: bool = True, {_MADE}, axis: int = 0",
        "num evenly spaced values from start to stop, which endpoint=False excludes.", need=counts("num")),
    row("eye", _eye, f"n_rows: int, n_cols: int | None = None, k: int = 0, {_MADE}",
        "Ones on diagonal k, zeros elsewhere.", need=counts("n_rows", "n_cols")),
    row("tri", _tri, "N: int, M: int | None = None, k: int = 0, dtype: DType = None",
        "Ones on and below diagonal k, zeros above; M columns, by default N.", need=counts("N", "M")),
    row("logspace", _logspace,
        "start, stop, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype: DType = None, axis: int = 0",
        "num powers of base with evenly spaced exponents from start to stop.", need=counts("num")),
    row("geomspace", _geomspace,
        "start, stop, num: int = 50, endpoint: bool = True, dtype: DType = None, axis: int = 0",
        "num geometrically spaced values from start to stop.", need=counts("num")),
)  # fmt: skip

_POSITIONS = (
    row("indices", _indices, "dimensions: Shape, dtype: DType = None", "The coordinates of a grid, for each axis."),
    row("diag_indices", jnp.diag_indices, "n: int, ndim: int = 2", "The indices of a diagonal.", returns=_SEVERAL),
    row("diag_indices_from", _diag_indices_from, "x",
        "The indices of the diagonal of x.", returns=_SEVERAL, differentiable=False),
    row("tril_indices", jnp.tril_indices, _TRIANGLE, "The indices on and below diagonal k.", returns=_PAIR),
    row("triu_indices", jnp.triu_indices, _TRIANGLE, "The indices on and above diagonal k.", returns=_PAIR),
    row("tril_indices_from", _of_triangle(jnp.tril_indices), "x, k: int = 0",
        "The indices of x on and below diagonal k.", returns=_PAIR, differentiable=False),
    row("triu_indices_from", _of_triangle(jnp.triu_indices), "x, k: int = 0",
        "The indices of x on and above diagonal k.", returns=_PAIR, differentiable=False),
    row("ravel_multi_index", _ravel_multi_index, "multi_index: Tensors, dims: Shape, mode: str = 'clip'",
        "Flat indices from indices on each axis; mode is 'clip' or 'wrap' for those out of range.",
        differentiable=False),
    row("unravel_index", jnp.unravel_index, "indices, shape: Shape",
        "Indices on each axis from flat indices.", returns=_SEVERAL, differentiable=False),
    row("ix_", jnp.ix_, "*arrays",
        "1-d indices shaped to index a block together.", returns=_SEVERAL, differentiable=False),
)  # fmt: skip

define(globals(), _POSITIONS, light=_TENSORS)
