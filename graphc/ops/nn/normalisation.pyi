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

    Example:
      >>> import graphc as gx
      >>> x = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
      >>> gx.nn.batch_norm(x, [0.0, 1.0, 2.0], [1.0, 2.0, 3.0], offset=[1.0, 1.0, 0.0]).numpy().round(3)
      array([[-3.998, -2.535, -2.886],
             [ 0.   ,  0.293, -0.577],
             [ 3.999,  3.121,  1.732]], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.nn.group_norm(gx.ones((8, 28, 28, 4)), 2).shape
      (8, 28, 28, 4)
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

    Example:
      >>> import graphc as gx
      >>> gx.nn.layer_norm([[-5.0, -4.0], [-1.0, 0.0]]).numpy().round(3)
      array([[-1.,  1.],
             [-1.,  1.]], dtype=float32)
    """

def moments(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """The mean and the variance over axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> print(*gx.nn.moments([[-5.0, -4.0], [-1.0, 0.0]], axis=0))
      [-3. -2.] [4. 4.]
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

    Example:
      >>> import graphc as gx
      >>> gx.nn.rms_norm([[-5.0, -4.0], [-1.0, 0.0]]).numpy().round(3)
      array([[-1.104, -0.883],
             [-1.414,  0.   ]], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.nn.standardize([[-5.0, -4.0], [-1.0, 0.0]]).numpy().round(3)
      array([[-1.,  1.],
             [-1.,  1.]], dtype=float32)
    """
