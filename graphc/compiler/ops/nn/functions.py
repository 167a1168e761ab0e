"""The functions of ``gx.nn``: activations, attention, convolution, normalisation and pooling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax import lax

from graphc.compiler.ops.table import Row, define, row

# Rows of the namespace ``nn``: activations, softmax, and one-hot encoding.

_SOFTMAX = "x, axis: Axis = -1"

_ACTIVATIONS_ROWS = (
    row("nn.relu", jax.nn.relu, "x", "max(x, 0); its gradient at 0 is 0."),
    row("nn.relu6", jax.nn.relu6, "x", "min(max(x, 0), 6)."),
    row("nn.leaky_relu", jax.nn.leaky_relu, "x, negative_slope: float = 0.01",
        "x if positive, else negative_slope * x."),
    row("nn.elu", jax.nn.elu, "x, alpha: float = 1.0", "x if positive, else alpha * (exp(x) - 1)."),
    row("nn.celu", jax.nn.celu, "x, alpha: float = 1.0", "x if positive, else alpha * (exp(x / alpha) - 1)."),
    row("nn.selu", jax.nn.selu, "x", "Scaled ELU, which preserves mean 0 and variance 1 through layers."),
    row("nn.gelu", jax.nn.gelu, "x, approximate: bool = True",
        "x times the normal distribution function of x; approximate uses the tanh formula."),
    row("nn.silu", jax.nn.silu, "x", "x * sigmoid(x).", aliases=("swish",)),
    row("nn.mish", jax.nn.mish, "x", "x * tanh(softplus(x))."),
    row("nn.sigmoid", jax.nn.sigmoid, "x", "1 / (1 + exp(-x))."),
    row("nn.log_sigmoid", jax.nn.log_sigmoid, "x", "log(sigmoid(x)), without overflow."),
    row("nn.hard_sigmoid", jax.nn.hard_sigmoid, "x", "min(max(x + 3, 0), 6) / 6."),
    row("nn.hard_silu", jax.nn.hard_silu, "x", "x * hard_sigmoid(x).", aliases=("hard_swish",)),
    row("nn.hard_tanh", jax.nn.hard_tanh, "x", "x clipped to [-1, 1]."),
    row("nn.softplus", jax.nn.softplus, "x", "log(1 + exp(x)), without overflow."),
    row("nn.squareplus", jax.nn.squareplus, "x, b=4", "(x + sqrt(x ** 2 + b)) / 2."),
    row("nn.sparse_plus", jax.nn.sparse_plus, "x", "0 below -1, x above 1, a parabola between."),
    row("nn.sparse_sigmoid", jax.nn.sparse_sigmoid, "x", "x clipped to [-1, 1] and mapped to [0, 1]."),
    row("nn.log1mexp", jax.nn.log1mexp, "x", "log(1 - exp(-x)), for positive x."),
    row("nn.identity", jax.nn.identity, "x", "The tensor unchanged."),
    row("nn.soft_sign", jax.nn.soft_sign, "x", "x / (1 + |x|)."),
    row("nn.tanh", jnp.tanh, "x", "The hyperbolic tangent."),
    row("nn.glu", jax.nn.glu, "x, axis: int = -1", "One half along axis times the sigmoid of the other."),
    row("nn.softmax", jax.nn.softmax, _SOFTMAX, "exp(x) / sum(exp(x)) over axis."),
    row("nn.log_softmax", jax.nn.log_softmax, _SOFTMAX, "log(softmax(x)), without overflow."),
    row("nn.logsumexp", jax.nn.logsumexp, "x, axis: Axis = None, keepdims: bool = False",
        "log(sum(exp(x))) over axis, without overflow."),
    row("nn.logmeanexp", jax.nn.logmeanexp, "x, axis: Axis = None, keepdims: bool = False",
        "log(mean(exp(x))) over axis, without overflow."),
    row("nn.one_hot", jax.nn.one_hot, "x, num_classes: int, dtype: DType = None, axis: int = -1",
        "1 at position x on the new axis, 0 elsewhere; all 0 if x is out of range.", differentiable=False),
)  # fmt: skip


# Rows of the namespace ``nn``: attention and embedding lookup.


def _embedding_lookup(table: Any, ids: Any) -> jax.Array:
    return jnp.take(table, ids, axis=0)


_ATTENTION_ROWS = (
    row(
        "nn.dot_product_attention",
        jax.nn.dot_product_attention,
        "query, key, value, bias=None, mask=None, scale: float | None = None, is_causal: bool = False, "
        "query_seq_lengths=None, key_value_seq_lengths=None, local_window_size: Axis = None",
        "softmax(query @ key.T * scale + bias) @ value, for axes (batch, time, head, feature).",
    ),
    row("nn.embedding_lookup", _embedding_lookup, "table, ids",
        "The rows of a table at integer indices; NaN out of range."),
)  # fmt: skip


# Data formats of images: the order of the batch, spatial and channel axes.


class DataFormat(NamedTuple):
    """The roles of a tensor's axes."""

    letters: str  # a letter for each axis: N for the batch, C for channels, others for spatial axes
    space: str  # the letters of the spatial axes, in order

    @staticmethod
    def parse(data_format: str | None, ndim: int, space: int | None = None) -> DataFormat:
        """Parses a format such as ``NHWC``; None means channels last."""
        # space: the required number of spatial axes; None for any number.
        expected = ndim - 2 if space is None else space
        if ndim != expected + 2 or not 1 <= expected <= 3:
            raise ValueError(f"x has {ndim} axes, expected {expected + 2}: batch, channels and {expected} spatial axes")
        letters = f"N{'DHW'[-expected:]}C" if data_format is None else data_format
        if sorted(letters) != sorted(f"NC{'DHW'[-expected:]}"):
            raise ValueError(f"data_format is {data_format!r}, expected the letters of 'N{'DHW'[-expected:]}C'")
        return DataFormat(letters, letters.replace("N", "").replace("C", ""))

    def spread(self, values: Any, other: Any) -> list[Any]:
        """Returns one value for each axis of the tensor: the given ones for spatial axes, another one for the rest."""
        rest = iter(values)
        return [next(rest) if letter in self.space else other for letter in self.letters]


def per_axis(value: Any, count: int, name: str) -> tuple[int, ...]:
    """Returns one int for each spatial axis, from a single one or one for each."""
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count:
        raise ValueError(f"{name} are {value}, expected one or {count}")
    return values


# Rows of the namespace ``nn``: convolutions over one, two or three axes.

Array = jax.Array


def _conv(space: int) -> Callable[..., Array]:
    """Returns the convolution over a number of spatial axes."""

    def impl(
        x: Any, filters: Any, strides: Any = 1, padding: Any = "SAME", dilations: Any = 1, groups: int = 1,
        data_format: str | None = None,
    ) -> Array:  # fmt: skip
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
        x: Any, filters: Any, strides: Any = 1, padding: Any = "SAME", dilations: Any = 1,
        data_format: str | None = None,
    ) -> Array:  # fmt: skip
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
        row(f"nn.conv{space}d", _conv(space), f"x, filters, {_WHERE}, groups: int = 1, {_FORMAT}",
            f"The convolution over {axes} of x {shapes}."),
        row(f"nn.conv{space}d_transpose", _conv_transpose(space), f"x, filters, {_WHERE}, {_FORMAT}",
            f"The transposed convolution over {axes}: strides upsample; filters (*space, in, out)."),
    )  # fmt: skip


_CONVOLUTION_ROWS = (
    *_rows(1),
    *_rows(2),
    *_rows(3),
    row("nn.depthwise_conv2d", _depthwise, f"x, filters, {_WHERE}, {_FORMAT}",
        "The depthwise convolution: each channel separately, with filters (height, width, in, multiplier)."),
)  # fmt: skip


# Rows of the namespace ``nn``: normalization to mean 0 and variance 1.


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

_NORMALISATION_ROWS = (
    row("nn.standardize", jax.nn.standardize, "x, axis: Axis = -1, epsilon: float = 1e-05",
        "x normalized to mean 0 and variance 1 over axis."),
    row("nn.layer_norm", _layer_norm, f"x, {_WEIGHTS}, axis: Axis = -1, epsilon: float = 1e-05",
        "x normalized to mean 0 and variance 1 over axis, then times scale plus offset."),
    row("nn.rms_norm", _rms_norm, "x, scale=None, axis: Axis = -1, epsilon: float = 1e-06",
        "x scaled to a mean square of 1 over axis, then times scale."),
    row("nn.group_norm", _group_norm, f"x, groups: int, {_WEIGHTS}, epsilon: float = 1e-05",
        "x normalized over space and groups of channels, the last axis, then times scale plus offset."),
    row("nn.batch_norm", _batch_norm, f"x, mean, variance, {_WEIGHTS}, epsilon: float = 0.001",
        "x normalized by a given mean and variance, as from nn.moments or a running mean."),
    row("nn.moments", _moments, "x, axis: Axis = None, keepdims: bool = False",
        "The mean and the variance over axis.", returns="tuple[Tensor, Tensor]"),
)  # fmt: skip


# Rows of the namespace ``nn``: pooling over sliding windows.


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

_POOLING_ROWS = (
    row("nn.max_pool", _max_pool, _POOL, "The maximum of each window; without strides windows are adjacent."),
    row("nn.avg_pool", _avg_pool, _POOL,
        "The mean of each window, excluding padding; without strides windows are adjacent."),
)  # fmt: skip


define(
    globals(), (*_ATTENTION_ROWS, *_CONVOLUTION_ROWS, *_NORMALISATION_ROWS, *_POOLING_ROWS), light=(*_ACTIVATIONS_ROWS,)
)
