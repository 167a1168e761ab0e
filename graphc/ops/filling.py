"""Rows: tensors made from a shape, and tensors of a shape that another has."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from graphc.ops.table import define, row

Array = jax.Array


def _full(fill_value: Any, shape: Any, dtype: Any = None) -> Array:
    # An ordinary dtype, also from a Python number: a tensor that was asked for does not yield in promotion.
    dtype = jnp.result_type(fill_value) if dtype is None else dtype
    return lax.convert_element_type(jnp.full(shape, fill_value, dtype), dtype)


def _full_like(x: Any, fill_value: Any, dtype: Any = None) -> Array:
    return _full(fill_value, x.shape, x.dtype if dtype is None else dtype)


def _zeros_like(x: Any, dtype: Any = None) -> Array:
    return jnp.zeros(jnp.shape(x), jnp.result_type(x) if dtype is None else dtype)


def _ones_like(x: Any, dtype: Any = None) -> Array:
    return jnp.ones(jnp.shape(x), jnp.result_type(x) if dtype is None else dtype)


def _eye(n_rows: int, n_cols: int | None = None, k: int = 0, dtype: Any = None) -> Array:
    return jnp.eye(n_rows, n_cols, k, dtype)


_MADE = "dtype: DType = None, device: Device = None"
_SHAPE = f"shape: Shape, {_MADE}"
_LIKE = f"x, {_MADE}"

_ROWS = (
    row("zeros", jnp.zeros, _SHAPE, "Zeros; float32 for no dtype.", aliases=("empty",)),
    row("ones", jnp.ones, _SHAPE, "Ones; float32 for no dtype."),
    row("full", _full, f"shape: Shape, fill_value, {_MADE}", "The fill value everywhere."),
    row(
        "zeros_like",
        _zeros_like,
        _LIKE,
        "Zeros of x's shape and dtype.",
        differentiable=False,
        aliases=("empty_like",),
    ),
    row("ones_like", _ones_like, _LIKE, "Ones of x's shape and dtype.", differentiable=False),
    row("full_like", _full_like, f"x, fill_value, {_MADE}", "The fill value, in x's shape and dtype."),
    row(
        "arange",
        jnp.arange,
        f"start: float, stop: float | None = None, step: float = 1, {_MADE}",
        "The numbers from start in steps, stop left out; one number alone is stop, and start is 0.",
    ),
    row(
        "linspace",
        jnp.linspace,
        f"start, stop, num: int = 50, endpoint: bool = True, {_MADE}, axis: int = 0",
        "Values at equal distances, num of them, from start to stop, which is left out for endpoint=False.",
    ),
    row(
        "eye",
        _eye,
        f"n_rows: int, n_cols: int | None = None, k: int = 0, {_MADE}",
        "Ones on diagonal k, zeros elsewhere.",
    ),
    row(
        "tri",
        jnp.tri,
        "N: int, M: int | None = None, k: int = 0, dtype: DType = None",
        "Ones on diagonal k and below, zeros above; M columns, or N.",
    ),
    row(
        "logspace",
        jnp.logspace,
        "start, stop, num: int = 50, endpoint: bool = True, base: float = 10.0, dtype: DType = None, axis: int = 0",
        "Powers of base whose exponents are at equal distances, num of them, from start to stop.",
    ),
    row(
        "geomspace",
        jnp.geomspace,
        "start, stop, num: int = 50, endpoint: bool = True, dtype: DType = None, axis: int = 0",
        "Values at equal ratios, num of them, from start to stop.",
    ),
)

globals().update(define(__name__, _ROWS, light=True))
