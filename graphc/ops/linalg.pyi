"""Rows of the namespace ``linalg``: norms, decompositions and solutions of linear systems.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axis, Norm

__all__ = [
    "cholesky",
    "det",
    "eigh",
    "eigvalsh",
    "inv",
    "matrix_power",
    "matrix_rank",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "vector_norm",
]

def cholesky(x: ArrayLike) -> Tensor:
    """The lower triangle L of x = L @ L.T.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.cholesky``.
    """

def det(x: ArrayLike) -> Tensor:
    """The determinant of the last two axes.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.det``.
    """

def eigh(x: ArrayLike) -> tuple[Tensor, Tensor]:
    """Eigenvalues, ascending, and eigenvectors, as columns, of a symmetric or Hermitian matrix.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.eigh``.
    """

def eigvalsh(x: ArrayLike) -> Tensor:
    """The eigenvalues of a symmetric matrix.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.eigvalsh``.
    """

def inv(x: ArrayLike) -> Tensor:
    """The inverse of the last two axes.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.inv``.
    """

def matrix_power(x: ArrayLike, n: int) -> Tensor:
    """The matrix multiplied with itself n times.

    Args:
      x: a tensor, or what becomes one.
      n: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.matrix_power``.
    """

def matrix_rank(x: ArrayLike) -> Tensor:
    """The number of singular values that are not zero up to rounding.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.matrix_rank``.
    """

def norm(x: ArrayLike, ord: Norm = None, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The norm of vectors (one axis) or matrices (two); ord is a number, 'fro' or 'nuc', None for Euclid's.

    Args:
      x: a tensor, or what becomes one.
      ord: a number, 'fro', 'nuc', or None for Euclid's. Static.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.norm``.
    """

def pinv(x: ArrayLike) -> Tensor:
    """The pseudo-inverse of Moore and Penrose.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.pinv``.
    """

def qr(x: ArrayLike) -> tuple[Tensor, Tensor]:
    """An orthogonal and an upper triangular matrix.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.qr``.
    """

def slogdet(x: ArrayLike) -> tuple[Tensor, Tensor]:
    """The sign of the determinant and the logarithm of its magnitude.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.slogdet``.
    """

def solve(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The solution y of x1 @ y = x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.solve``.
    """

def solve_triangular(x1: ArrayLike, x2: ArrayLike, lower: bool = True, transpose: bool = False) -> Tensor:
    """The solution y of x1 @ y = x2, x1 triangular (transposed if asked), x2 with two axes or more.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      lower: True or False. Static.
      transpose: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def svd(x: ArrayLike, full_matrices: bool = True) -> tuple[Tensor, Tensor, Tensor]:
    """The singular value decomposition U, S, Vh with x = U @ diag(S) @ Vh.

    Args:
      x: a tensor, or what becomes one.
      full_matrices: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.svd``.
    """

def vector_norm(x: ArrayLike, axis: Axis = None, keepdims: bool = False, ord: Norm = 2) -> Tensor:
    """The norm of vectors along axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.
      ord: a number, 'fro', 'nuc', or None for Euclid's. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.vector_norm``.
    """
