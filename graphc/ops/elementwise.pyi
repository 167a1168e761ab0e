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
    """

absolute = abs

def acos(x: ArrayLike) -> Tensor:
    """The angle in radians whose cosine is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.acos``.
    """

arccos = acos

def acosh(x: ArrayLike) -> Tensor:
    """The number whose hyperbolic cosine is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.acosh``.
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
    """

def angle(x: ArrayLike, deg: bool = False) -> Tensor:
    """The angle of a complex number, in radians or degrees.

    Args:
      x: a tensor, or what becomes one.
      deg: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.angle``.
    """

def asin(x: ArrayLike) -> Tensor:
    """The angle in radians whose sine is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.asin``.
    """

arcsin = asin

def asinh(x: ArrayLike) -> Tensor:
    """The number whose hyperbolic sine is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.asinh``.
    """

arcsinh = asinh

def atan(x: ArrayLike) -> Tensor:
    """The angle in radians whose tangent is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.atan``.
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
    """

arctan2 = atan2

def atanh(x: ArrayLike) -> Tensor:
    """The number whose hyperbolic tangent is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.atanh``.
    """

arctanh = atanh

def cbrt(x: ArrayLike) -> Tensor:
    """The cube root.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.cbrt``.
    """

def ceil(x: ArrayLike) -> Tensor:
    """The smallest whole number not below.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.ceil``.
    """

def conj(x: ArrayLike) -> Tensor:
    """The complex conjugate.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.conj``.
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
    """

def cos(x: ArrayLike) -> Tensor:
    """The cosine of an angle in radians.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.cos``.
    """

def cosh(x: ArrayLike) -> Tensor:
    """The hyperbolic cosine.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.cosh``.
    """

def deg2rad(x: ArrayLike) -> Tensor:
    """Degrees to radians.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.deg2rad``.
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
    """

def exp(x: ArrayLike) -> Tensor:
    """The exponential function, e to the power x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.exp``.
    """

def exp2(x: ArrayLike) -> Tensor:
    """2 to the power x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.exp2``.
    """

def expm1(x: ArrayLike) -> Tensor:
    """exp(x) - 1, precise near zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.expm1``.
    """

def fabs(x: ArrayLike) -> Tensor:
    """The magnitude, as a float.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fabs``.
    """

def fix(x: ArrayLike) -> Tensor:
    """The whole number next towards zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.trunc``.
    """

def float_power(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 raised to the power x2, as a float; NaN below zero.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.float_power``.
    """

def floor(x: ArrayLike) -> Tensor:
    """The largest whole number not above.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.floor``.
    """

def floor_divide(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The quotient rounded towards minus infinity.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.floor_divide``.
    """

def fmax(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The larger of two numbers; a number wins over NaN.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fmax``.
    """

def fmin(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The smaller of two numbers; a number wins over NaN.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fmin``.
    """

def fmod(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """What truncating division leaves, with x1's sign.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fmod``.
    """

def frexp(x: ArrayLike) -> tuple[Tensor, Tensor]:
    """The mantissa, between 0.5 and 1 in magnitude, and the exponent of 2.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.frexp``.
    """

def heaviside(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """0 below zero, 1 above, x2 at zero.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.heaviside``.
    """

def hypot(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The square root of x1 ** 2 + x2 ** 2, without overflow on the way.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.hypot``.
    """

def i0(x: ArrayLike) -> Tensor:
    """The modified Bessel function of the first kind, of order 0.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.i0``.
    """

def identity(x: ArrayLike) -> Tensor:
    """The tensor itself, as a new tensor.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

copy = identity

def imag(x: ArrayLike) -> Tensor:
    """The imaginary part.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.imag``.
    """

def ldexp(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 * 2 ** x2, for whole numbers x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.ldexp``.
    """

def log(x: ArrayLike) -> Tensor:
    """The natural logarithm.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.log``.
    """

def log10(x: ArrayLike) -> Tensor:
    """The logarithm to base 10.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.log10``.
    """

def log1p(x: ArrayLike) -> Tensor:
    """log(1 + x), precise near zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.log1p``.
    """

def log2(x: ArrayLike) -> Tensor:
    """The logarithm to base 2.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.log2``.
    """

def logaddexp(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """log(exp(x1) + exp(x2)), without overflow on the way.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.logaddexp``.
    """

def logaddexp2(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """log2(2 ** x1 + 2 ** x2), without overflow on the way.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.logaddexp2``.
    """

def maximum(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The larger of two numbers; NaN wins.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.maximum``.
    """

def minimum(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The smaller of two numbers; NaN wins.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.minimum``.
    """

def modf(x: ArrayLike) -> tuple[Tensor, Tensor]:
    """The part behind the point and the whole part.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.modf``.
    """

def multiply(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The product x1 * x2, with broadcasting.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.multiply``.
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
    """

def negative(x: ArrayLike) -> Tensor:
    """The number with its sign changed.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.negative``.
    """

def nextafter(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The next float after x1 in the direction of x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nextafter``.
    """

def positive(x: ArrayLike) -> Tensor:
    """The number itself, as a new tensor.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.positive``.
    """

def pow(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """x1 raised to the power x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

power = pow

def rad2deg(x: ArrayLike) -> Tensor:
    """Radians to degrees.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.rad2deg``.
    """

degrees = rad2deg

def real(x: ArrayLike) -> Tensor:
    """The real part.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.real``.
    """

def reciprocal(x: ArrayLike) -> Tensor:
    """One over the number.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.reciprocal``.
    """

def remainder(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """What floor division leaves, with x2's sign.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.remainder``.
    """

mod = remainder

def rint(x: ArrayLike) -> Tensor:
    """The nearest whole number; halves go to the even one.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.rint``.
    """

def round(x: ArrayLike, decimals: int = 0) -> Tensor:
    """Rounded to decimals; halves go to the even neighbour.

    Args:
      x: a tensor, or what becomes one.
      decimals: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.round``.
    """

around = round

def rsqrt(x: ArrayLike) -> Tensor:
    """One over the square root, for floats.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.rsqrt``.
    """

def sign(x: ArrayLike) -> Tensor:
    """-1, 0 or 1 by the sign; z / |z| for complex numbers.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sign``.
    """

def sin(x: ArrayLike) -> Tensor:
    """The sine of an angle in radians.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sin``.
    """

def sinc(x: ArrayLike) -> Tensor:
    """sin(pi x) / (pi x), and 1 at zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sinc``.
    """

def sinh(x: ArrayLike) -> Tensor:
    """The hyperbolic sine.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sinh``.
    """

def spacing(x: ArrayLike) -> Tensor:
    """The distance to the next float, away from zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.spacing``.
    """

def sqrt(x: ArrayLike) -> Tensor:
    """The square root; NaN below zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sqrt``.
    """

def square(x: ArrayLike) -> Tensor:
    """The number times itself.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.square``.
    """

def stop_gradient(x: ArrayLike) -> Tensor:
    """The tensor itself; no gradient flows.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.stop_gradient``.
    """

def subtract(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The difference x1 - x2, with broadcasting.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.subtract``.
    """

def tan(x: ArrayLike) -> Tensor:
    """The tangent of an angle in radians.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.tan``.
    """

def tanh(x: ArrayLike) -> Tensor:
    """The hyperbolic tangent.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.tanh``.
    """

def trunc(x: ArrayLike) -> Tensor:
    """The whole number next towards zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.trunc``.
    """
