"""Rows of the namespace ``nn``: tensors shifted and scaled to mean 0 and variance 1.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axis

__all__ = [
    "batch_norm",
    "group_norm",
    "layer_norm",
    "moments",
    "rms_norm",
    "standardize",
]

def batch_norm(
    x: ArrayLike,
    mean: ArrayLike,
    variance: ArrayLike,
    scale: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    epsilon: float = 0.001,
) -> Tensor:
    """Shifted by a mean and scaled by a variance, as nn.moments or a running mean gives them.

    Args:
      x: a tensor, or what becomes one.
      mean: a tensor, or what becomes one.
      variance: a tensor, or what becomes one.
      scale: a tensor, or what becomes one; None for none.
      offset: a tensor, or what becomes one; None for none.
      epsilon: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def group_norm(
    x: ArrayLike, groups: int, scale: ArrayLike | None = None, offset: ArrayLike | None = None, epsilon: float = 1e-05
) -> Tensor:
    """Shifted and scaled over space and each group of channels, the last axis, then times scale plus offset.

    Args:
      x: a tensor, or what becomes one.
      groups: an int. Static.
      scale: a tensor, or what becomes one; None for none.
      offset: a tensor, or what becomes one; None for none.
      epsilon: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def layer_norm(
    x: ArrayLike,
    scale: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    axis: Axis = -1,
    epsilon: float = 1e-05,
) -> Tensor:
    """Shifted and scaled to mean 0 and variance 1 over axis, then times scale plus offset.

    Args:
      x: a tensor, or what becomes one.
      scale: a tensor, or what becomes one; None for none.
      offset: a tensor, or what becomes one; None for none.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      epsilon: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def moments(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The mean and the variance over axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def rms_norm(x: ArrayLike, scale: ArrayLike | None = None, axis: Axis = -1, epsilon: float = 1e-06) -> Tensor:
    """Scaled to a mean square of 1 over axis, then times scale.

    Args:
      x: a tensor, or what becomes one.
      scale: a tensor, or what becomes one; None for none.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      epsilon: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def standardize(x: ArrayLike, axis: Axis = -1, epsilon: float = 1e-05) -> Tensor:
    """Shifted and scaled to mean 0 and variance 1 over axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      epsilon: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.standardize``.
    """
