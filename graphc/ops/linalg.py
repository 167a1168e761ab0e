"""Rows of the namespace ``linalg``: norms, decompositions and solutions of linear systems."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import lax

from graphc.ops.table import define, row


def _solve_triangular(x1: Any, x2: Any, lower: bool = True, transpose: bool = False) -> jax.Array:
    return lax.linalg.triangular_solve(x1, x2, left_side=True, lower=lower, transpose_a=transpose)


_ROWS = (
    row(
        "linalg.norm",
        jnp.linalg.norm,
        "x, ord: Norm = None, axis: Axis = None, keepdims: bool = False",
        "The norm of vectors (one axis) or matrices (two); ord is a number, 'fro' or 'nuc', None for Euclid's.",
    ),
    row(
        "linalg.vector_norm",
        jnp.linalg.vector_norm,
        "x, axis: Axis = None, keepdims: bool = False, ord: Norm = 2",
        "The norm of vectors along axis.",
    ),
    row("linalg.det", jnp.linalg.det, "x", "The determinant of the last two axes."),
    row(
        "linalg.slogdet",
        jnp.linalg.slogdet,
        "x",
        "The sign of the determinant and the logarithm of its magnitude.",
        returns="tuple[Tensor, Tensor]",
    ),
    row("linalg.inv", jnp.linalg.inv, "x", "The inverse of the last two axes."),
    row("linalg.pinv", jnp.linalg.pinv, "x", "The pseudo-inverse of Moore and Penrose."),
    row("linalg.solve", jnp.linalg.solve, "x1, x2", "The solution y of x1 @ y = x2."),
    row(
        "linalg.solve_triangular",
        _solve_triangular,
        "x1, x2, lower: bool = True, transpose: bool = False",
        "The solution y of x1 @ y = x2, x1 triangular (transposed if asked), x2 with two axes or more.",
    ),
    row("linalg.cholesky", jnp.linalg.cholesky, "x", "The lower triangle L of x = L @ L.T."),
    row(
        "linalg.qr",
        jnp.linalg.qr,
        "x",
        "An orthogonal and an upper triangular matrix.",
        returns="tuple[Tensor, Tensor]",
    ),
    row(
        "linalg.svd",
        jnp.linalg.svd,
        "x, full_matrices: bool = True",
        "The singular value decomposition U, S, Vh with x = U @ diag(S) @ Vh.",
        returns="tuple[Tensor, Tensor, Tensor]",
    ),
    row(
        "linalg.eigh",
        jnp.linalg.eigh,
        "x",
        "Eigenvalues, ascending, and eigenvectors, as columns, of a symmetric or Hermitian matrix.",
        returns="tuple[Tensor, Tensor]",
    ),
    row("linalg.eigvalsh", jnp.linalg.eigvalsh, "x", "The eigenvalues of a symmetric matrix."),
    row(
        "linalg.matrix_power",
        jnp.linalg.matrix_power,
        "x, n: int",
        "The matrix multiplied with itself n times.",
    ),
    row(
        "linalg.matrix_rank",
        jnp.linalg.matrix_rank,
        "x",
        "The number of singular values that are not zero up to rounding.",
        differentiable=False,
    ),
)

globals().update(define(__name__, _ROWS))
