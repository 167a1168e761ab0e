"""Rows: polynomials, given by their coefficients from the highest power down."""

from __future__ import annotations

from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp

from graphc.compiler.ops.table import define, row


def _roots(p: Any) -> jax.Array:
    # Leading zeros, which only the values show, are kept: each yields a root that is not finite.
    return jnp.roots(p, strip_zeros=False)


def _polyfit(x: Any, y: Any, deg: int, *, w: Any = None, rcond: float | None = None) -> Any:
    return jnp.polyfit(x, y, deg, rcond=rcond, w=w)


@wraps(jnp.poly)
def _poly(x: Any) -> jax.Array:
    half = x.ndim == 2 and x.dtype in (jnp.float16, jnp.bfloat16)  # LAPACK has no eigenvalues for these dtypes
    return jnp.poly(x.astype(jnp.float32) if half else x)


_ROWS = (
    row("poly", _poly, "x", "The polynomial with given roots, or the characteristic polynomial of a matrix."),
    row("polyval", jnp.polyval, "p, x", "The value of the polynomial p at x."),
    row("polyadd", jnp.polyadd, "x1, x2", "The sum of polynomials."),
    row("polysub", jnp.polysub, "x1, x2", "The difference of polynomials."),
    row("polymul", jnp.polymul, "x1, x2", "The product of polynomials."),
    row("polydiv", jnp.polydiv, "x1, x2", "The quotient and the remainder.", returns="tuple[Tensor, Tensor]"),
    row("polyder", jnp.polyder, "p, m: int = 1", "The m-th derivative."),
    row("polyint", jnp.polyint, "p, m: int = 1, k=None", "The m-fold integral, with constants k."),
    row(
        "polyfit",
        _polyfit,
        "x, y, deg: int, rcond: float | None = None, w=None",
        "The least-squares polynomial of degree deg through the points (x, y), with weights w.",
    ),
    row(
        "roots",
        _roots,
        "p",
        "The roots of a polynomial whose first coefficient is not zero.",
        platforms=("cpu", "gpu"),
    ),
    row(
        "vander",
        jnp.vander,
        "x, N: int | None = None, increasing: bool = False",
        "The Vandermonde matrix: N powers of each element, decreasing or increasing.",
    ),
)

define(globals(), _ROWS)
