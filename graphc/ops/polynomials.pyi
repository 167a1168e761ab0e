"""Rows: polynomials, as their coefficients from the highest power down.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor

__all__ = [
    "poly",
    "polyadd",
    "polyder",
    "polydiv",
    "polyfit",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "roots",
    "vander",
]

def poly(x: ArrayLike) -> Tensor:
    """The polynomial with these roots, or the characteristic one of a matrix.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.poly``.
    """

def polyadd(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The sum of polynomials.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.polyadd``.
    """

def polyder(p: ArrayLike, m: int = 1) -> Tensor:
    """The derivative, taken m times.

    Args:
      p: a tensor, or what becomes one.
      m: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.polyder``.
    """

def polydiv(x1: ArrayLike, x2: ArrayLike) -> tuple[Tensor, Tensor]:
    """The quotient and the remainder.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.polydiv``.
    """

def polyfit(x: ArrayLike, y: ArrayLike, deg: int, rcond: float | None = None, w: ArrayLike | None = None) -> Tensor:
    """The polynomial of degree deg next to the points (x, y) by least squares, with weights w.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.
      deg: an int. Static.
      rcond: a number, or None. Static.
      w: a tensor, or what becomes one; None for none.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def polyint(p: ArrayLike, m: int = 1, k: ArrayLike | None = None) -> Tensor:
    """The integral, taken m times, with constants k.

    Args:
      p: a tensor, or what becomes one.
      m: an int. Static.
      k: a tensor, or what becomes one; None for none.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.polyint``.
    """

def polymul(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The product of polynomials.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.polymul``.
    """

def polysub(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The difference of polynomials.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.polysub``.
    """

def polyval(p: ArrayLike, x: ArrayLike) -> Tensor:
    """The value of the polynomial p at x.

    Args:
      p: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.polyval``.
    """

def roots(p: ArrayLike) -> Tensor:
    """The roots of a polynomial whose first coefficient is not zero.

    Args:
      p: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Tensor:
    """Vandermonde's matrix: N powers of each element, falling or increasing.

    Args:
      x: a tensor, or what becomes one.
      N: an int, or None. Static.
      increasing: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.vander``.
    """
