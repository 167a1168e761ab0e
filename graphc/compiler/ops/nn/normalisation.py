"""Rows of the namespace ``nn``: normalization to mean 0 and variance 1."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from graphc.compiler.ops.nn.axes import DataFormat
from graphc.compiler.ops.table import define, row

Array = jax.Array


def _scaled(x: Array, scale: Any, offset: Any) -> Array:
    x = x if scale is None else x * scale
    return x if offset is None else x + offset


def _layer_norm(x: Any, axis: Any = -1, epsilon: float = 1e-5, *, scale: Any = None, offset: Any = None) -> Array:
    return _scaled(jax.nn.standardize(x, axis, epsilon=epsilon), scale, offset)


def _batch_norm(
    x: Any, mean: Any, variance: Any, epsilon: float = 1e-3, *, scale: Any = None, offset: Any = None
) -> Array:
    return _scaled((x - mean) * lax.rsqrt(variance + epsilon), scale, offset)


def _rms_norm(x: Any, axis: Any = -1, epsilon: float = 1e-6, *, scale: Any = None) -> Array:
    mean = jnp.mean(jnp.square(x), axis=axis, keepdims=True)
    return _scaled(x * lax.rsqrt(mean + epsilon), scale, None)


def _group_norm(x: Any, groups: int, epsilon: float = 1e-5, *, scale: Any = None, offset: Any = None) -> Array:
    axes = DataFormat.parse(None, x.ndim)
    if x.shape[-1] % groups:
        raise ValueError(f"{x.shape[-1]} channels cannot be divided into {groups} equal groups")
    parts = x.reshape(*x.shape[:-1], groups, -1)
    space = tuple(range(1, 1 + len(axes.space)))
    parts = jax.nn.standardize(parts, (*space, x.ndim), epsilon=epsilon)
    return _scaled(parts.reshape(x.shape), scale, offset)


def _moments(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    return jnp.mean(x, axis, keepdims=keepdims), jnp.var(x, axis, keepdims=keepdims)


_WEIGHTS = "scale=None, offset=None"

_ROWS = (
    row(
        "nn.standardize",
        jax.nn.standardize,
        "x, axis: Axis = -1, epsilon: float = 1e-05",
        "x normalized to mean 0 and variance 1 over axis.",
    ),
    row(
        "nn.layer_norm",
        _layer_norm,
        f"x, {_WEIGHTS}, axis: Axis = -1, epsilon: float = 1e-05",
        "x normalized to mean 0 and variance 1 over axis, then times scale plus offset.",
    ),
    row(
        "nn.rms_norm",
        _rms_norm,
        "x, scale=None, axis: Axis = -1, epsilon: float = 1e-06",
        "x scaled to a mean square of 1 over axis, then times scale.",
    ),
    row(
        "nn.group_norm",
        _group_norm,
        f"x, groups: int, {_WEIGHTS}, epsilon: float = 1e-05",
        "x normalized over space and groups of channels, the last axis, then times scale plus offset.",
    ),
    row(
        "nn.batch_norm",
        _batch_norm,
        f"x, mean, variance, {_WEIGHTS}, epsilon: float = 0.001",
        "x normalized by a given mean and variance, as from nn.moments or a running mean.",
    ),
    row(
        "nn.moments",
        _moments,
        "x, axis: Axis = None, keepdims: bool = False",
        "The mean and the variance over axis.",
        returns="tuple[Tensor, Tensor]",
    ),
)

define(globals(), _ROWS)
