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

    Example:
      >>> import graphc as gx
      >>> gx.poly([1.0, 2.0, 3.0])
      Tensor([ 1., -6., 11., -6.], shape=(4,), dtype=float32)
    """

def polyadd(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The sum of polynomials.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.polyadd``.

    Example:
      >>> import graphc as gx
      >>> gx.polyadd([1.0, -6.0, 11.0], [1.0, 2.0])
      Tensor([ 1., -5., 13.], shape=(3,), dtype=float32)
    """

def polyder(p: ArrayLike, m: int = 1) -> Tensor:
    """The derivative, taken m times.

    Args:
      p: a tensor, or what becomes one.
      m: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.polyder``.

    Example:
      >>> import graphc as gx
      >>> gx.polyder([1.0, -6.0, 11.0], 2)
      Tensor([2.], shape=(1,), dtype=float32)
    """

def polydiv(x1: ArrayLike, x2: ArrayLike) -> tuple[Tensor, Tensor]:
    """The quotient and the remainder.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.polydiv``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.polydiv([1.0, -5.0, 6.0], [1.0, -2.0]))
      [ 1. -3.] [0. 0. 0.]
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

    Example:
      >>> import graphc as gx
      >>> gx.polyfit([-2.5, -1.0, 0.5], [1.5, -2.0, 4.0], 1).numpy().round(3)
      array([0.833, 2.   ], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.polyint([1.0, -6.0, 11.0]).numpy().round(3)
      array([ 0.333, -3.   , 11.   ,  0.   ], dtype=float32)
    """

def polymul(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The product of polynomials.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.polymul``.

    Example:
      >>> import graphc as gx
      >>> gx.polymul([1.0, -6.0, 11.0], [1.0, 2.0])
      Tensor([ 1., -4., -1., 22.], shape=(4,), dtype=float32)
    """

def polysub(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The difference of polynomials.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.polysub``.

    Example:
      >>> import graphc as gx
      >>> gx.polysub([1.0, -6.0, 11.0], [1.0, 2.0])
      Tensor([ 1., -7.,  9.], shape=(3,), dtype=float32)
    """

def polyval(p: ArrayLike, x: ArrayLike) -> Tensor:
    """The value of the polynomial p at x.

    Args:
      p: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.polyval``.

    Example:
      >>> import graphc as gx
      >>> gx.polyval([1.0, -6.0, 11.0], [-2.5, 0.5, 3.0])
      Tensor([32.25,  8.25,  2.  ], shape=(3,), dtype=float32)
    """

def roots(p: ArrayLike) -> Tensor:
    """The roots of a polynomial whose first coefficient is not zero.

    Args:
      p: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.roots([1.0, -3.0, 2.0])
      Tensor([2.+0.j, 1.+0.j], shape=(2,), dtype=complex64)
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

    Example:
      >>> import graphc as gx
      >>> gx.vander([-2.5, 0.5, 3.0])
      Tensor([[ 6.25, -2.5 ,  1.  ],
       [ 0.25,  0.5 ,  1.  ],
       [ 9.  ,  3.  ,  1.  ]], shape=(3, 3), dtype=float32)
    """
