"""Convolutions, pooling and images, with windows, strides and formats as TensorFlow writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import ArrayLike, Tensor, is_symbolic
from graphc.compiler.ops import functions as gx
from graphc.compiler.ops import nn

__all__ = [
    "bias_add", "convolution", "convolution_transpose", "depth_to_space", "depthwise_convolution",
    "local_response_normalization", "pool", "separable_convolution", "space_to_depth",
]  # fmt: skip

_CONV: dict[int, Any] = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}
_TRANSPOSED: dict[int, Any] = {1: nn.conv1d_transpose, 2: nn.conv2d_transpose, 3: nn.conv3d_transpose}


def _letters(data_format: str | None, space: int) -> str:
    """Returns the format in the letters that graphc uses: W, HW or DHW for space."""
    if data_format is None or not data_format.startswith("N"):
        return f"N{'DHW'[-space:]}C"
    return data_format


def _of_space(values: Any, letters: str, space: int, of: str) -> tuple[int, ...]:
    """One number for each axis of space, of one for all, one for each, or one for each axis of the tensor."""
    numbers = np.ravel(np.asarray(1 if values is None else values)).tolist()
    if len(numbers) == 1:
        return tuple(numbers) * space
    if len(numbers) == space:
        return tuple(numbers)
    if len(numbers) != space + 2:
        raise InvalidArgumentError(f"{of} are {numbers}, expected 1, {space} or {space + 2} numbers").here()
    return tuple(value for value, letter in zip(numbers, letters, strict=True) if letter not in "NC")


def _padding(padding: Any, letters: str) -> Any:
    """``SAME``, ``VALID``, or pairs for the axes of space, of pairs for all axes."""
    if isinstance(padding, str):
        return padding.upper()
    pairs = [tuple(map(int, pair)) for pair in padding]
    if len(pairs) == len(letters):
        pairs = [pair for pair, letter in zip(pairs, letters, strict=True) if letter not in "NC"]
    return tuple(pairs)


def convolution(
    x: ArrayLike, filters: ArrayLike, strides: Any = None, padding: Any = "VALID", data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:  # fmt: skip
    """Returns the convolution; where the filters take fewer channels than there are, it is in groups.

    Args:
      x: images of one to three axes of space.
      filters: ``[*space, in, out]``.
      strides: one number for all axes of space, one for each, or one for each axis of ``x``; 1 when None.
      padding: ``"SAME"``, ``"VALID"``, or pairs for the axes of space or for all axes.
      data_format: a format such as ``"NHWC"`` or ``"NCHW"``; channels last when None.
      dilations: the dilations, in the form of the strides.

    Raises:
      InvalidArgumentError: there is another number of strides.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.convolution(gx.ones((1, 4, 4, 2)), gx.ones((3, 3, 2, 5))).shape
      (1, 2, 2, 5)
    """
    tensor, filters = gx.asarray(x), gx.asarray(filters)
    space = filters.ndim - 2
    letters = _letters(data_format, space)
    steps = _of_space(strides, letters, space, "strides")
    spread = _of_space(dilations, letters, space, "dilations")
    groups = tensor.shape[letters.index("C")] // filters.shape[-2]
    return _CONV[space](tensor, filters, steps, _padding(padding, letters), spread, groups, letters)


def convolution_transpose(
    x: ArrayLike, filters: ArrayLike, output_shape: Any = None, strides: Any = None, padding: Any = "SAME",
    data_format: str | None = None, dilations: Any = None,
) -> Tensor:  # fmt: skip
    """Returns the gradient of the convolution with these filters with respect to its input.

    Args:
      x: as for :func:`convolution`.
      filters: ``[*space, out, in]``.
      output_shape: the shape of the result, or that of its axes of space, which is checked; None for no check.
      strides: as for :func:`convolution`.
      padding: likewise.
      data_format: likewise.
      dilations: likewise.

    Raises:
      InvalidArgumentError: the result has another shape.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.convolution_transpose(gx.ones((1, 2, 2, 1)), gx.ones((2, 2, 3, 1)), strides=2).shape
      (1, 4, 4, 3)
    """
    filters = gx.asarray(filters)
    space = filters.ndim - 2
    letters = _letters(data_format, space)
    filters = gx.flip(gx.swapaxes(filters, -1, -2), tuple(range(space)))
    steps = _of_space(strides, letters, space, "strides")
    spread = _of_space(dilations, letters, space, "dilations")
    output = _TRANSPOSED[space](x, filters, steps, _padding(padding, letters), spread, letters)
    sizes = tuple(size for size, letter in zip(output.shape, letters, strict=True) if letter not in "NC")
    wanted = None if output_shape is None else _known_sizes(output_shape)
    if wanted is not None and not (_may_be(wanted, output.shape) or _may_be(wanted, sizes)):
        raise InvalidArgumentError(
            f"convolution_transpose: output_shape is {wanted}, but this convolution gives {output.shape}; pad or cut "
            "its result"
        ).here()
    return output


def _known_sizes(shape: Any) -> tuple[int | None, ...] | None:
    """Returns the sizes of a shape, None for those that only a run of a graph knows; None if it knows all alone."""
    if is_symbolic(shape):
        return None
    listed = isinstance(shape, list | tuple)
    sizes: Any = cast("Any", shape) if listed else np.ravel(np.asarray(shape))
    return tuple(None if is_symbolic(size) else int(size) for size in sizes)


def _may_be(wanted: Sequence[int | None], actual: Sequence[int | None]) -> bool:
    pairs = zip(wanted, actual, strict=False)
    return len(wanted) == len(actual) and all(one == other or None in (one, other) for one, other in pairs)


def depthwise_convolution(
    x: ArrayLike, filters: ArrayLike, strides: Any = None, padding: Any = "VALID", data_format: str | None = None,
    dilations: Any = None,
) -> Tensor:  # fmt: skip
    """Returns each channel of images convolved by itself; as :func:`convolution` otherwise.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.depthwise_convolution(gx.ones((1, 4, 4, 2)), gx.ones((3, 3, 2, 1))).shape
      (1, 2, 2, 2)
    """
    letters = _letters(data_format, 2)
    steps, spread = (_of_space(one, letters, 2, name) for one, name in ((strides, "strides"), (dilations, "dilations")))
    return nn.depthwise_conv2d(x, filters, steps, _padding(padding, letters), spread, letters)


def separable_convolution(
    x: ArrayLike, depthwise_filter: ArrayLike, pointwise_filter: ArrayLike, strides: Any = None,
    padding: Any = "VALID", data_format: str | None = None, dilations: Any = None,
) -> Tensor:  # fmt: skip
    """Returns each channel convolved by itself, then all mixed at each point; as :func:`convolution` otherwise.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.separable_convolution(gx.ones((1, 4, 4, 2)), gx.ones((3, 3, 2, 1)), gx.ones((1, 1, 2, 5))).shape
      (1, 2, 2, 5)
    """
    convolved = depthwise_convolution(x, depthwise_filter, strides, padding, data_format, dilations)
    return convolution(convolved, pointwise_filter, 1, "VALID", data_format)


def pool(
    kind: str, x: ArrayLike, ksize: Any, strides: Any = None, padding: Any = "VALID", data_format: str | None = None
) -> Tensor:
    """Returns the largest element or the mean of each window.

    Args:
      kind: ``"max"`` or ``"avg"``.
      x: images of one to three axes of space.
      ksize: the window: as the strides of :func:`convolution`.
      strides: likewise; windows side by side when None.
      padding: as for :func:`convolution`.
      data_format: likewise.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.pool("max", gx.ones((1, 4, 4, 2)), 2).shape
      (1, 2, 2, 2)
    """
    tensor = gx.asarray(x)
    count = tensor.ndim - 2
    letters = _letters(data_format, count)
    window = _of_space(ksize, letters, count, "ksize")
    steps = window if strides is None else _of_space(strides, letters, count, "strides")
    function = nn.max_pool if kind.lower() == "max" else nn.avg_pool
    return function(tensor, window, steps, _padding(padding, letters), letters)


def bias_add(value: ArrayLike, bias: ArrayLike, data_format: str | None = None) -> Tensor:
    """Returns a tensor with the bias of each channel added.

    Args:
      value: a tensor.
      bias: one number for each channel.
      data_format: the position of the channels: axis 1 for a format such as ``"NCHW"``, else the last.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.bias_add([[1.0, 2.0]], [10.0, 20.0]).tolist()
      [[11.0, 22.0]]
    """
    if data_format is not None and data_format.startswith("NC"):
        bias = gx.reshape(bias, (-1, *[1] * (gx.ndim(value) - 2)))
    return gx.add(value, bias)


def space_to_depth(x: ArrayLike, block_size: int, data_format: str = "NHWC") -> Tensor:
    """Returns images in which blocks of space are put into the channels.

    Args:
      x: ``[batch, height, width, channels]``.
      block_size: the size of a block along each axis.
      data_format: ``"NHWC"``.

    Raises:
      InvalidArgumentError: another format.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.space_to_depth(gx.ones((1, 4, 4, 2)), 2).shape
      (1, 2, 2, 8)
    """
    _only_channels_last("space_to_depth", data_format)
    batch, height, width, channels = gx.shape(x)
    parts = gx.reshape(x, (batch, height // block_size, block_size, width // block_size, block_size, channels))
    parts = gx.permute_dims(parts, (0, 1, 3, 2, 4, 5))
    return gx.reshape(parts, (batch, height // block_size, width // block_size, channels * block_size**2))


def depth_to_space(x: ArrayLike, block_size: int, data_format: str = "NHWC") -> Tensor:
    """Returns images in which channels are put into blocks of space; see :func:`space_to_depth`.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.depth_to_space(gx.ones((1, 2, 2, 8)), 2).shape
      (1, 4, 4, 2)
    """
    _only_channels_last("depth_to_space", data_format)
    batch, height, width, channels = gx.shape(x)
    parts = gx.reshape(x, (batch, height, width, block_size, block_size, channels // block_size**2))
    parts = gx.permute_dims(parts, (0, 1, 3, 2, 4, 5))
    return gx.reshape(parts, (batch, height * block_size, width * block_size, channels // block_size**2))


def _only_channels_last(function: str, data_format: str) -> None:
    if data_format != "NHWC":
        raise InvalidArgumentError(f"{function}: data_format is {data_format!r}, but here only 'NHWC' is known").here()


def local_response_normalization(
    x: ArrayLike, depth_radius: int = 5, bias: Any = 1.0, alpha: Any = 1.0, beta: Any = 0.5
) -> Tensor:
    """Returns images divided by a power of the sum of squares over neighbouring channels (Krizhevsky and others, 2012).

    Args:
      x: ``[batch, height, width, channels]``.
      depth_radius: the number of channels on each side.
      bias: the constant added to the sum.
      alpha: the factor of the sum.
      beta: the power.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.local_response_normalization(gx.ones((1, 1, 1, 1)), 1, bias=3.0).item()
      0.5
    """
    tensor = gx.asarray(x)
    squares = gx.pad(gx.square(tensor), ((0, 0), (0, 0), (0, 0), (depth_radius, depth_radius)))
    channels = tensor.shape[-1]
    total = sum(squares[..., start : start + channels] for start in range(2 * depth_radius + 1))
    return gx.divide(tensor, gx.pow(gx.add(bias, gx.multiply(alpha, total)), beta))
