"""Rows: functions of one element at a time, arithmetic and transcendental.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "around",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "conj",
    "conjugate",
    "copy",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "fix",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "heaviside",
    "hypot",
    "i0",
    "identity",
    "imag",
    "ldexp",
    "log",
    "log1p",
    "log2",
    "log10",
    "logaddexp",
    "logaddexp2",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "nan_to_num",
    "negative",
    "nextafter",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "real",
    "reciprocal",
    "remainder",
    "rint",
    "round",
    "rsqrt",
    "sign",
    "sin",
    "sinc",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "stop_gradient",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
]

def abs(x: ArrayLike) -> Tensor:
    """The magnitude; real also for complex numbers.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.abs``.

    Example:
      >>> import graphc as gx
      >>> gx.abs([-2.5, 0.5, 3.0])
      Tensor([2.5, 0.5, 3. ], shape=(3,), dtype=float32)
    """

absolute = abs

def acos(x: ArrayLike) -> Tensor:
    """The angle in radians whose cosine is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.acos``.

    Example:
      >>> import graphc as gx
      >>> gx.acos([-0.9, 0.3, 0.8]).numpy().round(3)
      array([2.691, 1.266, 0.644], dtype=float32)
    """

arccos = acos

def acosh(x: ArrayLike) -> Tensor:
    """The number whose hyperbolic cosine is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.acosh``.

    Example:
      >>> import graphc as gx
      >>> gx.acosh([1.25, 3.0, 8.0]).numpy().round(3)
      array([0.693, 1.763, 2.769], dtype=float32)
    """

arccosh = acosh

def add(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The sum x1 + x2, with broadcasting.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.add``.

    Example:
      >>> import graphc as gx
      >>> gx.add([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-1.  ,  0.75,  6.  ], shape=(3,), dtype=float32)
    """

def angle(x: ArrayLike, deg: bool = False) -> Tensor:
    """The angle of a complex number, in radians or degrees.

    Args:
      x: a tensor, or what becomes one.
      deg: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.angle``.

    Example:
      >>> import graphc as gx
      >>> gx.angle([1 + 2j, 0 - 1j, 3]).numpy().round(3)
      array([ 1.107, -1.571,  0.   ], dtype=float32)
    """

def asin(x: ArrayLike) -> Tensor:
    """The angle in radians whose sine is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.asin``.

    Example:
      >>> import graphc as gx
      >>> gx.asin([-0.9, 0.3, 0.8]).numpy().round(3)
      array([-1.12 ,  0.305,  0.927], dtype=float32)
    """

arcsin = asin

def asinh(x: ArrayLike) -> Tensor:
    """The number whose hyperbolic sine is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.asinh``.

    Example:
      >>> import graphc as gx
      >>> gx.asinh([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-1.647,  0.481,  1.818], dtype=float32)
    """

arcsinh = asinh

def atan(x: ArrayLike) -> Tensor:
    """The angle in radians whose tangent is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.atan``.

    Example:
      >>> import graphc as gx
      >>> gx.atan([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-1.19 ,  0.464,  1.249], dtype=float32)
    """

arctan = atan

def atan2(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The angle in radians of the point (x2, x1).

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.atan2``.

    Example:
      >>> import graphc as gx
      >>> gx.atan2([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
      array([-1.03 ,  1.107,  0.785], dtype=float32)
    """

arctan2 = atan2

def atanh(x: ArrayLike) -> Tensor:
    """The number whose hyperbolic tangent is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.atanh``.

    Example:
      >>> import graphc as gx
      >>> gx.atanh([-0.9, 0.3, 0.8]).numpy().round(3)
      array([-1.472,  0.31 ,  1.099], dtype=float32)
    """

arctanh = atanh

def cbrt(x: ArrayLike) -> Tensor:
    """The cube root.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.cbrt``.

    Example:
      >>> import graphc as gx
      >>> gx.cbrt([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-1.357,  0.794,  1.442], dtype=float32)
    """

def ceil(x: ArrayLike) -> Tensor:
    """The smallest whole number not below.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.ceil``.

    Example:
      >>> import graphc as gx
      >>> gx.ceil([-2.5, 0.5, 3.0])
      Tensor([-2.,  1.,  3.], shape=(3,), dtype=float32)
    """

def conj(x: ArrayLike) -> Tensor:
    """The complex conjugate.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.conj``.

    Example:
      >>> import graphc as gx
      >>> gx.conj([1 + 2j, 0 - 1j, 3])
      Tensor([1.-2.j, 0.+1.j, 3.-0.j], shape=(3,), dtype=complex64)
    """

conjugate = conj

def copysign(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The magnitude of x1 with the sign of x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.copysign``.

    Example:
      >>> import graphc as gx
      >>> gx.copysign([0.25, 2.0, 7.0], [-2.5, 0.5, 3.0])
      Tensor([-0.25,  2.  ,  7.  ], shape=(3,), dtype=float32)
    """

def cos(x: ArrayLike) -> Tensor:
    """The cosine of an angle in radians.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.cos``.

    Example:
      >>> import graphc as gx
      >>> gx.cos([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.801,  0.878, -0.99 ], dtype=float32)
    """

def cosh(x: ArrayLike) -> Tensor:
    """The hyperbolic cosine.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.cosh``.

    Example:
      >>> import graphc as gx
      >>> gx.cosh([-2.5, 0.5, 3.0]).numpy().round(3)
      array([ 6.132,  1.128, 10.068], dtype=float32)
    """

def deg2rad(x: ArrayLike) -> Tensor:
    """Degrees to radians.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.deg2rad``.

    Example:
      >>> import graphc as gx
      >>> gx.deg2rad([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.044,  0.009,  0.052], dtype=float32)
    """

radians = deg2rad

def divide(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The quotient x1 / x2; integers give floats.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.divide``.

    Example:
      >>> import graphc as gx
      >>> gx.divide([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
      array([-1.667,  2.   ,  1.   ], dtype=float32)
    """

true_divide = divide

def divmod(x1: ArrayLike, x2: ArrayLike) -> tuple[Tensor, Tensor]:
    """Floor division and what it leaves.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.divmod``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.divmod([-7, 5, 12], [2, -5, 7]))
      [-4 -1  1] [1 0 5]
    """

def exp(x: ArrayLike) -> Tensor:
    """The exponential function, e to the power x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.exp``.

    Example:
      >>> import graphc as gx
      >>> gx.exp([-2.5, 0.5, 3.0]).numpy().round(3)
      array([ 0.082,  1.649, 20.086], dtype=float32)
    """

def exp2(x: ArrayLike) -> Tensor:
    """2 to the power x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.exp2``.

    Example:
      >>> import graphc as gx
      >>> gx.exp2([-2.5, 0.5, 3.0]).numpy().round(3)
      array([0.177, 1.414, 8.   ], dtype=float32)
    """

def expm1(x: ArrayLike) -> Tensor:
    """exp(x) - 1, precise near zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.expm1``.

    Example:
      >>> import graphc as gx
      >>> gx.expm1([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.918,  0.649, 19.086], dtype=float32)
    """

def fabs(x: ArrayLike) -> Tensor:
    """The magnitude, as a float.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fabs``.

    Example:
      >>> import graphc as gx
      >>> gx.fabs([-2.5, 0.5, 3.0])
      Tensor([2.5, 0.5, 3. ], shape=(3,), dtype=float32)
    """

def fix(x: ArrayLike) -> Tensor:
    """The whole number next towards zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.trunc``.

    Example:
      >>> import graphc as gx
      >>> gx.fix([-2.5, 0.5, 3.0])
      Tensor([-2.,  0.,  3.], shape=(3,), dtype=float32)
    """

def float_power(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 raised to the power x2, as a float; NaN below zero.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.float_power``.

    Example:
      >>> import graphc as gx
      >>> gx.float_power([0.25, 2.0, 7.0], [1.5, 0.25, 3.0]).numpy().round(3)
      array([1.250e-01, 1.189e+00, 3.430e+02], dtype=float32)
    """

def floor(x: ArrayLike) -> Tensor:
    """The largest whole number not above.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.floor``.

    Example:
      >>> import graphc as gx
      >>> gx.floor([-2.5, 0.5, 3.0])
      Tensor([-3.,  0.,  3.], shape=(3,), dtype=float32)
    """

def floor_divide(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The quotient rounded towards minus infinity.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.floor_divide``.

    Example:
      >>> import graphc as gx
      >>> gx.floor_divide([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-2.,  2.,  1.], shape=(3,), dtype=float32)
    """

def fmax(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The larger of two numbers; a number wins over NaN.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fmax``.

    Example:
      >>> import graphc as gx
      >>> gx.fmax([gx.nan, gx.inf, 1.0], 0.5)
      Tensor([0.5, inf, 1. ], shape=(3,), dtype=float32)
    """

def fmin(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The smaller of two numbers; a number wins over NaN.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fmin``.

    Example:
      >>> import graphc as gx
      >>> gx.fmin([gx.nan, gx.inf, 1.0], 0.5)
      Tensor([0.5, 0.5, 0.5], shape=(3,), dtype=float32)
    """

def fmod(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """What truncating division leaves, with x1's sign.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fmod``.

    Example:
      >>> import graphc as gx
      >>> gx.fmod([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-1.,  0.,  0.], shape=(3,), dtype=float32)
    """

def frexp(x: ArrayLike) -> tuple[Tensor, Tensor]:
    """The mantissa, between 0.5 and 1 in magnitude, and the exponent of 2.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.frexp``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.frexp([-2.5, 0.5, 3.0]))
      [-0.625  0.5    0.75 ] [2 0 2]
    """

def heaviside(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """0 below zero, 1 above, x2 at zero.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.heaviside``.

    Example:
      >>> import graphc as gx
      >>> gx.heaviside([-2.5, 0.5, 3.0], 0.5)
      Tensor([0., 1., 1.], shape=(3,), dtype=float32)
    """

def hypot(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The square root of x1 ** 2 + x2 ** 2, without overflow on the way.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.hypot``.

    Example:
      >>> import graphc as gx
      >>> gx.hypot([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
      array([2.915, 0.559, 4.243], dtype=float32)
    """

def i0(x: ArrayLike) -> Tensor:
    """The modified Bessel function of the first kind, of order 0.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.i0``.

    Example:
      >>> import graphc as gx
      >>> gx.i0([-2.5, 0.5, 3.0]).numpy().round(3)
      array([3.29 , 1.063, 4.881], dtype=float32)
    """

def identity(x: ArrayLike) -> Tensor:
    """The tensor itself, as a new tensor.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.identity([-2.5, 0.5, 3.0])
      Tensor([-2.5,  0.5,  3. ], shape=(3,), dtype=float32)
    """

copy = identity

def imag(x: ArrayLike) -> Tensor:
    """The imaginary part.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.imag``.

    Example:
      >>> import graphc as gx
      >>> gx.imag([1 + 2j, 0 - 1j, 3])
      Tensor([ 2., -1.,  0.], shape=(3,), dtype=float32)
    """

def ldexp(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 * 2 ** x2, for whole numbers x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.ldexp``.

    Example:
      >>> import graphc as gx
      >>> gx.ldexp([-2.5, 0.5, 3.0], [1, -1, 3])
      Tensor([-5.  ,  0.25, 24.  ], shape=(3,), dtype=float32)
    """

def log(x: ArrayLike) -> Tensor:
    """The natural logarithm.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.log``.

    Example:
      >>> import graphc as gx
      >>> gx.log([0.25, 2.0, 7.0]).numpy().round(3)
      array([-1.386,  0.693,  1.946], dtype=float32)
    """

def log10(x: ArrayLike) -> Tensor:
    """The logarithm to base 10.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.log10``.

    Example:
      >>> import graphc as gx
      >>> gx.log10([0.25, 2.0, 7.0]).numpy().round(3)
      array([-0.602,  0.301,  0.845], dtype=float32)
    """

def log1p(x: ArrayLike) -> Tensor:
    """log(1 + x), precise near zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.log1p``.

    Example:
      >>> import graphc as gx
      >>> gx.log1p([0.25, 2.0, 7.0]).numpy().round(3)
      array([0.223, 1.099, 2.079], dtype=float32)
    """

def log2(x: ArrayLike) -> Tensor:
    """The logarithm to base 2.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.log2``.

    Example:
      >>> import graphc as gx
      >>> gx.log2([0.25, 2.0, 7.0]).numpy().round(3)
      array([-2.   ,  1.   ,  2.807], dtype=float32)
    """

def logaddexp(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """log(exp(x1) + exp(x2)), without overflow on the way.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.logaddexp``.

    Example:
      >>> import graphc as gx
      >>> gx.logaddexp([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
      array([1.518, 1.076, 3.693], dtype=float32)
    """

def logaddexp2(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """log2(2 ** x1 + 2 ** x2), without overflow on the way.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.logaddexp2``.

    Example:
      >>> import graphc as gx
      >>> gx.logaddexp2([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
      array([1.587, 1.38 , 4.   ], dtype=float32)
    """

def maximum(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The larger of two numbers; NaN wins.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.maximum``.

    Example:
      >>> import graphc as gx
      >>> gx.maximum([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([1.5, 0.5, 3. ], shape=(3,), dtype=float32)
    """

def minimum(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The smaller of two numbers; NaN wins.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.minimum``.

    Example:
      >>> import graphc as gx
      >>> gx.minimum([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-2.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
    """

def modf(x: ArrayLike) -> tuple[Tensor, Tensor]:
    """The part behind the point and the whole part.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.modf``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.modf([-2.5, 0.5, 3.0]))
      [-0.5  0.5  0. ] [-2.  0.  3.]
    """

def multiply(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The product x1 * x2, with broadcasting.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.multiply``.

    Example:
      >>> import graphc as gx
      >>> gx.multiply([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-3.75 ,  0.125,  9.   ], shape=(3,), dtype=float32)
    """

def nan_to_num(x: ArrayLike, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None) -> Tensor:
    """NaN replaced by nan, infinities by the largest finite numbers or by those given.

    Args:
      x: a tensor, or what becomes one.
      nan: a number. Static.
      posinf: a number, or None. Static.
      neginf: a number, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nan_to_num``.

    Example:
      >>> import graphc as gx
      >>> gx.nan_to_num([gx.nan, gx.inf, 1.0])
      Tensor([0.0000000e+00, 3.4028235e+38, 1.0000000e+00], shape=(3,), dtype=float32)
    """

def negative(x: ArrayLike) -> Tensor:
    """The number with its sign changed.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.negative``.

    Example:
      >>> import graphc as gx
      >>> gx.negative([-2.5, 0.5, 3.0])
      Tensor([ 2.5, -0.5, -3. ], shape=(3,), dtype=float32)
    """

def nextafter(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The next float after x1 in the direction of x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nextafter``.

    Example:
      >>> import graphc as gx
      >>> gx.nextafter(1.0, 2.0) - 1.0
      Tensor(1.1920929e-07, shape=(), dtype=float32)
    """

def positive(x: ArrayLike) -> Tensor:
    """The number itself, as a new tensor.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.positive``.

    Example:
      >>> import graphc as gx
      >>> gx.positive([-2.5, 0.5, 3.0])
      Tensor([-2.5,  0.5,  3. ], shape=(3,), dtype=float32)
    """

def pow(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 raised to the power x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.pow([0.25, 2.0, 7.0], [1.5, 0.25, 3.0]).numpy().round(3)
      array([1.250e-01, 1.189e+00, 3.430e+02], dtype=float32)
    """

power = pow

def rad2deg(x: ArrayLike) -> Tensor:
    """Radians to degrees.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.rad2deg``.

    Example:
      >>> import graphc as gx
      >>> gx.rad2deg([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-143.239,   28.648,  171.887], dtype=float32)
    """

degrees = rad2deg

def real(x: ArrayLike) -> Tensor:
    """The real part.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.real``.

    Example:
      >>> import graphc as gx
      >>> gx.real([1 + 2j, 0 - 1j, 3])
      Tensor([1., 0., 3.], shape=(3,), dtype=float32)
    """

def reciprocal(x: ArrayLike) -> Tensor:
    """One over the number.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.reciprocal``.

    Example:
      >>> import graphc as gx
      >>> gx.reciprocal([0.25, 2.0, 7.0]).numpy().round(3)
      array([4.   , 0.5  , 0.143], dtype=float32)
    """

def remainder(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """What floor division leaves, with x2's sign.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.remainder``.

    Example:
      >>> import graphc as gx
      >>> gx.remainder([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([0.5, 0. , 0. ], shape=(3,), dtype=float32)
    """

mod = remainder

def rint(x: ArrayLike) -> Tensor:
    """The nearest whole number; halves go to the even one.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.rint``.

    Example:
      >>> import graphc as gx
      >>> gx.rint([-2.5, 0.5, 3.0])
      Tensor([-2.,  0.,  3.], shape=(3,), dtype=float32)
    """

def round(x: ArrayLike, decimals: int = 0) -> Tensor:
    """Rounded to decimals; halves go to the even neighbour.

    Args:
      x: a tensor, or what becomes one.
      decimals: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.round``.

    Example:
      >>> import graphc as gx
      >>> gx.round([-2.5, 0.5, 3.0])
      Tensor([-2.,  0.,  3.], shape=(3,), dtype=float32)
    """

around = round

def rsqrt(x: ArrayLike) -> Tensor:
    """One over the square root, for floats.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.rsqrt``.

    Example:
      >>> import graphc as gx
      >>> gx.rsqrt([0.25, 2.0, 7.0]).numpy().round(3)
      array([2.   , 0.707, 0.378], dtype=float32)
    """

def sign(x: ArrayLike) -> Tensor:
    """-1, 0 or 1 by the sign; z / |z| for complex numbers.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sign``.

    Example:
      >>> import graphc as gx
      >>> gx.sign([-2.5, 0.5, 3.0])
      Tensor([-1.,  1.,  1.], shape=(3,), dtype=float32)
    """

def sin(x: ArrayLike) -> Tensor:
    """The sine of an angle in radians.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sin``.

    Example:
      >>> import graphc as gx
      >>> gx.sin([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.598,  0.479,  0.141], dtype=float32)
    """

def sinc(x: ArrayLike) -> Tensor:
    """sin(pi x) / (pi x), and 1 at zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sinc``.

    Example:
      >>> import graphc as gx
      >>> gx.sinc([-2.5, 0.5, 3.0]).numpy().round(3)
      array([ 0.127,  0.637, -0.   ], dtype=float32)
    """

def sinh(x: ArrayLike) -> Tensor:
    """The hyperbolic sine.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sinh``.

    Example:
      >>> import graphc as gx
      >>> gx.sinh([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-6.05 ,  0.521, 10.018], dtype=float32)
    """

def spacing(x: ArrayLike) -> Tensor:
    """The distance to the next float, away from zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.spacing``.

    Example:
      >>> import graphc as gx
      >>> gx.spacing([1.0, 2.0, 4.0])
      Tensor([1.1920929e-07, 2.3841858e-07, 4.7683716e-07], shape=(3,), dtype=float32)
    """

def sqrt(x: ArrayLike) -> Tensor:
    """The square root; NaN below zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sqrt``.

    Example:
      >>> import graphc as gx
      >>> gx.sqrt([0.25, 2.0, 7.0]).numpy().round(3)
      array([0.5  , 1.414, 2.646], dtype=float32)
    """

def square(x: ArrayLike) -> Tensor:
    """The number times itself.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.square``.

    Example:
      >>> import graphc as gx
      >>> gx.square([-2.5, 0.5, 3.0])
      Tensor([6.25, 0.25, 9.  ], shape=(3,), dtype=float32)
    """

def stop_gradient(x: ArrayLike) -> Tensor:
    """The tensor itself; no gradient flows.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.stop_gradient``.

    Example:
      >>> import graphc as gx
      >>> gx.stop_gradient([-2.5, 0.5, 3.0])
      Tensor([-2.5,  0.5,  3. ], shape=(3,), dtype=float32)
    """

def subtract(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The difference x1 - x2, with broadcasting.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.subtract``.

    Example:
      >>> import graphc as gx
      >>> gx.subtract([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-4.  ,  0.25,  0.  ], shape=(3,), dtype=float32)
    """

def tan(x: ArrayLike) -> Tensor:
    """The tangent of an angle in radians.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.tan``.

    Example:
      >>> import graphc as gx
      >>> gx.tan([-0.9, 0.3, 0.8]).numpy().round(3)
      array([-1.26 ,  0.309,  1.03 ], dtype=float32)
    """

def tanh(x: ArrayLike) -> Tensor:
    """The hyperbolic tangent.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.tanh``.

    Example:
      >>> import graphc as gx
      >>> gx.tanh([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.987,  0.462,  0.995], dtype=float32)
    """

def trunc(x: ArrayLike) -> Tensor:
    """The whole number next towards zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.trunc``.

    Example:
      >>> import graphc as gx
      >>> gx.trunc([-2.5, 0.5, 3.0])
      Tensor([-2.,  0.,  3.], shape=(3,), dtype=float32)
    """
