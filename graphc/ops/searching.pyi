"""Rows: sorting, searching, choosing and gathering.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Tensors

__all__ = [
    "argpartition",
    "argsort",
    "bincount",
    "choose",
    "digitize",
    "interp",
    "isin",
    "lexsort",
    "partition",
    "put_along_axis",
    "searchsorted",
    "sort",
    "sort_complex",
    "take",
    "take_along_axis",
    "top_k",
    "where",
]

def argpartition(x: ArrayLike, kth: int, axis: int = -1) -> Tensor:
    """The positions that partition along axis.

    Args:
      x: a tensor, or what becomes one.
      kth: an int. Static.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.argpartition``.
    """

def argsort(x: ArrayLike, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The positions that sort along axis.

    Args:
      x: a tensor, or what becomes one.
      axis: an int. Static.
      descending: True or False. Static.
      stable: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.argsort``.
    """

def bincount(x: ArrayLike, length: int) -> Tensor:
    """How often each of 0, 1, ..., length - 1 occurs among non-negative integers.

    Args:
      x: a tensor, or what becomes one.
      length: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bincount``.
    """

def choose(x: ArrayLike, choices: Tensors, mode: str = "clip") -> Tensor:
    """For each element of x the element of the choice that it names; 'clip' or 'wrap' for those out of range.

    Args:
      x: a tensor, or what becomes one.
      choices: a sequence of tensors, or a tensor for its slices along axis 0.
      mode: a string. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def digitize(x: ArrayLike, bins: ArrayLike, right: bool = False) -> Tensor:
    """Which interval of the monotonic bins each element lies in.

    Args:
      x: a tensor, or what becomes one.
      bins: a tensor, or what becomes one.
      right: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.digitize``.
    """

def interp(x: ArrayLike, xp: ArrayLike, fp: ArrayLike) -> Tensor:
    """The value at x of the piecewise linear function through the points (xp, fp), xp ascending.

    Args:
      x: a tensor, or what becomes one.
      xp: a tensor, or what becomes one.
      fp: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.interp``.
    """

def isin(x: ArrayLike, values: ArrayLike, invert: bool = False) -> Tensor:
    """Whether x is among values.

    Args:
      x: a tensor, or what becomes one.
      values: a tensor, or what becomes one.
      invert: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def lexsort(keys: Tensors, axis: int = -1) -> Tensor:
    """The positions that sort by several keys, the last one first.

    Args:
      keys: a sequence of tensors, or a tensor for its slices along axis 0.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def partition(x: ArrayLike, kth: int, axis: int = -1) -> Tensor:
    """Ordered along axis so that what is before position kth is not larger, and what is behind not smaller.

    Args:
      x: a tensor, or what becomes one.
      kth: an int. Static.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.partition``.
    """

def put_along_axis(x: ArrayLike, indices: ArrayLike, values: ArrayLike, axis: int | None) -> Tensor:
    """A copy in which the elements along axis that indices name are values.

    Args:
      x: a tensor, or what becomes one.
      indices: a tensor, or what becomes one.
      values: a tensor, or what becomes one.
      axis: an int, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def searchsorted(x1: ArrayLike, x2: ArrayLike, side: str = "left", sorter: ArrayLike | None = None) -> Tensor:
    """Where in the sorted x1, or x1[sorter], elements of x2 belong: before equals for 'left', after for 'right'.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      side: a string. Static.
      sorter: a tensor, or what becomes one; None for none.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.searchsorted``.
    """

def sort(x: ArrayLike, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """Sorted along axis.

    Args:
      x: a tensor, or what becomes one.
      axis: an int. Static.
      descending: True or False. Static.
      stable: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sort``.
    """

def sort_complex(x: ArrayLike) -> Tensor:
    """Sorted along the last axis, as complex numbers.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sort_complex``.
    """

def take(x: ArrayLike, indices: ArrayLike, axis: int | None = None) -> Tensor:
    """The elements (slices, along axis) at these positions; one out of range is NaN, or the smallest integer.

    Args:
      x: a tensor, or what becomes one.
      indices: a tensor, or what becomes one.
      axis: an int, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.take``.
    """

def take_along_axis(x: ArrayLike, indices: ArrayLike, axis: int = -1) -> Tensor:
    """For each position, the element of x along axis that indices names there; NaN out of range.

    Args:
      x: a tensor, or what becomes one.
      indices: a tensor, or what becomes one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.take_along_axis``.
    """

def top_k(x: ArrayLike, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
    """The k largest elements along axis, largest first, and their positions.

    Args:
      x: a tensor, or what becomes one.
      k: an int. Static.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def where(condition: ArrayLike, x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 where the condition is true, x2 elsewhere.

    Args:
      condition: a tensor, or what becomes one.
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.where``.
    """
