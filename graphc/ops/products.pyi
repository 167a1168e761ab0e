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

    Example:
      >>> import graphc as gx
      >>> gx.cross([-2.5, -1.0, -0.0], [1.5, -2.0, 4.0])
      Tensor([-4. , 10. ,  6.5], shape=(3,), dtype=float32)
    """

def dot(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The sum over the last axis of x1 and the last but one of x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.dot``.

    Example:
      >>> import graphc as gx
      >>> gx.dot([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor(5.375, shape=(), dtype=float32)
    """

def einsum(subscripts: str, *operands: ArrayLike) -> Tensor:
    """Products summed as the subscripts say, such as 'bij,bjk->bik' in Einstein's notation.

    Args:
      subscripts: a string. Static.
      operands: tensors, or what becomes tensors.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> operands = gx.arange(8.0).reshape(2, 2, 2)
      >>> gx.einsum("bij,kj->bik", operands, [[-5.0, -4.0], [-1.0, 0.0]]).shape
      (2, 2, 2)
    """

def inner(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The sum of products over the last axes.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.inner``.

    Example:
      >>> import graphc as gx
      >>> gx.inner([[-5.0, -4.0], [-1.0, 0.0]], [[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([[41.,  5.],
       [ 5.,  1.]], shape=(2, 2), dtype=float32)
    """

def kron(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The Kronecker product: x2 scaled by each element of x1, as blocks.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.kron``.

    Example:
      >>> import graphc as gx
      >>> gx.kron([[1.0, 2.0], [3.0, 4.0]], [[4.0, 1.0], [1.0, 3.0]])
      Tensor([[ 4.,  1.,  8.,  2.],
       [ 1.,  3.,  2.,  6.],
       [12.,  3., 16.,  4.],
       [ 3.,  9.,  4., 12.]], shape=(4, 4), dtype=float32)
    """

def matmul(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The matrix product of the last two axes; earlier axes are batches.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.matmul``.

    Example:
      >>> import graphc as gx
      >>> gx.matmul([[-5.0, -4.0], [-1.0, 0.0]], [[-5.0, -1.0], [-4.0, 0.0]])
      Tensor([[41.,  5.],
       [ 5.,  1.]], shape=(2, 2), dtype=float32)
    """

def matvec(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The product of matrices x1 and vectors x2; earlier axes are batches.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.matvec``.

    Example:
      >>> import graphc as gx
      >>> x1 = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
      >>> x2 = [-2.5, -1.0, -0.0]
      >>> gx.matvec(x1, x2)
      Tensor([ 16.5,   2.5, -11.5], shape=(3,), dtype=float32)
    """

def outer(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """All products of elements of the flattened tensors, as a matrix.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.outer``.

    Example:
      >>> import graphc as gx
      >>> gx.outer([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([[-3.75 , -0.625, -7.5  ],
       [ 0.75 ,  0.125,  1.5  ],
       [ 4.5  ,  0.75 ,  9.   ]], shape=(3, 3), dtype=float32)
    """

def tensordot(x1: ArrayLike, x2: ArrayLike, axes: PairedAxes = 2) -> Tensor:
    """The sum of products over paired axes: so many last and first ones, or those listed for x1 and x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      axes: a number of axes, or a list of axes for each tensor. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> x1 = gx.arange(8.0).reshape(2, 2, 2)
      >>> x2 = gx.arange(8.0).reshape(2, 2, 2)
      >>> gx.tensordot(x1, x2, axes=((0, 2), (0, 2)))
      Tensor([[42., 62.],
       [62., 98.]], shape=(2, 2), dtype=float32)
    """

def vdot(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The inner product of the flattened tensors, x1 conjugated.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.vdot``.

    Example:
      >>> import graphc as gx
      >>> gx.vdot([1 + 2j, 0 - 1j, 3], [1 + 2j, 0 - 1j, 3])
      Tensor(15.+0.j, shape=(), dtype=complex64)
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

    Example:
      >>> import graphc as gx
      >>> x1 = gx.arange(8.0).reshape(2, 2, 2)
      >>> x2 = gx.arange(8.0).reshape(2, 2, 2)
      >>> gx.vecdot(x1, x2)
      Tensor([[ 1., 13.],
       [41., 85.]], shape=(2, 2), dtype=float32)
    """

def vecmat(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The product of vectors x1, conjugated, and matrices x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.vecmat``.

    Example:
      >>> import graphc as gx
      >>> x1 = [-2.5, -1.0, -0.0]
      >>> x2 = [[-5.0, -4.0, -3.0], [-1.0, 0.0, 1.0], [3.0, 4.0, 5.0]]
      >>> gx.vecmat(x1, x2)
      Tensor([13.5, 10. ,  6.5], shape=(3,), dtype=float32)
    """
