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

    Example:
      >>> import graphc as gx
      >>> gx.allclose([-2.5, 0.5, 3.0], [-2.5, 0.5, 3.0])
      Tensor(True, shape=(), dtype=bool)
    """

def array_equal(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether shapes and elements are equal.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.array_equal``.

    Example:
      >>> import graphc as gx
      >>> gx.array_equal([1, 2], [1, 2]), gx.array_equal([1, 2], [1, 2, 3])
      (Tensor(True, shape=(), dtype=bool), Tensor(False, shape=(), dtype=bool))
    """

def array_equiv(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether elements are equal after broadcasting.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.array_equiv``.

    Example:
      >>> import graphc as gx
      >>> gx.array_equiv([-2.5, 0.5, 3.0], [-2.5, 0.5, 3.0])
      Tensor(True, shape=(), dtype=bool)
    """

def bitwise_and(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 & x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bitwise_and``.

    Example:
      >>> import graphc as gx
      >>> gx.bitwise_and([12, 0, 255], [-7, 5, 12])
      Tensor([ 8,  0, 12], shape=(3,), dtype=int32)
    """

def bitwise_count(x: ArrayLike) -> Tensor:
    """How many bits of |x| are set.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bitwise_count``.

    Example:
      >>> import graphc as gx
      >>> gx.bitwise_count([-7, 5, 12])
      Tensor([3, 2, 2], shape=(3,), dtype=uint8)
    """

def bitwise_invert(x: ArrayLike) -> Tensor:
    """~x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bitwise_invert``.

    Example:
      >>> import graphc as gx
      >>> gx.bitwise_invert([12, 0, 255])
      Tensor([ -13,   -1, -256], shape=(3,), dtype=int32)
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

    Example:
      >>> import graphc as gx
      >>> gx.bitwise_left_shift([12, 0, 255], [1, 2, 4])
      Tensor([  24,    0, 4080], shape=(3,), dtype=int32)
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

    Example:
      >>> import graphc as gx
      >>> gx.bitwise_or([12, 0, 255], [-7, 5, 12])
      Tensor([ -3,   5, 255], shape=(3,), dtype=int32)
    """

def bitwise_right_shift(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 >> x2, keeping the sign.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bitwise_right_shift``.

    Example:
      >>> import graphc as gx
      >>> gx.bitwise_right_shift([-7, 5, 12], [1, 2, 4])
      Tensor([-4,  1,  0], shape=(3,), dtype=int32)
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

    Example:
      >>> import graphc as gx
      >>> gx.bitwise_xor([12, 0, 255], [-7, 5, 12])
      Tensor([-11,   5, 243], shape=(3,), dtype=int32)
    """

def equal(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether x1 == x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.equal``.

    Example:
      >>> import graphc as gx
      >>> gx.equal([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([False, False,  True], shape=(3,), dtype=bool)
    """

def gcd(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The greatest common divisor.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.gcd([-7, 5, 12], [2, -5, 7])
      Tensor([1, 5, 1], shape=(3,), dtype=int32)
    """

def greater(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether x1 > x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.greater``.

    Example:
      >>> import graphc as gx
      >>> gx.greater([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([False,  True, False], shape=(3,), dtype=bool)
    """

def greater_equal(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether x1 >= x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.greater_equal``.

    Example:
      >>> import graphc as gx
      >>> gx.greater_equal([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([False,  True,  True], shape=(3,), dtype=bool)
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

    Example:
      >>> import graphc as gx
      >>> gx.isclose([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([False, False,  True], shape=(3,), dtype=bool)
    """

def iscomplex(x: ArrayLike) -> Tensor:
    """Whether the imaginary part is not zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.iscomplex``.

    Example:
      >>> import graphc as gx
      >>> gx.iscomplex([1 + 2j, 0 - 1j, 3])
      Tensor([ True,  True, False], shape=(3,), dtype=bool)
    """

def isfinite(x: ArrayLike) -> Tensor:
    """Whether the element is neither infinite nor NaN.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.isfinite``.

    Example:
      >>> import graphc as gx
      >>> gx.isfinite([gx.nan, gx.inf, 1.0])
      Tensor([False, False,  True], shape=(3,), dtype=bool)
    """

def isinf(x: ArrayLike) -> Tensor:
    """Whether the element is infinite.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.isinf``.

    Example:
      >>> import graphc as gx
      >>> gx.isinf([gx.nan, gx.inf, 1.0])
      Tensor([False,  True, False], shape=(3,), dtype=bool)
    """

def isnan(x: ArrayLike) -> Tensor:
    """Whether the element is NaN.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.isnan``.

    Example:
      >>> import graphc as gx
      >>> gx.isnan([gx.nan, gx.inf, 1.0])
      Tensor([ True, False, False], shape=(3,), dtype=bool)
    """

def isneginf(x: ArrayLike) -> Tensor:
    """Whether the element is minus infinity.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.isneginf``.

    Example:
      >>> import graphc as gx
      >>> gx.isneginf([gx.nan, gx.inf, 1.0])
      Tensor([False, False, False], shape=(3,), dtype=bool)
    """

def isposinf(x: ArrayLike) -> Tensor:
    """Whether the element is plus infinity.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.isposinf``.

    Example:
      >>> import graphc as gx
      >>> gx.isposinf([gx.nan, gx.inf, 1.0])
      Tensor([False,  True, False], shape=(3,), dtype=bool)
    """

def isreal(x: ArrayLike) -> Tensor:
    """Whether the imaginary part is zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.isreal``.

    Example:
      >>> import graphc as gx
      >>> gx.isreal([1 + 2j, 0 - 1j, 3])
      Tensor([False, False,  True], shape=(3,), dtype=bool)
    """

def lcm(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The least common multiple.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.lcm([-7, 5, 12], [2, -5, 7])
      Tensor([14,  5, 84], shape=(3,), dtype=int32)
    """

def less(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether x1 < x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.less``.

    Example:
      >>> import graphc as gx
      >>> gx.less([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([ True, False, False], shape=(3,), dtype=bool)
    """

def less_equal(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether x1 <= x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.less_equal``.

    Example:
      >>> import graphc as gx
      >>> gx.less_equal([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([ True, False,  True], shape=(3,), dtype=bool)
    """

def logical_and(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Both true.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.logical_and``.

    Example:
      >>> import graphc as gx
      >>> gx.logical_and([True, False, True], [-7, 5, 12])
      Tensor([ True, False,  True], shape=(3,), dtype=bool)
    """

def logical_not(x: ArrayLike) -> Tensor:
    """Not true.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.logical_not``.

    Example:
      >>> import graphc as gx
      >>> gx.logical_not([-7, 5, 12])
      Tensor([False, False, False], shape=(3,), dtype=bool)
    """

def logical_or(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """At least one true.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.logical_or``.

    Example:
      >>> import graphc as gx
      >>> gx.logical_or([True, False, True], [-7, 5, 12])
      Tensor([ True,  True,  True], shape=(3,), dtype=bool)
    """

def logical_xor(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Exactly one true.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.logical_xor``.

    Example:
      >>> import graphc as gx
      >>> gx.logical_xor([True, False, True], [-2.5, 0.5, 3.0])
      Tensor([False,  True, False], shape=(3,), dtype=bool)
    """

def not_equal(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """Whether x1 != x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.not_equal``.

    Example:
      >>> import graphc as gx
      >>> gx.not_equal([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([ True,  True, False], shape=(3,), dtype=bool)
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

    Example:
      >>> import graphc as gx
      >>> gx.packbits([True, False, True])
      Tensor([160], shape=(1,), dtype=uint8)
    """

def signbit(x: ArrayLike) -> Tensor:
    """Whether the sign bit is set, as in -0.0.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.signbit``.

    Example:
      >>> import graphc as gx
      >>> gx.signbit([gx.inf, -gx.inf, 1.0])
      Tensor([False,  True, False], shape=(3,), dtype=bool)
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

    Example:
      >>> import graphc as gx
      >>> gx.unpackbits(gx.asarray([7, 130], "uint8"), count=12)
      Tensor([0, 0, 0, 0, 0, 1, 1, 1, 1, 0, 0, 0], shape=(12,), dtype=uint8)
    """
