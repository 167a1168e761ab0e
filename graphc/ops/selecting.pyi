"""Rows: results that have as many elements as the values say: places of what is not zero, and sets.

In eager code NumPy finds them. A graph must know shapes: there ``size`` says how many to keep, and what is missing is
filled up, as in JAX.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Size
from graphc.ops.results import UniqueAllResult, UniqueCountsResult, UniqueInverseResult

__all__ = [
    "argwhere",
    "flatnonzero",
    "intersect1d",
    "nonzero",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]

def argwhere(x: ArrayLike, size: Size = None, fill_value: float | None = None) -> Tensor:
    """The positions of what is not zero, a row for each.

    Args:
      x: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.argwhere``.

    Example:
      >>> import graphc as gx
      >>> gx.argwhere([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([[0, 0],
       [0, 1],
       [1, 0]], shape=(3, 2), dtype=int32)
    """

def flatnonzero(x: ArrayLike, size: Size = None, fill_value: float | None = None) -> Tensor:
    """The positions of what is not zero, in the flattened tensor.

    Args:
      x: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.flatnonzero``.

    Example:
      >>> import graphc as gx
      >>> gx.flatnonzero([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([0, 1, 2], shape=(3,), dtype=int32)
    """

def intersect1d(x1: ArrayLike, x2: ArrayLike, size: Size = None, fill_value: float | None = None) -> Tensor:
    """The values that are in both of two tensors.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.intersect1d``.

    Example:
      >>> import graphc as gx
      >>> gx.intersect1d([3, 0, 1], [1, 2])
      Tensor([1], shape=(1,), dtype=int32)
    """

def nonzero(x: ArrayLike, size: Size = None, fill_value: float | None = None) -> tuple[Tensor, ...]:
    """The positions of what is not zero, on each axis.

    Args:
      x: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> print(*gx.nonzero([[-5.0, -4.0], [-1.0, 0.0]]))
      [0 0 1] [0 1 0]
    """

def setdiff1d(x1: ArrayLike, x2: ArrayLike, size: Size = None, fill_value: float | None = None) -> Tensor:
    """The values of x1 that are not in x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.setdiff1d``.

    Example:
      >>> import graphc as gx
      >>> gx.setdiff1d([3, 0, 1], [1, 2])
      Tensor([0, 3], shape=(2,), dtype=int32)
    """

def setxor1d(x1: ArrayLike, x2: ArrayLike, size: Size = None, fill_value: float | None = None) -> Tensor:
    """The values that are in exactly one of two tensors.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.setxor1d``.

    Example:
      >>> import graphc as gx
      >>> gx.setxor1d([3, 0, 1], [1, 2])
      Tensor([0, 2, 3], shape=(3,), dtype=int32)
    """

def union1d(x1: ArrayLike, x2: ArrayLike, size: Size = None, fill_value: float | None = None) -> Tensor:
    """The values that are in one of two tensors.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.union1d``.

    Example:
      >>> import graphc as gx
      >>> gx.union1d([3, 0, 1], [1, 2])
      Tensor([0, 1, 2, 3], shape=(4,), dtype=int32)
    """

def unique(
    x: ArrayLike,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    size: Size = None,
    fill_value: float | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """The different values, ascending; on demand with where they occur, which each element is, and how often.

    Args:
      x: a tensor, or what becomes one.
      return_index: True or False. Static.
      return_inverse: True or False. Static.
      return_counts: True or False. Static.
      axis: an int, or None. Static.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.unique([3, 0, 1])
      Tensor([0, 1, 3], shape=(3,), dtype=int32)
    """

def unique_all(x: ArrayLike, size: Size = None, fill_value: float | None = None) -> UniqueAllResult:
    """The different values, where each occurs first, which of them each element is, and how often each occurs.

    Args:
      x: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> print(*gx.unique_all([3, 0, 1]))
      [0 1 3] [1 2 0] [2 0 1] [1 1 1]
    """

def unique_counts(x: ArrayLike, size: Size = None, fill_value: float | None = None) -> UniqueCountsResult:
    """The different values and how often each occurs.

    Args:
      x: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> print(*gx.unique_counts([3, 0, 1]))
      [0 1 3] [1 1 1]
    """

def unique_inverse(x: ArrayLike, size: Size = None, fill_value: float | None = None) -> UniqueInverseResult:
    """The different values and which of them each element is.

    Args:
      x: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> print(*gx.unique_inverse([3, 0, 1]))
      [0 1 3] [2 0 1]
    """

def unique_values(x: ArrayLike, size: Size = None, fill_value: float | None = None) -> Tensor:
    """The different values, ascending; every NaN is one of its own.

    Args:
      x: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.unique_values([3, 0, 1])
      Tensor([0, 1, 3], shape=(3,), dtype=int32)
    """
