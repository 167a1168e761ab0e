"""Rows: positions of elements: grids of them, and those of diagonals and triangles.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import DType, Shape, Tensors

__all__ = [
    "diag_indices",
    "diag_indices_from",
    "indices",
    "ix_",
    "ravel_multi_index",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "unravel_index",
]

def diag_indices(n: int, ndim: int = 2) -> tuple[Tensor, ...]:
    """Where a diagonal is.

    Args:
      n: an int. Static.
      ndim: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.diag_indices``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.diag_indices(3))
      [0 1 2] [0 1 2]
    """

def diag_indices_from(x: ArrayLike) -> tuple[Tensor, ...]:
    """Where the diagonal of x is.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> print(*gx.diag_indices_from([[4.0, 1.0], [1.0, 3.0]]))
      [0 1] [0 1]
    """

def indices(dimensions: Shape, dtype: DType = None) -> Tensor:
    """For each axis of a grid, the position along it.

    Args:
      dimensions: an int or several. Static.
      dtype: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.indices((2, 3)).shape
      (2, 2, 3)
    """

def ix_(*arrays: ArrayLike) -> tuple[Tensor, ...]:
    """1-d positions shaped so that together they index a block.

    Args:
      arrays: tensors, or what becomes tensors.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.ix_``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.ix_([0, 1], [2, 3, 1]))
      [[0]
       [1]] [[2 3 1]]
    """

def ravel_multi_index(multi_index: Tensors, dims: Shape, mode: str = "clip") -> Tensor:
    """Positions on several axes as positions in the flattened tensor; 'clip' or 'wrap' for those out of range.

    Args:
      multi_index: a sequence of tensors, or a tensor for its slices along axis 0.
      dims: an int or several. Static.
      mode: a string. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.ravel_multi_index([[0, 1], [2, 3]], (3, 4))
      Tensor([2, 7], shape=(2,), dtype=int32)
    """

def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """Where diagonal k and what is below are.

    Args:
      n: an int. Static.
      k: an int. Static.
      m: an int, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.tril_indices``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.tril_indices(3, -1))
      [1 2 2] [0 0 1]
    """

def tril_indices_from(x: ArrayLike, k: int = 0) -> tuple[Tensor, Tensor]:
    """Where diagonal k of x and what is below are.

    Args:
      x: a tensor, or what becomes one.
      k: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> print(*gx.tril_indices_from([[-5.0, -4.0], [-1.0, 0.0]], 1))
      [0 0 1 1] [0 1 0 1]
    """

def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Tensor, Tensor]:
    """Where diagonal k and what is above are.

    Args:
      n: an int. Static.
      k: an int. Static.
      m: an int, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.triu_indices``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.triu_indices(3, 0, 4))
      [0 0 0 0 1 1 1 2 2] [0 1 2 3 1 2 3 2 3]
    """

def triu_indices_from(x: ArrayLike, k: int = 0) -> tuple[Tensor, Tensor]:
    """Where diagonal k of x and what is above are.

    Args:
      x: a tensor, or what becomes one.
      k: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> print(*gx.triu_indices_from([[-5.0, -4.0], [-1.0, 0.0]]))
      [0 0 1] [0 1 1]
    """

def unravel_index(indices: ArrayLike, shape: Shape) -> tuple[Tensor, ...]:
    """Positions in the flattened tensor as positions on each axis.

    Args:
      indices: a tensor, or what becomes one.
      shape: an int or several. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.unravel_index``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.unravel_index([5, 7], (3, 4)))
      [1 1] [1 3]
    """
