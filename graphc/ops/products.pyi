"""Rows: products of vectors, matrices and tensors.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import PairedAxes

__all__ = [
    "cross",
    "dot",
    "einsum",
    "inner",
    "kron",
    "matmul",
    "matvec",
    "outer",
    "tensordot",
    "vdot",
    "vecdot",
    "vecmat",
]

def cross(x1: ArrayLike, x2: ArrayLike, axis: int = -1) -> Tensor:
    """The cross product of vectors of 3 (or 2) components.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.cross``.
    """

def dot(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The sum over the last axis of x1 and the last but one of x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.dot``.
    """

def einsum(subscripts: str, *operands: ArrayLike) -> Tensor:
    """Products summed as the subscripts say, such as 'bij,bjk->bik' in Einstein's notation.

    Args:
      subscripts: a string. Static.
      operands: tensors, or what becomes tensors.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def inner(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The sum of products over the last axes.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.inner``.
    """

def kron(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The Kronecker product: x2 scaled by each element of x1, as blocks.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.kron``.
    """

def matmul(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The matrix product of the last two axes; earlier axes are batches.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.matmul``.
    """

def matvec(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The product of matrices x1 and vectors x2; earlier axes are batches.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.matvec``.
    """

def outer(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """All products of elements of the flattened tensors, as a matrix.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.outer``.
    """

def tensordot(x1: ArrayLike, x2: ArrayLike, axes: PairedAxes = 2) -> Tensor:
    """The sum of products over paired axes: so many last and first ones, or those listed for x1 and x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      axes: a number of axes, or a list of axes for each tensor. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def vdot(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The inner product of the flattened tensors, x1 conjugated.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.vdot``.
    """

def vecdot(x1: ArrayLike, x2: ArrayLike, axis: int = -1) -> Tensor:
    """Inner products along axis, x1 conjugated.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.vecdot``.
    """

def vecmat(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The product of vectors x1, conjugated, and matrices x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.vecmat``.
    """
