"""Linear algebra functions: products of vectors, matrices and tensors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from graphc.compiler.ops.refusals import products
from graphc.compiler.ops.table import define, row


def _einsum(*operands: Any, subscripts: str) -> jax.Array:
    return jnp.einsum(subscripts, *operands)


def _tensordot(x1: Any, x2: Any, axes: Any = 2) -> jax.Array:
    return jnp.tensordot(x1, x2, axes=axes)


_ROWS = (
    row(
        "matmul",
        jnp.matmul,
        "x1, x2",
        "The matrix product of the last two axes; earlier axes are batches.",
        need=products("x1", "x2"),
    ),
    row("dot", jnp.dot, "x1, x2", "The sum over the last axis of x1 and the last but one of x2."),
    row("vdot", jnp.vdot, "x1, x2", "The inner product of the flattened tensors, x1 conjugated."),
    row("vecdot", jnp.vecdot, "x1, x2, axis: int = -1", "Inner products along axis, x1 conjugated."),
    row("matvec", jnp.matvec, "x1, x2", "The product of matrices x1 and vectors x2; earlier axes are batches."),
    row("vecmat", jnp.vecmat, "x1, x2", "The product of vectors x1, conjugated, and matrices x2."),
    row("inner", jnp.inner, "x1, x2", "The sum of products over the last axes."),
    row("outer", jnp.outer, "x1, x2", "The outer product of the flattened tensors."),
    row("cross", jnp.cross, "x1, x2, axis: int = -1", "The cross product of vectors of 3 (or 2) components."),
    row("kron", jnp.kron, "x1, x2", "The Kronecker product: x2 scaled by each element of x1, as blocks."),
    row(
        "tensordot",
        _tensordot,
        "x1, x2, axes: PairedAxes = 2",
        "The sum of products over paired axes: the last of x1 and first of x2, or the listed ones.",
    ),
    row(
        "einsum",
        _einsum,
        "subscripts: str, *operands",
        "Sums of products in Einstein notation, such as 'bij,bjk->bik'.",
    ),
)

define(globals(), _ROWS)
