"""Rows of the namespace ``nn``: windows that are moved over images, and what is taken of each.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axis, Padding, Shape

__all__ = [
    "avg_pool",
    "max_pool",
]

def avg_pool(
    x: ArrayLike, window: Shape, strides: Axis = None, padding: Padding = "VALID", data_format: str | None = None
) -> Tensor:
    """The mean of each window, padding left out; side by side without strides.

    Args:
      x: a tensor, or what becomes one.
      window: an int or several. Static.
      strides: one or several; negative ones are counted from the end; None for all. Static.
      padding: 'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.
      data_format: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.nn.avg_pool(gx.ones((1, 4, 4, 3)), 2).shape
      (1, 2, 2, 3)
    """

def max_pool(
    x: ArrayLike, window: Shape, strides: Axis = None, padding: Padding = "VALID", data_format: str | None = None
) -> Tensor:
    """The largest element of each window; windows side by side without strides.

    Args:
      x: a tensor, or what becomes one.
      window: an int or several. Static.
      strides: one or several; negative ones are counted from the end; None for all. Static.
      padding: 'SAME' to keep sizes but for the strides, 'VALID' for no padding, or pairs (before, after). Static.
      data_format: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.nn.max_pool(gx.ones((1, 4, 4, 3)), 2).shape
      (1, 2, 2, 3)
    """
