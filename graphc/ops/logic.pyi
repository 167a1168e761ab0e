"""Rows: comparisons, logic and bits.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor

__all__ = [
    "allclose",
    "array_equal",
    "array_equiv",
    "bitwise_and",
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "equal",
    "gcd",
    "greater",
    "greater_equal",
    "invert",
    "isclose",
    "iscomplex",
    "isfinite",
    "isinf",
    "isnan",
    "isneginf",
    "isposinf",
    "isreal",
    "lcm",
    "left_shift",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
    "packbits",
    "right_shift",
    "signbit",
    "unpackbits",
]

def allclose(x1: ArrayLike, x2: ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether isclose holds for every element.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      rtol: a number. Static.
      atol: a number. Static.
      equal_nan: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.allclose``.
    """

def array_equal(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether shapes and elements are equal.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.array_equal``.
    """

def array_equiv(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether elements are equal after broadcasting.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.array_equiv``.
    """

def bitwise_and(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 & x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bitwise_and``.
    """

def bitwise_count(x: ArrayLike) -> Tensor:
    """How many bits of |x| are set.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bitwise_count``.
    """

def bitwise_invert(x: ArrayLike) -> Tensor:
    """~x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bitwise_invert``.
    """

bitwise_not = bitwise_invert

invert = bitwise_invert

def bitwise_left_shift(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 << x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bitwise_left_shift``.
    """

left_shift = bitwise_left_shift

def bitwise_or(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 | x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bitwise_or``.
    """

def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 >> x2, keeping the sign.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bitwise_right_shift``.
    """

right_shift = bitwise_right_shift

def bitwise_xor(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 ^ x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bitwise_xor``.
    """

def equal(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether x1 == x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.equal``.
    """

def gcd(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The greatest common divisor.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def greater(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether x1 > x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.greater``.
    """

def greater_equal(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether x1 >= x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.greater_equal``.
    """

def isclose(x1: ArrayLike, x2: ArrayLike, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Whether |x1 - x2| <= atol + rtol * |x2|.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      rtol: a number. Static.
      atol: a number. Static.
      equal_nan: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.isclose``.
    """

def iscomplex(x: ArrayLike) -> Tensor:
    """Whether the imaginary part is not zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.iscomplex``.
    """

def isfinite(x: ArrayLike) -> Tensor:
    """Whether the element is neither infinite nor NaN.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.isfinite``.
    """

def isinf(x: ArrayLike) -> Tensor:
    """Whether the element is infinite.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.isinf``.
    """

def isnan(x: ArrayLike) -> Tensor:
    """Whether the element is NaN.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.isnan``.
    """

def isneginf(x: ArrayLike) -> Tensor:
    """Whether the element is minus infinity.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.isneginf``.
    """

def isposinf(x: ArrayLike) -> Tensor:
    """Whether the element is plus infinity.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.isposinf``.
    """

def isreal(x: ArrayLike) -> Tensor:
    """Whether the imaginary part is zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.isreal``.
    """

def lcm(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The least common multiple.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def less(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether x1 < x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.less``.
    """

def less_equal(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether x1 <= x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.less_equal``.
    """

def logical_and(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Both true.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.logical_and``.
    """

def logical_not(x: ArrayLike) -> Tensor:
    """Not true.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.logical_not``.
    """

def logical_or(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """At least one true.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.logical_or``.
    """

def logical_xor(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Exactly one true.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.logical_xor``.
    """

def not_equal(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether x1 != x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.not_equal``.
    """

def packbits(x: ArrayLike, axis: int | None = None, bitorder: str = "big") -> Tensor:
    """Eight truth values as the bits of a uint8, along axis.

    Args:
      x: a tensor, or what becomes one.
      axis: an int, or None. Static.
      bitorder: a string. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.packbits``.
    """

def signbit(x: ArrayLike) -> Tensor:
    """Whether the sign bit is set, as in -0.0.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.signbit``.
    """

def unpackbits(x: ArrayLike, axis: int | None = None, count: int | None = None, bitorder: str = "big") -> Tensor:
    """The bits of each uint8 along axis, as numbers 0 and 1; count of them.

    Args:
      x: a tensor, or what becomes one.
      axis: an int, or None. Static.
      count: an int, or None. Static.
      bitorder: a string. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.unpackbits``.
    """
