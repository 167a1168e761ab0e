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

    Example:
      >>> import graphc as gx
      >>> gx.argpartition([3.0, 1.0, 2.0], 1)
      Tensor([1, 2, 0], shape=(3,), dtype=int32)
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

    Example:
      >>> import graphc as gx
      >>> gx.argsort(gx.arange(8.0).reshape(2, 2, 2), axis=0).shape
      (2, 2, 2)
    """

def bincount(x: ArrayLike, length: int) -> Tensor:
    """How often each of 0, 1, ..., length - 1 occurs among non-negative integers.

    Args:
      x: a tensor, or what becomes one.
      length: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bincount``.

    Example:
      >>> import graphc as gx
      >>> gx.bincount([1, 2, 1], length=4)
      Tensor([0, 2, 1, 0], shape=(4,), dtype=int32)
    """

def choose(x: ArrayLike, choices: Tensors, mode: str = "clip") -> Tensor:
    """For each element of x the element of the choice that it names; 'clip' or 'wrap' for those out of range.

    Args:
      x: a tensor, or what becomes one.
      choices: a sequence of tensors, or a tensor for its slices along axis 0.
      mode: a string. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.choose([0, 1, 5], [[-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]], mode="clip")
      Tensor([-2.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.digitize([-2.5, 0.5, 3.0], [0.25, 2.0, 7.0])
      Tensor([0, 1, 2], shape=(3,), dtype=int32)
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

    Example:
      >>> import graphc as gx
      >>> gx.interp([-2.5, 0.5, 3.0], [0.25, 2.0, 7.0], [1.5, 0.25, 3.0]).numpy().round(3)
      array([1.5  , 1.321, 0.8  ], dtype=float32)
    """

def isin(x: ArrayLike, values: ArrayLike, invert: bool = False) -> Tensor:
    """Whether x is among values.

    Args:
      x: a tensor, or what becomes one.
      values: a tensor, or what becomes one.
      invert: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.isin([-7, 5, 12], [0, 5])
      Tensor([False,  True, False], shape=(3,), dtype=bool)
    """

def lexsort(keys: Tensors, axis: int = -1) -> Tensor:
    """The positions that sort by several keys, the last one first.

    Args:
      keys: a sequence of tensors, or a tensor for its slices along axis 0.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.lexsort([[-2.5, 0.5, 3.0], [1, 0, 0]])
      Tensor([1, 2, 0], shape=(3,), dtype=int32)
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

    Example:
      >>> import graphc as gx
      >>> gx.partition([3.0, 1.0, 2.0], 1)
      Tensor([1., 2., 3.], shape=(3,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.put_along_axis([[-5.0, -4.0], [-1.0, 0.0]], [[0], [3]], 9.0, 1)
      Tensor([[ 9., -4.],
       [-1.,  0.]], shape=(2, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.searchsorted([0.25, 2.0, 7.0], [1.5, 0.25, 3.0])
      Tensor([1, 0, 2], shape=(3,), dtype=int32)
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

    Example:
      >>> import graphc as gx
      >>> gx.sort(gx.arange(8.0).reshape(2, 2, 2)).shape
      (2, 2, 2)
    """

def sort_complex(x: ArrayLike) -> Tensor:
    """Sorted along the last axis, as complex numbers.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sort_complex``.

    Example:
      >>> import graphc as gx
      >>> gx.sort_complex([1 + 2j, 0 - 1j, 3])
      Tensor([0.-1.j, 1.+2.j, 3.+0.j], shape=(3,), dtype=complex64)
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

    Example:
      >>> import graphc as gx
      >>> x = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
      >>> gx.take(x, [2, 0], axis=0)
      Tensor([[ 3.,  4.,  5.],
       [-5., -4., -3.]], shape=(2, 3), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> x = [[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]]
      >>> gx.take_along_axis(x, gx.argsort(x), axis=1)
      Tensor([[1., 2., 3.],
       [4., 5., 6.]], shape=(2, 3), dtype=float32)
    """

def top_k(x: ArrayLike, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
    """The k largest elements along axis, largest first, and their positions.

    Args:
      x: a tensor, or what becomes one.
      k: an int. Static.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> [part.shape for part in gx.top_k(gx.arange(8.0).reshape(2, 2, 2), 2)]
      [(2, 2, 2), (2, 2, 2)]
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

    Example:
      >>> import graphc as gx
      >>> gx.where([True, False, True], [-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-2.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
    """
