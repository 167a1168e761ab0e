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

    Example:
      >>> import graphc as gx
      >>> gx.linalg.cholesky([[4.0, 1.0], [1.0, 3.0]]).numpy().round(3)
      array([[2.   , 0.   ],
             [0.5  , 1.658]], dtype=float32)
    """

def cond(x: ArrayLike, p: Norm = None) -> Tensor:
    """The condition number of a matrix.

    Args:
      x: a tensor, or what becomes one.
      p: a number, 'fro', 'nuc', or None for Euclid's. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.cond``.

    Example:
      >>> import graphc as gx
      >>> print(f"{gx.linalg.cond([[4.0, 1.0], [1.0, 3.0]]).item():.3f}")
      1.939
    """

def cross(x1: ArrayLike, x2: ArrayLike, axis: int = -1) -> Tensor:
    """The cross product of vectors of 3 components.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.cross([-2.5, -1.0, -0.0], [1.5, -2.0, 4.0])
      Tensor([-4. , 10. ,  6.5], shape=(3,), dtype=float32)
    """

def det(x: ArrayLike) -> Tensor:
    """The determinant of the last two axes.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.det``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.det([[4.0, 1.0], [1.0, 3.0]])
      Tensor(11., shape=(), dtype=float32)
    """

def diagonal(x: ArrayLike, offset: int = 0) -> Tensor:
    """The diagonal of the last two axes.

    Args:
      x: a tensor, or what becomes one.
      offset: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.diagonal``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.diagonal(gx.arange(8.0).reshape(2, 2, 2), offset=1)
      Tensor([[1.],
       [5.]], shape=(2, 1), dtype=float32)
    """

def eig(x: ArrayLike) -> EigResult:
    """Eigenvalues and eigenvectors, as columns, of a square matrix; complex. There is none for TPUs.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.eig``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.eig([[2.0, 0.0], [0.0, 1.0]]).eigenvalues
      Tensor([2.+0.j, 1.+0.j], shape=(2,), dtype=complex64)
    """

def eigh(x: ArrayLike) -> EighResult:
    """Eigenvalues, ascending, and eigenvectors, as columns, of a symmetric or Hermitian matrix.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.eigh``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.eigh([[2.0, 0.0], [0.0, 1.0]]).eigenvalues
      Tensor([1., 2.], shape=(2,), dtype=float32)
    """

def eigvals(x: ArrayLike) -> Tensor:
    """The eigenvalues of a square matrix; complex.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.eigvals``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.eigvals([[4.0, 1.0], [0.0, 3.0]])
      Tensor([4.+0.j, 3.+0.j], shape=(2,), dtype=complex64)
    """

def eigvalsh(x: ArrayLike) -> Tensor:
    """The eigenvalues of a symmetric matrix.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.eigvalsh``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.eigvalsh([[4.0, 1.0], [1.0, 3.0]]).numpy().round(3)
      array([2.382, 4.618], dtype=float32)
    """

def inv(x: ArrayLike) -> Tensor:
    """The inverse of the last two axes.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.inv``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.inv([[4.0, 1.0], [1.0, 3.0]]).numpy().round(3)
      array([[ 0.273, -0.091],
             [-0.091,  0.364]], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> [part.shape for part in gx.linalg.lstsq([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [1.0, 2.0, 4.0])]
      [(2,), (1,), (), (2,)]
    """

def matmul(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The matrix product of the last two axes; earlier axes are batches.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> x1 = [[-5.0, -4.0], [-1.0, 0.0]]
      >>> x2 = [[-5.0, -1.0], [-4.0, 0.0]]
      >>> gx.linalg.matmul(x1, x2)
      Tensor([[41.,  5.],
       [ 5.,  1.]], shape=(2, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.linalg.matrix_norm(gx.arange(8.0).reshape(2, 2, 2)).numpy().round(3)
      array([ 3.742, 11.225], dtype=float32)
    """

def matrix_power(x: ArrayLike, n: int) -> Tensor:
    """The matrix multiplied with itself n times.

    Args:
      x: a tensor, or what becomes one.
      n: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.matrix_power``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.matrix_power([[4.0, 1.0], [1.0, 3.0]], 3)
      Tensor([[75., 38.],
       [38., 37.]], shape=(2, 2), dtype=float32)
    """

def matrix_rank(x: ArrayLike, rtol: ArrayLike | None = None) -> Tensor:
    """The number of singular values that are not zero up to rounding, or above rtol times the largest.

    Args:
      x: a tensor, or what becomes one.
      rtol: a tensor, or what becomes one; None for none.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.matrix_rank``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.matrix_rank([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor(2, shape=(), dtype=int32)
    """

def matrix_transpose(x: ArrayLike) -> Tensor:
    """The last two axes exchanged.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.matrix_transpose``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.matrix_transpose(gx.arange(8.0).reshape(2, 2, 2)).shape
      (2, 2, 2)
    """

def multi_dot(arrays: Tensors) -> Tensor:
    """The product of several matrices, in the cheapest order.

    Args:
      arrays: a sequence of tensors, or a tensor for its slices along axis 0.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> arrays = [[[-5.0, -4.0], [-1.0, 0.0]], [[-5.0, -1.0], [-4.0, 0.0]], [[4.0, 1.0], [1.0, 3.0]]]
      >>> gx.linalg.multi_dot(arrays)
      Tensor([[169.,  56.],
       [ 21.,   8.]], shape=(2, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> print(f"{gx.linalg.norm([-2.5, 0.5, 3.0]).item():.3f}")
      3.937
    """

def outer(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """All products of elements of two vectors, as a matrix.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.outer``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.outer([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([[-3.75 , -0.625, -7.5  ],
       [ 0.75 ,  0.125,  1.5  ],
       [ 4.5  ,  0.75 ,  9.   ]], shape=(3, 3), dtype=float32)
    """

def pinv(x: ArrayLike, rtol: ArrayLike | None = None) -> Tensor:
    """The pseudo-inverse of Moore and Penrose; singular values below rtol times the largest count as zero.

    Args:
      x: a tensor, or what becomes one.
      rtol: a tensor, or what becomes one; None for none.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.pinv``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.pinv([[1.0, 2.0], [3.0, 4.0]]).numpy().round(3)
      array([[-2. ,  1. ],
             [ 1.5, -0.5]], dtype=float32)
    """

def qr(x: ArrayLike, mode: str = "reduced") -> QRResult:
    """An orthogonal and an upper triangular matrix, mode 'reduced' or 'complete'.

    Args:
      x: a tensor, or what becomes one.
      mode: a string. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> result = gx.linalg.qr([[1.0, 2.0], [3.0, 4.0]])
      >>> (result.Q @ result.R).numpy().round(3)
      array([[1., 2.],
             [3., 4.]], dtype=float32)
    """

def slogdet(x: ArrayLike) -> SlogdetResult:
    """The sign of the determinant and the logarithm of its magnitude.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.slogdet``.

    Example:
      >>> import graphc as gx
      >>> print(*[part.numpy().round(3) for part in gx.linalg.slogdet([[4.0, 1.0], [1.0, 3.0]])])
      1.0 2.398
    """

def solve(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The solution y of x1 @ y = x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.solve``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.solve([[4.0, 1.0], [1.0, 3.0]], [[1.0, 2.0], [3.0, 4.0]]).numpy().round(3)
      array([[0.   , 0.182],
             [1.   , 1.273]], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> x1 = [[4.0, 0.0], [1.0, 3.0]]
      >>> x2 = [[1.0, 2.0], [3.0, 4.0]]
      >>> gx.linalg.solve_triangular(x1, x2).numpy().round(3)
      array([[0.25 , 0.5  ],
             [0.917, 1.167]], dtype=float32)
    """

def svd(x: ArrayLike, full_matrices: bool = True) -> SVDResult:
    """The singular value decomposition U, S, Vh with x = U @ diag(S) @ Vh.

    Args:
      x: a tensor, or what becomes one.
      full_matrices: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.svd``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.svd([[3.0, 0.0], [0.0, 4.0]]).S
      Tensor([4., 3.], shape=(2,), dtype=float32)
    """

def svdvals(x: ArrayLike) -> Tensor:
    """The singular values, descending.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.svdvals``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.svdvals([[4.0, 1.0], [1.0, 3.0]]).numpy().round(3)
      array([4.618, 2.382], dtype=float32)
    """

def tensordot(x1: ArrayLike, x2: ArrayLike, axes: PairedAxes = 2) -> Tensor:
    """The sum of products over paired axes.

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
      >>> gx.linalg.tensordot(x1, x2, axes=((0, 2), (0, 2)))
      Tensor([[42., 62.],
       [62., 98.]], shape=(2, 2), dtype=float32)
    """

def tensorinv(x: ArrayLike, ind: int = 2) -> Tensor:
    """The inverse with respect to tensordot.

    Args:
      x: a tensor, or what becomes one.
      ind: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.linalg.tensorinv``.

    Example:
      >>> import graphc as gx
      >>> gx.linalg.tensorinv(gx.arange(4.0).reshape(2, 2, 1), 1).shape
      (2, 1, 2)
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

    Example:
      >>> import graphc as gx
      >>> x1 = [[4.0, 1.0, 0.5], [1.0, 3.0, -1.0], [0.5, -1.0, 5.0]]
      >>> gx.linalg.tensorsolve(x1, [1.0, 2.0, 3.0]).numpy().round(3)
      array([-0.091,  0.964,  0.802], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.linalg.trace(gx.arange(8.0).reshape(2, 2, 2))
      Tensor([ 3., 11.], shape=(2,), dtype=float32)
    """

def vecdot(x1: ArrayLike, x2: ArrayLike, axis: int = -1) -> Tensor:
    """Inner products along axis, x1 conjugated.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> x1 = gx.arange(8.0).reshape(2, 2, 2)
      >>> x2 = gx.arange(8.0).reshape(2, 2, 2)
      >>> gx.linalg.vecdot(x1, x2)
      Tensor([[ 1., 13.],
       [41., 85.]], shape=(2, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.linalg.vector_norm(gx.arange(8.0).reshape(2, 2, 2), axis=1).numpy().round(3)
      array([[2.   , 3.162],
             [7.211, 8.602]], dtype=float32)
    """
