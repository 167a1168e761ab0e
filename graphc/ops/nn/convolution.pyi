"""Rows of the namespace ``nn``: convolutions over one, two or three axes.

The axes are those of TensorFlow: ``(batch, *space, channels)`` for the input, ``(*space, in, out)`` for filters;
``data_format`` names another order of the input's, such as ``NCHW``.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axes, Padding

__all__ = [
    "conv1d",
    "conv1d_transpose",
    "conv2d",
    "conv2d_transpose",
    "conv3d",
    "conv3d_transpose",
    "depthwise_conv2d",
]

def conv1d(
    x: ArrayLike,
    filters: ArrayLike,
    strides: Axes = 1,
    padding: Padding = "SAME",
    dilations: Axes = 1,
    groups: int = 1,
    data_format: str | None = None,
) -> Tensor:
    """The convolution over one axis of x (batch, *space, in), of filters (*space, in / groups, out).

    Args:
      x: a tensor, or what becomes one.
      filters: a tensor, or what becomes one.
      strides: one or several; negative ones are counted from the end. Static.
      padding: 'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.
      dilations: one or several; negative ones are counted from the end. Static.
      groups: an int. Static.
      data_format: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.nn.conv1d(gx.ones((8, 32, 3)), gx.ones((5, 3, 16))).shape
      (8, 32, 16)
    """

def conv1d_transpose(
    x: ArrayLike,
    filters: ArrayLike,
    strides: Axes = 1,
    padding: Padding = "SAME",
    dilations: Axes = 1,
    data_format: str | None = None,
) -> Tensor:
    """The transposed convolution over one axis: strides enlarge; filters (*space, in, out).

    Args:
      x: a tensor, or what becomes one.
      filters: a tensor, or what becomes one.
      strides: one or several; negative ones are counted from the end. Static.
      padding: 'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.
      dilations: one or several; negative ones are counted from the end. Static.
      data_format: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.nn.conv1d_transpose(gx.ones((8, 16, 3)), gx.ones((2, 3, 4)), 2, "SAME").shape
      (8, 32, 4)
    """

def conv2d(
    x: ArrayLike,
    filters: ArrayLike,
    strides: Axes = 1,
    padding: Padding = "SAME",
    dilations: Axes = 1,
    groups: int = 1,
    data_format: str | None = None,
) -> Tensor:
    """The convolution over two axes of x (batch, *space, in), of filters (*space, in / groups, out).

    Args:
      x: a tensor, or what becomes one.
      filters: a tensor, or what becomes one.
      strides: one or several; negative ones are counted from the end. Static.
      padding: 'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.
      dilations: one or several; negative ones are counted from the end. Static.
      groups: an int. Static.
      data_format: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> images, filters = gx.ones((8, 28, 28, 3)), gx.ones((3, 3, 3, 16))
      >>> gx.nn.conv2d(images, filters, strides=2, padding="SAME").shape
      (8, 14, 14, 16)
    """

def conv2d_transpose(
    x: ArrayLike,
    filters: ArrayLike,
    strides: Axes = 1,
    padding: Padding = "SAME",
    dilations: Axes = 1,
    data_format: str | None = None,
) -> Tensor:
    """The transposed convolution over two axes: strides enlarge; filters (*space, in, out).

    Args:
      x: a tensor, or what becomes one.
      filters: a tensor, or what becomes one.
      strides: one or several; negative ones are counted from the end. Static.
      padding: 'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.
      dilations: one or several; negative ones are counted from the end. Static.
      data_format: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.nn.conv2d_transpose(gx.ones((8, 14, 14, 3)), gx.ones((2, 2, 3, 4)), 2, "SAME").shape
      (8, 28, 28, 4)
    """

def conv3d(
    x: ArrayLike,
    filters: ArrayLike,
    strides: Axes = 1,
    padding: Padding = "SAME",
    dilations: Axes = 1,
    groups: int = 1,
    data_format: str | None = None,
) -> Tensor:
    """The convolution over three axes of x (batch, *space, in), of filters (*space, in / groups, out).

    Args:
      x: a tensor, or what becomes one.
      filters: a tensor, or what becomes one.
      strides: one or several; negative ones are counted from the end. Static.
      padding: 'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.
      dilations: one or several; negative ones are counted from the end. Static.
      groups: an int. Static.
      data_format: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.nn.conv3d(gx.ones((1, 8, 8, 8, 2)), gx.ones((3, 3, 3, 2, 4))).shape
      (1, 8, 8, 8, 4)
    """

def conv3d_transpose(
    x: ArrayLike,
    filters: ArrayLike,
    strides: Axes = 1,
    padding: Padding = "SAME",
    dilations: Axes = 1,
    data_format: str | None = None,
) -> Tensor:
    """The transposed convolution over three axes: strides enlarge; filters (*space, in, out).

    Args:
      x: a tensor, or what becomes one.
      filters: a tensor, or what becomes one.
      strides: one or several; negative ones are counted from the end. Static.
      padding: 'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.
      dilations: one or several; negative ones are counted from the end. Static.
      data_format: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.nn.conv3d_transpose(gx.ones((1, 4, 4, 4, 2)), gx.ones((2, 2, 2, 2, 3)), 2, "SAME").shape
      (1, 8, 8, 8, 3)
    """

def depthwise_conv2d(
    x: ArrayLike,
    filters: ArrayLike,
    strides: Axes = 1,
    padding: Padding = "SAME",
    dilations: Axes = 1,
    data_format: str | None = None,
) -> Tensor:
    """Each channel convolved by itself, with filters (height, width, in, multiplier).

    Args:
      x: a tensor, or what becomes one.
      filters: a tensor, or what becomes one.
      strides: one or several; negative ones are counted from the end. Static.
      padding: 'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.
      dilations: one or several; negative ones are counted from the end. Static.
      data_format: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.nn.depthwise_conv2d(gx.ones((8, 28, 28, 3)), gx.ones((3, 3, 3, 2))).shape
      (8, 28, 28, 6)
    """
