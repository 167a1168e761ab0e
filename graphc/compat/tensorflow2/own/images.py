"""Compositions: convolutions and pooling, with windows and strides as TensorFlow writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from graphc.base import at, user_location
from graphc.base.errors import InvalidArgumentError
from graphc.core import is_symbolic
from graphc.ops import functions as gx
from graphc.ops import nn

__all__ = [
    "bias_add",
    "conv",
    "conv_transpose",
    "depth_to_space",
    "depthwise",
    "local_response_normalization",
    "pool",
    "separable",
    "space_to_depth",
]

_CONV: dict[int, Any] = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}
_TRANSPOSED: dict[int, Any] = {1: nn.conv1d_transpose, 2: nn.conv2d_transpose, 3: nn.conv3d_transpose}


def _letters(data_format: str | None, space: int) -> str:
    """The format in the letters that graphc uses: W, HW or DHW for space."""
    if data_format is None or not data_format.startswith("N"):
        return f"N{'DHW'[-space:]}C"
    return data_format


def _of_space(values: Any, letters: str, space: int, of: str) -> tuple[int, ...]:
    """One number for each axis of space, of one for all, one for each, or one for each axis of the tensor."""
    given = np.ravel(np.asarray(1 if values is None else values)).tolist()
    if len(given) == 1:
        return tuple(given) * space
    if len(given) == space:
        return tuple(given)
    if len(given) != space + 2:
        error = InvalidArgumentError(f"{of} are {given}, expected 1, {space} or {space + 2} numbers")
        raise at(error, user_location())
    return tuple(value for value, letter in zip(given, letters, strict=True) if letter not in "NC")


def _padding(padding: Any, letters: str) -> Any:
    """``SAME``, ``VALID``, or pairs for the axes of space, of pairs for all axes."""
    if isinstance(padding, str):
        return padding.upper()
    pairs = [tuple(map(int, pair)) for pair in padding]
    if len(pairs) == len(letters):
        pairs = [pair for pair, letter in zip(pairs, letters, strict=True) if letter not in "NC"]
    return tuple(pairs)


def conv(x: Any, filters: Any, strides: Any, padding: Any, data_format: str | None, dilations: Any, space: int) -> Any:
    """The convolution; where the filters take fewer channels than there are, it is in groups."""
    x, filters = gx.asarray(x), gx.asarray(filters)
    letters = _letters(data_format, space)
    steps = _of_space(strides, letters, space, "strides")
    spread = _of_space(dilations, letters, space, "dilations")
    groups = x.shape[letters.index("C")] // filters.shape[-2]
    return _CONV[space](x, filters, steps, _padding(padding, letters), spread, groups, letters)


def conv_transpose(
    x: Any, filters: Any, output_shape: Any, strides: Any, padding: Any, data_format: str | None, dilations: Any,
    space: int,
) -> Any:  # fmt: skip
    """The gradient of the convolution with these filters, (*space, out, in), with respect to its input."""
    letters = _letters(data_format, space)
    filters = gx.flip(gx.swapaxes(filters, -1, -2), tuple(range(space)))
    steps = _of_space(strides, letters, space, "strides")
    spread = _of_space(dilations, letters, space, "dilations")
    found = _TRANSPOSED[space](x, filters, steps, _padding(padding, letters), spread, letters)
    sizes = tuple(size for size, letter in zip(found.shape, letters, strict=True) if letter not in "NC")
    wanted = None if output_shape is None else _known_sizes(output_shape)
    if wanted is not None and not (_may_be(wanted, found.shape) or _may_be(wanted, sizes)):
        error = InvalidArgumentError(
            f"conv{space}d_transpose: output_shape is {wanted}, but this convolution gives {found.shape}; pad or cut "
            "its result"
        )
        raise at(error, user_location())
    return found


def _known_sizes(shape: Any) -> tuple[int | None, ...] | None:
    """The sizes of a shape, None for those that only a run of a graph knows; None if it knows all alone."""
    if is_symbolic(shape):
        return None
    listed = isinstance(shape, list | tuple)
    sizes: Any = cast("Any", shape) if listed else np.ravel(np.asarray(shape))
    return tuple(None if is_symbolic(size) else int(size) for size in sizes)


def _may_be(wanted: Sequence[int | None], found: Sequence[int | None]) -> bool:
    pairs = zip(wanted, found, strict=False)
    return len(wanted) == len(found) and all(one == other or None in (one, other) for one, other in pairs)


def depthwise(x: Any, filters: Any, strides: Any, padding: Any, data_format: str | None, dilations: Any) -> Any:
    """Each channel convolved by itself."""
    letters = _letters(data_format, 2)
    steps, spread = (_of_space(one, letters, 2, name) for one, name in ((strides, "strides"), (dilations, "dilations")))
    return nn.depthwise_conv2d(x, filters, steps, _padding(padding, letters), spread, letters)


def separable(
    x: Any, depthwise_filter: Any, pointwise_filter: Any, strides: Any, padding: Any, data_format: str | None,
    dilations: Any,
) -> Any:  # fmt: skip
    """Each channel convolved by itself, then all mixed at each point."""
    found = depthwise(x, depthwise_filter, strides, padding, data_format, dilations)
    return conv(found, pointwise_filter, 1, "VALID", data_format, 1, 2)


def pool(kind: str, x: Any, ksize: Any, strides: Any, padding: Any, data_format: str | None, space: int | None) -> Any:
    """The largest element or the mean of each window."""
    x = gx.asarray(x)
    count = x.ndim - 2 if space is None else space
    letters = _letters(data_format, count)
    window = _of_space(ksize, letters, count, "ksize")
    steps = window if strides is None else _of_space(strides, letters, count, "strides")
    function = nn.max_pool if kind.lower() == "max" else nn.avg_pool
    return function(x, window, steps, _padding(padding, letters), letters)


def bias_add(value: Any, bias: Any, data_format: str | None) -> Any:
    """The bias of each channel added: the last axis, or axis 1 for a format such as ``NCHW``."""
    if data_format is not None and data_format.startswith("NC"):
        bias = gx.reshape(bias, (-1, *[1] * (gx.ndim(value) - 2)))
    return gx.add(value, bias)


def space_to_depth(x: Any, block_size: int, data_format: str) -> Any:
    """Blocks of space put into the channels."""
    _only_channels_last("tf.nn.space_to_depth", data_format)
    batch, height, width, channels = gx.shape(x)
    parts = gx.reshape(x, (batch, height // block_size, block_size, width // block_size, block_size, channels))
    parts = gx.permute_dims(parts, (0, 1, 3, 2, 4, 5))
    return gx.reshape(parts, (batch, height // block_size, width // block_size, channels * block_size**2))


def depth_to_space(x: Any, block_size: int, data_format: str) -> Any:
    """Channels put into blocks of space."""
    _only_channels_last("tf.nn.depth_to_space", data_format)
    batch, height, width, channels = gx.shape(x)
    parts = gx.reshape(x, (batch, height, width, block_size, block_size, channels // block_size**2))
    parts = gx.permute_dims(parts, (0, 1, 3, 2, 4, 5))
    return gx.reshape(parts, (batch, height * block_size, width * block_size, channels // block_size**2))


def _only_channels_last(function: str, data_format: str) -> None:
    if data_format != "NHWC":
        error = InvalidArgumentError(f"{function}: data_format is {data_format!r}, but here only 'NHWC' is known")
        raise at(error, user_location())


def local_response_normalization(x: Any, depth_radius: int, bias: Any, alpha: Any, beta: Any) -> Any:
    """Divided by a power of the sum of squares over neighbouring channels."""
    x = gx.asarray(x)
    squares = gx.pad(gx.square(x), ((0, 0), (0, 0), (0, 0), (depth_radius, depth_radius)))
    channels = x.shape[-1]
    total = sum(squares[..., start : start + channels] for start in range(2 * depth_radius + 1))
    return gx.divide(x, gx.pow(gx.add(bias, gx.multiply(alpha, total)), beta))
