"""Linear algebra functions: products of vectors, matrices and tensors."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from graphc.compiler.ops.refusals import counts, products
from graphc.compiler.ops.table import define, row


def _einsum(*operands: Any, subscripts: str) -> jax.Array:
    return jnp.einsum(subscripts, *operands)


def _tensordot(x1: Any, x2: Any, axes: Any = 2) -> jax.Array:
    return jnp.tensordot(x1, x2, axes=axes)


_LINEAR_ALGEBRA_ROWS = (
    row("matmul", jnp.matmul, "x1, x2",
        "The matrix product of the last two axes; earlier axes are batches.", need=products("x1", "x2")),
    row("dot", jnp.dot, "x1, x2", "The sum over the last axis of x1 and the last but one of x2."),
    row("vdot", jnp.vdot, "x1, x2", "The inner product of the flattened tensors, x1 conjugated."),
    row("vecdot", jnp.vecdot, "x1, x2, axis: int = -1", "Inner products along axis, x1 conjugated."),
    row("matvec", jnp.matvec, "x1, x2", "The product of matrices x1 and vectors x2; earlier axes are batches."),
    row("vecmat", jnp.vecmat, "x1, x2", "The product of vectors x1, conjugated, and matrices x2."),
    row("inner", jnp.inner, "x1, x2", "The sum of products over the last axes."),
    row("outer", jnp.outer, "x1, x2", "The outer product of the flattened tensors."),
    row("cross", jnp.cross, "x1, x2, axis: int = -1", "The cross product of vectors of 3 (or 2) components."),
    row("kron", jnp.kron, "x1, x2", "The Kronecker product: x2 scaled by each element of x1, as blocks."),
    row("tensordot", _tensordot, "x1, x2, axes: PairedAxes = 2",
        "The sum of products over paired axes: the last of x1 and first of x2, or the listed ones."),
    row("einsum", _einsum, "subscripts: str, *operands",
        "Sums of products in Einstein notation, such as 'bij,bjk->bik'."),
)  # fmt: skip


# Rows: sequences of samples: convolution, windows, differences and integrals.

_WINDOW = "M: int"


def _gradient(x: Any, *spacing: Any, axis: Any = None) -> Any:
    return jnp.gradient(x, *spacing, axis=axis)


def _kaiser(M: int, beta: float) -> jax.Array:
    return jnp.kaiser(M, beta)


def _ediff1d(x: Any, *, to_end: Any = None, to_begin: Any = None) -> jax.Array:
    return jnp.ediff1d(x, to_end, to_begin)


_SIGNALS_ROWS = (
    row("convolve", jnp.convolve, "x1, x2, mode: str = 'full'",
        "The convolution of 1-d tensors; mode is 'full', 'same' or 'valid'."),
    row("correlate", jnp.correlate, "x1, x2, mode: str = 'valid'",
        "The correlation of 1-d tensors; mode is 'full', 'same' or 'valid'."),
    row("gradient", _gradient, "x, *spacing, axis: Axis = None",
        "The numerical gradient along each axis, by central differences; spacing is a distance or coordinates.",
        returns="Tensor | tuple[Tensor, ...]"),
    row("ediff1d", _ediff1d, "x, to_end=None, to_begin=None",
        "Differences of consecutive elements of the flattened tensor."),
    row("trapezoid", jnp.trapezoid, "y, x=None, dx: float = 1.0, axis: int = -1",
        "The integral along axis by the trapezoidal rule, with coordinates x or spacing dx."),
    row("unwrap", jnp.unwrap, "p, discont: float | None = None, axis: int = -1, period: float = 6.283185307179586",
        "Angles unwrapped along axis, by adding multiples of the period."),
    row("bartlett", jnp.bartlett, _WINDOW, "The Bartlett window of M samples, a triangle.", need=counts("M")),
    row("blackman", jnp.blackman, _WINDOW, "The Blackman window of M samples.", need=counts("M")),
    row("hamming", jnp.hamming, _WINDOW, "The Hamming window of M samples.", need=counts("M")),
    row("hanning", jnp.hanning, _WINDOW, "The Hann window of M samples, a raised cosine.", need=counts("M")),
    row("kaiser", _kaiser, "M: int, beta: float",
        "The Kaiser window of M samples; a larger beta makes it narrower.", need=counts("M")),
)  # fmt: skip


define(globals(), (*_LINEAR_ALGEBRA_ROWS, *_SIGNALS_ROWS))
