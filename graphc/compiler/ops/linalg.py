"""Rows of the namespace ``linalg``: norms, decompositions, and solvers of linear systems."""

from __future__ import annotations

from functools import wraps
from typing import Any, cast

import jax
import jax.numpy as jnp
from jax import lax

from graphc.compiler.base import hint_missing
from graphc.compiler.core import as_dtype
from graphc.compiler.ops.refusals import matrices, products, solvable, square
from graphc.compiler.ops.table import define, row


def _solve_triangular(x1: Any, x2: Any, lower: bool = True, transpose: bool = False) -> jax.Array:
    return lax.linalg.triangular_solve(x1, x2, left_side=True, lower=lower, transpose_a=transpose)


def _qr(x: Any, mode: str = "reduced") -> Any:
    if mode not in ("reduced", "complete"):
        raise ValueError(f"mode is {mode!r}, expected 'reduced' or 'complete'")
    return jnp.linalg.qr(x, mode)


@wraps(jnp.linalg.matrix_rank)
def _matrix_rank(x: Any, rtol: Any = None) -> jax.Array:
    if 0 in x.shape[-2:]:  # without a largest singular value, which JAX requires
        return jnp.zeros(x.shape[:-2], as_dtype(int))
    return cast("Any", jnp.linalg.matrix_rank)(x, rtol)


def _multi_dot(*arrays: Any) -> jax.Array:
    return jnp.linalg.multi_dot(arrays)


def _matmul(x1: Any, x2: Any) -> jax.Array:
    return jnp.linalg.matmul(x1, x2)


def _vecdot(x1: Any, x2: Any, axis: int = -1) -> jax.Array:
    return jnp.linalg.vecdot(x1, x2, axis=axis)


def _tensordot(x1: Any, x2: Any, axes: Any = 2) -> jax.Array:
    return cast("Any", jnp.linalg.tensordot)(x1, x2, axes=axes)


def _cross(x1: Any, x2: Any, axis: int = -1) -> Any:
    return cast("Any", jnp.linalg.cross)(x1, x2, axis=axis)


_MATRIX_NORM = "x, keepdims: bool = False, ord: Norm = 'fro'"

_ROWS = (
    row("linalg.norm", jnp.linalg.norm, "x, ord: Norm = None, axis: Axis = None, keepdims: bool = False",
        "The norm of vectors (one axis) or matrices (two); ord is a number, 'fro', 'nuc', or None (Euclidean)."),
    row("linalg.vector_norm", jnp.linalg.vector_norm, "x, axis: Axis = None, keepdims: bool = False, ord: Norm = 2",
        "The norm of vectors along axis."),
    row("linalg.det", jnp.linalg.det, "x", "The determinant of the last two axes.", need=square("x")),
    row("linalg.slogdet", jnp.linalg.slogdet, "x",
        "The sign of the determinant and the logarithm of its magnitude.", returns="SlogdetResult", need=square("x")),
    row("linalg.inv", jnp.linalg.inv, "x", "The inverse of the last two axes.", need=square("x")),
    row("linalg.pinv", jnp.linalg.pinv, "x, rtol=None",
        "The Moore-Penrose pseudo-inverse; singular values below rtol times the largest count as zero.",
        need=matrices("x")),
    row("linalg.solve", jnp.linalg.solve, "x1, x2", "The solution y of x1 @ y = x2.", need=solvable("x1", "x2")),
    row("linalg.solve_triangular", _solve_triangular, "x1, x2, lower: bool = True, transpose: bool = False",
        "The solution y of x1 @ y = x2 for triangular x1, optionally transposed; x2 has at least two axes."),
    row("linalg.cholesky", jnp.linalg.cholesky, "x, upper: bool = False",
        "The lower triangular L with x = L @ L.T, or the upper triangular U with x = U.T @ U.", need=square("x")),
    row("linalg.qr", _qr, "x, mode: str = 'reduced'",
        "An orthogonal and an upper triangular matrix; mode is 'reduced' or 'complete'.", returns="QRResult",
        need=matrices("x")),
    row("linalg.svd", jnp.linalg.svd, "x, full_matrices: bool = True",
        "The singular value decomposition U, S, Vh with x = U @ diag(S) @ Vh.", returns="SVDResult",
        need=matrices("x")),
    row("linalg.eigh", jnp.linalg.eigh, "x",
        "The ascending eigenvalues and the eigenvectors, as columns, of a symmetric or Hermitian matrix.",
        returns="EighResult", need=square("x")),
    row("linalg.eigvalsh", jnp.linalg.eigvalsh, "x", "The eigenvalues of a symmetric matrix.", need=square("x")),
    row("linalg.matrix_power", jnp.linalg.matrix_power, "x, n: int", "The n-th power of a matrix.", need=square("x")),
    row("linalg.matrix_rank", _matrix_rank, "x, rtol=None",
        "The number of singular values above rtol times the largest, or above rounding error.", differentiable=False),
    row("linalg.matrix_norm", jnp.linalg.matrix_norm, _MATRIX_NORM,
        "The norm of matrices, by default the Frobenius norm."),
    row("linalg.cond", jnp.linalg.cond, "x, p: Norm = None", "The condition number of a matrix.", need=matrices("x")),
    row("linalg.svdvals", jnp.linalg.svdvals, "x", "The singular values, descending.", need=matrices("x")),
    row("linalg.eig", jnp.linalg.eig, "x",
        "The complex eigenvalues and eigenvectors, as columns, of a square matrix. Not available on TPUs.",
        returns="EigResult", platforms=("cpu", "gpu"), need=square("x")),
    row("linalg.eigvals", jnp.linalg.eigvals, "x",
        "The complex eigenvalues of a square matrix.", platforms=("cpu", "gpu"), need=square("x")),
    row("linalg.lstsq", jnp.linalg.lstsq, "x1, x2, rcond: float | None = None",
        "The least-squares solution of x1 @ y = x2, the residuals, and the rank and singular values of x1.",
        returns="tuple[Tensor, Tensor, Tensor, Tensor]"),
    row("linalg.multi_dot", _multi_dot, "arrays: Tensors", "The product of several matrices, in the cheapest order."),
    row("linalg.tensorinv", jnp.linalg.tensorinv, "x, ind: int = 2", "The inverse with respect to tensordot."),
    row("linalg.tensorsolve", jnp.linalg.tensorsolve, "x1, x2, axes: Axis = None",
        "The solution y of tensordot(x1, y, y.ndim) = x2."),
    # The array API standard has these in both namespaces.
    row("linalg.cross", _cross, "x1, x2, axis: int = -1", "The cross product of vectors of 3 components."),
    row("linalg.diagonal", jnp.linalg.diagonal, "x, offset: int = 0", "The diagonal of the last two axes."),
    row("linalg.matmul", _matmul, "x1, x2",
        "The matrix product of the last two axes; earlier axes are batches.", need=products("x1", "x2")),
    row("linalg.matrix_transpose", jnp.linalg.matrix_transpose, "x", "The last two axes exchanged."),
    row("linalg.outer", jnp.linalg.outer, "x1, x2", "The outer product of two vectors."),
    row("linalg.tensordot", _tensordot, "x1, x2, axes: PairedAxes = 2", "The sum of products over paired axes."),
    row("linalg.trace", jnp.linalg.trace, "x, offset: int = 0, dtype: DType = None",
        "The sum of the diagonal of the last two axes."),
    row("linalg.vecdot", _vecdot, "x1, x2, axis: int = -1", "Inner products along axis, x1 conjugated."),
)  # fmt: skip

define(globals(), _ROWS)

hint_missing(globals(), "gx.linalg")
