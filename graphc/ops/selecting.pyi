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
    """

def nonzero(x: ArrayLike, size: Size = None, fill_value: float | None = None) -> tuple[Tensor, ...]:
    """The positions of what is not zero, on each axis.

    Args:
      x: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
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
    """

def unique_all(x: ArrayLike, size: Size = None, fill_value: float | None = None) -> UniqueAllResult:
    """The different values, where each occurs first, which of them each element is, and how often each occurs.

    Args:
      x: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def unique_counts(x: ArrayLike, size: Size = None, fill_value: float | None = None) -> UniqueCountsResult:
    """The different values and how often each occurs.

    Args:
      x: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def unique_inverse(x: ArrayLike, size: Size = None, fill_value: float | None = None) -> UniqueInverseResult:
    """The different values and which of them each element is.

    Args:
      x: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def unique_values(x: ArrayLike, size: Size = None, fill_value: float | None = None) -> Tensor:
    """The different values, ascending; every NaN is one of its own.

    Args:
      x: a tensor, or what becomes one.
      size: how many results to keep, which a graph must know; None, in eager code, for as many as there are. Static.
      fill_value: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """
