"""Matrices: diagonals, bands, and linear systems."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphc.compiler.core import ArrayLike, Tensor
from graphc.compiler.ops import functions as gx
from graphc.compiler.ops import linalg

__all__ = [
    "adjoint",
    "band_part",
    "cholesky_solve",
    "diag",
    "lstsq",
    "matmul",
    "set_diag",
    "svd",
    "tensor_diag_part",
]


def adjoint(matrix: ArrayLike) -> Tensor:
    """Returns matrices with the last two axes exchanged, and conjugated.

    Args:
      matrix: ``[..., m, n]``.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.adjoint([[1.0, 2.0j]]).tolist()
      [[(1-0j)], [-2j]]
    """
    return gx.conj(gx.matrix_transpose(matrix))


def matmul(
    a: ArrayLike, b: ArrayLike, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Tensor:  # fmt: skip
    """Returns the matrix product of the last two axes, transposed or adjoint first on demand.

    Args:
      a: matrices.
      b: matrices.
      transpose_a: whether ``a`` is transposed.
      transpose_b: whether ``b`` is.
      adjoint_a: whether ``a`` is transposed and conjugated.
      adjoint_b: whether ``b`` is.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True).tolist()
      [[11.0]]
    """
    a = adjoint(a) if adjoint_a else gx.matrix_transpose(a) if transpose_a else a
    b = adjoint(b) if adjoint_b else gx.matrix_transpose(b) if transpose_b else b
    return gx.matmul(a, b)


def band_part(x: ArrayLike, num_lower: int, num_upper: int) -> Tensor:
    """Returns matrices that are zero but for so many diagonals below and above the main one.

    Args:
      x: ``[..., m, n]``.
      num_lower: the number of diagonals below; -1 for all.
      num_upper: the number of diagonals above; -1 for all.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.band_part([[1, 2], [3, 4]], 0, -1).tolist()
      [[1, 2], [0, 4]]
    """
    tensor = gx.asarray(x)
    below: Any = np.subtract.outer(range(tensor.shape[-2]), range(tensor.shape[-1]))
    keep = ((num_lower < 0) | (below <= num_lower)) & ((num_upper < 0) | (-below <= num_upper))
    return gx.where(keep, tensor, gx.zeros((), dtype=tensor.dtype))


def _places(count: int, k: int) -> tuple[Any, Any, Any]:
    steps = np.arange(count)
    return (Ellipsis, steps + max(-k, 0), steps + max(k, 0))


def diag(diagonal: ArrayLike, k: int = 0) -> Tensor:
    """Returns matrices with these diagonals, and zeros elsewhere.

    Args:
      diagonal: ``[..., n]``.
      k: the offset above the main diagonal; below it if negative.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.diag([[1, 2]]).tolist()
      [[[1, 0], [0, 2]]]
    """
    values = gx.asarray(diagonal)
    size = values.shape[-1] + abs(k)
    start = gx.zeros((*values.shape[:-1], size, size), dtype=values.dtype)
    return start.at[_places(values.shape[-1], k)].set(values)


def set_diag(x: ArrayLike, diagonal: ArrayLike, k: int = 0) -> Tensor:
    """Returns copies of matrices with other diagonals; see :func:`diag`.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.set_diag([[1, 2], [3, 4]], [7, 8]).tolist()
      [[7, 2], [3, 8]]
    """
    values = gx.asarray(diagonal)
    return gx.asarray(x).at[_places(values.shape[-1], k)].set(values)


def tensor_diag_part(x: ArrayLike) -> Tensor:
    """Returns the diagonal of a tensor whose first half of axes is like the second.

    Args:
      x: ``[*shape, *shape]``.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.tensor_diag_part([[1, 2], [3, 4]]).tolist()
      [1, 4]
    """
    tensor = gx.asarray(x)
    half = tensor.shape[: tensor.ndim // 2]
    count = math.prod(half)
    return gx.reshape(gx.diag(gx.reshape(tensor, (count, count))), half)


def cholesky_solve(chol: ArrayLike, rhs: ArrayLike) -> Tensor:
    """Returns the solution y of ``A @ y = rhs`` by the Cholesky factor of A.

    Args:
      chol: lower triangular matrices L with ``L @ L^H = A``.
      rhs: ``[..., n, k]``.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.cholesky_solve([[2.0]], [[8.0]]).tolist()
      [[2.0]]
    """
    first = linalg.solve_triangular(chol, rhs)
    return linalg.solve_triangular(gx.conj(chol), first, transpose=True)


def lstsq(matrix: ArrayLike, rhs: ArrayLike, l2_regularizer: float = 0.0, fast: bool = True) -> Tensor:
    """Returns the solution with the least squares, to which a multiple of its own squares may be added.

    Args:
      matrix: ``[..., m, n]``.
      rhs: ``[..., m, k]``.
      l2_regularizer: the multiple.
      fast: whether the normal equations are solved, which is less exact; else the pseudo-inverse is taken.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.lstsq([[1.0], [1.0]], [[1.0], [3.0]]).tolist()
      [[2.0]]
    """
    if not fast and not l2_regularizer:
        return gx.matmul(linalg.pinv(matrix), rhs)
    tensor = gx.asarray(matrix)
    rows, columns = tensor.shape[-2:]
    turned = adjoint(tensor)
    if rows >= columns:
        square = gx.matmul(turned, tensor) + l2_regularizer * gx.eye(columns, dtype=tensor.dtype)
        return linalg.solve(square, gx.matmul(turned, rhs))
    square = gx.matmul(tensor, turned) + l2_regularizer * gx.eye(rows, dtype=tensor.dtype)
    return gx.matmul(turned, linalg.solve(square, rhs))


def svd(tensor: ArrayLike, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Returns the singular values, and U and V with ``x = U @ diag(S) @ V^H``, in TensorFlow's order.

    Args:
      tensor: ``[..., m, n]``.
      full_matrices: whether U and V are square.
      compute_uv: whether they are computed; else the singular values are all.

    Example:
      >>> import graphc as gx
      >>> s, u, v = gx.arrays.svd([[3.0, 0.0], [0.0, 4.0]])
      >>> s.tolist()
      [4.0, 3.0]
    """
    if not compute_uv:
        return linalg.svdvals(tensor)
    u, s, vh = linalg.svd(tensor, full_matrices)
    return s, u, adjoint(vh)
