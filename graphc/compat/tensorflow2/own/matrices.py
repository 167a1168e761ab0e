"""Compositions: matrices, products and decompositions in TensorFlow's conventions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from graphc.ops import functions as gx
from graphc.ops import linalg

__all__ = [
    "adjoint",
    "band_part",
    "cholesky_solve",
    "diag",
    "logdet",
    "lstsq",
    "matmul",
    "matrix_rank",
    "matvec",
    "set_diag",
    "svd",
    "tensor_diag",
    "tensor_diag_part",
]


def adjoint(matrix: Any) -> Any:
    """The last two axes exchanged, and conjugated."""
    return gx.conj(gx.matrix_transpose(matrix))


def matmul(a: Any, b: Any, transpose_a: bool, transpose_b: bool, adjoint_a: bool, adjoint_b: bool) -> Any:
    """The matrix product of the last two axes, transposed or adjoint first on demand."""
    a = adjoint(a) if adjoint_a else gx.matrix_transpose(a) if transpose_a else a
    b = adjoint(b) if adjoint_b else gx.matrix_transpose(b) if transpose_b else b
    return gx.matmul(a, b)


def matvec(a: Any, b: Any, transpose_a: bool, adjoint_a: bool) -> Any:
    """The product of matrices and vectors."""
    return gx.squeeze(matmul(a, gx.expand_dims(b, -1), transpose_a, False, adjoint_a, False), -1)


def band_part(x: Any, num_lower: int, num_upper: int) -> Any:
    """Zero but for so many diagonals below and above the main one; all for -1."""
    x = gx.asarray(x)
    below: Any = np.subtract.outer(range(x.shape[-2]), range(x.shape[-1]))
    above = -below
    keep = ((num_lower < 0) | (below <= num_lower)) & ((num_upper < 0) | (above <= num_upper))
    return gx.where(keep, x, gx.zeros((), dtype=x.dtype))


def _places(count: int, k: int) -> tuple[Any, Any, Any]:
    steps = np.arange(count)
    return (Ellipsis, steps + max(-k, 0), steps + max(k, 0))


def diag(diagonal: Any, k: int) -> Any:
    """Matrices with these diagonals, k above the main one."""
    diagonal = gx.asarray(diagonal)
    count = diagonal.shape[-1]
    size = count + abs(k)
    return gx.zeros((*diagonal.shape[:-1], size, size), dtype=diagonal.dtype).at[_places(count, k)].set(diagonal)


def set_diag(x: Any, diagonal: Any, k: int) -> Any:
    """A copy with another diagonal, k above the main one."""
    diagonal = gx.asarray(diagonal)
    return gx.asarray(x).at[_places(diagonal.shape[-1], k)].set(diagonal)


def tensor_diag(diagonal: Any) -> Any:
    """The tensor of twice the axes whose diagonal this is."""
    diagonal = gx.asarray(diagonal)
    return gx.reshape(gx.diag(gx.ravel(diagonal)), diagonal.shape * 2)


def tensor_diag_part(x: Any) -> Any:
    """The diagonal of a tensor whose first half of axes is like the second."""
    x = gx.asarray(x)
    half = x.shape[: x.ndim // 2]
    count = math.prod(half)
    return gx.reshape(gx.diag(gx.reshape(x, (count, count))), half)


def cholesky_solve(chol: Any, rhs: Any) -> Any:
    """The solution of A @ y = rhs by the Cholesky factor of A."""
    first = linalg.solve_triangular(chol, rhs)
    return linalg.solve_triangular(gx.conj(chol), first, transpose=True)


def logdet(matrix: Any) -> Any:
    """The logarithm of the determinant of a positive definite matrix."""
    diagonal = gx.real(gx.diagonal(linalg.cholesky(matrix), 0, -2, -1))
    return gx.multiply(2.0, gx.sum(gx.log(diagonal), -1))


def lstsq(matrix: Any, rhs: Any, l2_regularizer: float, fast: bool) -> Any:
    """The solution with the least squares, and with l2_regularizer times its own squares added."""
    if not fast and not l2_regularizer:
        return gx.matmul(linalg.pinv(matrix), rhs)
    matrix = gx.asarray(matrix)
    rows, columns = matrix.shape[-2:]
    turned = adjoint(matrix)
    if rows >= columns:
        square = gx.matmul(turned, matrix) + l2_regularizer * gx.eye(columns, dtype=matrix.dtype)
        return linalg.solve(square, gx.matmul(turned, rhs))
    square = gx.matmul(matrix, turned) + l2_regularizer * gx.eye(rows, dtype=matrix.dtype)
    return gx.matmul(turned, linalg.solve(square, rhs))


def matrix_rank(a: Any, tol: Any) -> Any:
    """The number of singular values above tol; up to rounding for None."""
    if tol is None:
        return gx.astype(linalg.matrix_rank(a), "int32")
    return gx.sum(gx.astype(linalg.svdvals(a) > tol, "int32"), -1)


def svd(tensor: Any, full_matrices: bool, compute_uv: bool) -> Any:
    """The singular values, and U and V with x = U @ diag(S) @ V^H: TensorFlow's order, and V itself."""
    if not compute_uv:
        return linalg.svdvals(tensor)
    u, s, vh = linalg.svd(tensor, full_matrices)
    return s, u, adjoint(vh)
