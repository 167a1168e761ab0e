"""Rows of the namespace ``linalg``: norms, decompositions and solutions of linear systems.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axis, DType, Norm, PairedAxes, Tensors
from graphc.ops.results import EighResult, EigResult, QRResult, SlogdetResult, SVDResult

__all__ = [
    "cholesky",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "inv",
    "lstsq",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "multi_dot",
    "norm",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensordot",
    "tensorinv",
    "tensorsolve",
    "trace",
    "vecdot",
    "vector_norm",
]

def cholesky(x: ArrayLike, upper: bool = False) -> Tensor:
    """The lower triangle L of x = L @ L.T, or the upper one U of x = U.T @ U.

    Args:
      x: a tensor, or what becomes one.
      upper: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.cholesky``.
    """

def cond(x: ArrayLike, p: Norm = None) -> Tensor:
    """The condition number of a matrix.

    Args:
      x: a tensor, or what becomes one.
      p: a number, 'fro', 'nuc', or None for Euclid's. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.cond``.
    """

def cross(x1: ArrayLike, x2: ArrayLike, axis: int = -1) -> Tensor:
    """The cross product of vectors of 3 components.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def det(x: ArrayLike) -> Tensor:
    """The determinant of the last two axes.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.det``.
    """

def diagonal(x: ArrayLike, offset: int = 0) -> Tensor:
    """The diagonal of the last two axes.

    Args:
      x: a tensor, or what becomes one.
      offset: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.diagonal``.
    """

def eig(x: ArrayLike) -> EigResult:
    """Eigenvalues and eigenvectors, as columns, of a square matrix; complex. There is none for TPUs.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.eig``.
    """

def eigh(x: ArrayLike) -> EighResult:
    """Eigenvalues, ascending, and eigenvectors, as columns, of a symmetric or Hermitian matrix.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.eigh``.
    """

def eigvals(x: ArrayLike) -> Tensor:
    """The eigenvalues of a square matrix; complex.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.eigvals``.
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

def lstsq(x1: ArrayLike, x2: ArrayLike, rcond: float | None = None) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """The y with the least squares of x1 @ y - x2, then the squares, the rank and the singular values of x1.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      rcond: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.lstsq``.
    """

def matmul(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The matrix product of the last two axes; earlier axes are batches.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def matrix_norm(x: ArrayLike, keepdims: bool = False, ord: Norm = "fro") -> Tensor:
    """The norm of matrices, Frobenius' by default.

    Args:
      x: a tensor, or what becomes one.
      keepdims: True or False. Static.
      ord: a number, 'fro', 'nuc', or None for Euclid's. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.matrix_norm``.
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

def matrix_rank(x: ArrayLike, rtol: ArrayLike | None = None) -> Tensor:
    """The number of singular values that are not zero up to rounding, or above rtol times the largest.

    Args:
      x: a tensor, or what becomes one.
      rtol: a tensor, or what becomes one; None for none.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.matrix_rank``.
    """

def matrix_transpose(x: ArrayLike) -> Tensor:
    """The last two axes exchanged.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.matrix_transpose``.
    """

def multi_dot(arrays: Tensors) -> Tensor:
    """The product of several matrices, in the cheapest order.

    Args:
      arrays: a sequence of tensors, or a tensor for its slices along axis 0.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
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

def outer(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """All products of elements of two vectors, as a matrix.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.outer``.
    """

def pinv(x: ArrayLike, rtol: ArrayLike | None = None) -> Tensor:
    """The pseudo-inverse of Moore and Penrose; singular values below rtol times the largest count as zero.

    Args:
      x: a tensor, or what becomes one.
      rtol: a tensor, or what becomes one; None for none.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.pinv``.
    """

def qr(x: ArrayLike, mode: str = "reduced") -> QRResult:
    """An orthogonal and an upper triangular matrix, mode 'reduced' or 'complete'.

    Args:
      x: a tensor, or what becomes one.
      mode: a string. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def slogdet(x: ArrayLike) -> SlogdetResult:
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

def svd(x: ArrayLike, full_matrices: bool = True) -> SVDResult:
    """The singular value decomposition U, S, Vh with x = U @ diag(S) @ Vh.

    Args:
      x: a tensor, or what becomes one.
      full_matrices: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.svd``.
    """

def svdvals(x: ArrayLike) -> Tensor:
    """The singular values, descending.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.svdvals``.
    """

def tensordot(x1: ArrayLike, x2: ArrayLike, axes: PairedAxes = 2) -> Tensor:
    """The sum of products over paired axes.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      axes: a number of axes, or a list of axes for each tensor. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def tensorinv(x: ArrayLike, ind: int = 2) -> Tensor:
    """The inverse with respect to tensordot.

    Args:
      x: a tensor, or what becomes one.
      ind: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.tensorinv``.
    """

def tensorsolve(x1: ArrayLike, x2: ArrayLike, axes: Axis = None) -> Tensor:
    """The solution y of tensordot(x1, y, y.ndim) = x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      axes: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.tensorsolve``.
    """

def trace(x: ArrayLike, offset: int = 0, dtype: DType = None) -> Tensor:
    """The sum of the diagonal of the last two axes.

    Args:
      x: a tensor, or what becomes one.
      offset: an int. Static.
      dtype: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.trace``.
    """

def vecdot(x1: ArrayLike, x2: ArrayLike, axis: int = -1) -> Tensor:
    """Inner products along axis, x1 conjugated.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
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
