"""Rows of ``lax``: element by element. Tensors must agree in dtype, and in shape where none is a scalar.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Rounding

__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bessel_i0e",
    "bessel_i1e",
    "betainc",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "clamp",
    "clz",
    "complex",
    "conj",
    "cos",
    "cosh",
    "digamma",
    "div",
    "eq",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "ge",
    "gt",
    "igamma",
    "igamma_grad_a",
    "igammac",
    "imag",
    "integer_pow",
    "is_finite",
    "le",
    "lgamma",
    "log",
    "log1p",
    "logistic",
    "lt",
    "max",
    "min",
    "mul",
    "ne",
    "neg",
    "nextafter",
    "polygamma",
    "population_count",
    "pow",
    "random_gamma_grad",
    "real",
    "reciprocal",
    "reduce_precision",
    "rem",
    "round",
    "rsqrt",
    "select",
    "select_n",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "stop_gradient",
    "sub",
    "tan",
    "tanh",
    "zeta",
]

def abs(x: ArrayLike) -> Tensor:
    """The magnitude.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.abs``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.abs([-2.5, 0.5, 3.0])
      Tensor([2.5, 0.5, 3. ], shape=(3,), dtype=float32)
    """

def acos(x: ArrayLike) -> Tensor:
    """The inverse of the cosine.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.acos``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.acos([-0.9, 0.3, 0.8]).numpy().round(3)
      array([2.691, 1.266, 0.644], dtype=float32)
    """

def acosh(x: ArrayLike) -> Tensor:
    """The inverse of the hyperbolic cosine.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.acosh``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.acosh([1.25, 3.0, 8.0]).numpy().round(3)
      array([0.693, 1.763, 2.769], dtype=float32)
    """

def add(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The sum x + y.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.add``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.add([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-1.  ,  0.75,  6.  ], shape=(3,), dtype=float32)
    """

def asin(x: ArrayLike) -> Tensor:
    """The inverse of the sine.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.asin``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.asin([-0.9, 0.3, 0.8]).numpy().round(3)
      array([-1.12 ,  0.305,  0.927], dtype=float32)
    """

def asinh(x: ArrayLike) -> Tensor:
    """The inverse of the hyperbolic sine.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.asinh``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.asinh([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-1.647,  0.481,  1.818], dtype=float32)
    """

def atan(x: ArrayLike) -> Tensor:
    """The inverse of the tangent.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.atan``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.atan([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-1.19 ,  0.464,  1.249], dtype=float32)
    """

def atan2(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The angle of the point (y, x), by the signs of both.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.atan2``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.atan2([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
      array([-1.03 ,  1.107,  0.785], dtype=float32)
    """

def atanh(x: ArrayLike) -> Tensor:
    """The inverse of the hyperbolic tangent.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.atanh``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.atanh([-0.9, 0.3, 0.8]).numpy().round(3)
      array([-1.472,  0.31 ,  1.099], dtype=float32)
    """

def bessel_i0e(x: ArrayLike) -> Tensor:
    """exp(-|x|) times the modified Bessel function of order 0.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.bessel_i0e``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.bessel_i0e([1.5, 0.25, 3.0]).numpy().round(3)
      array([0.367, 0.791, 0.243], dtype=float32)
    """

def bessel_i1e(x: ArrayLike) -> Tensor:
    """exp(-|x|) times the modified Bessel function of order 1.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.bessel_i1e``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.bessel_i1e([1.5, 0.25, 3.0]).numpy().round(3)
      array([0.219, 0.098, 0.197], dtype=float32)
    """

def betainc(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Tensor:
    """The incomplete beta function, as a share of beta(a, b).

    Args:
      a: a tensor, or what becomes one.
      b: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.betainc``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.betainc([0.5, 2.0], [1.0, 3.0], [0.1, 0.9]).numpy().round(3)
      array([0.316, 0.996], dtype=float32)
    """

def bitwise_and(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The bits that are set in both.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.bitwise_and``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.bitwise_and([12, 0, 255], [1, 2, 4])
      Tensor([0, 0, 4], shape=(3,), dtype=int32)
    """

def bitwise_not(x: ArrayLike) -> Tensor:
    """Each bit the other; of truth values, not.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.bitwise_not``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.bitwise_not([12, 0, 255])
      Tensor([ -13,   -1, -256], shape=(3,), dtype=int32)
    """

def bitwise_or(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The bits that are set in one at least.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.bitwise_or``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.bitwise_or([12, 0, 255], [1, 2, 4])
      Tensor([ 13,   2, 255], shape=(3,), dtype=int32)
    """

def bitwise_xor(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The bits that are set in one only.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.bitwise_xor``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.bitwise_xor([12, 0, 255], [1, 2, 4])
      Tensor([ 13,   2, 251], shape=(3,), dtype=int32)
    """

def cbrt(x: ArrayLike) -> Tensor:
    """The cube root.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.cbrt``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.cbrt([1.5, 0.25, 3.0]).numpy().round(3)
      array([1.145, 0.63 , 1.442], dtype=float32)
    """

def ceil(x: ArrayLike) -> Tensor:
    """The smallest whole number not below.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.ceil``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.ceil([-2.5, 0.5, 3.0])
      Tensor([-2.,  1.,  3.], shape=(3,), dtype=float32)
    """

def clamp(min: ArrayLike, x: ArrayLike, max: ArrayLike) -> Tensor:
    """The number, or the bound that it is beyond; bounds are scalars or of its shape.

    Args:
      min: a tensor, or what becomes one.
      x: a tensor, or what becomes one.
      max: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.clamp``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.clamp([-3.5, -0.5, 2.0], [1.5, 0.25, 3.0], [-1.5, 1.5, 4.0])
      Tensor([-1.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
    """

def clz(x: ArrayLike) -> Tensor:
    """How many bits before the first one that is set are not.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.clz``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.clz([12, 0, 255])
      Tensor([28, 32, 24], shape=(3,), dtype=int32)
    """

def complex(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The complex number x + iy.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.complex``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.complex([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-2.5+1.5j ,  0.5+0.25j,  3. +3.j  ], shape=(3,), dtype=complex64)
    """

def conj(x: ArrayLike) -> Tensor:
    """The complex conjugate; a complex number for a real one, too.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.conj``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.conj([1 + 2j, -0 - 1j, 3])
      Tensor([1.-2.j, 0.+1.j, 3.-0.j], shape=(3,), dtype=complex64)
    """

def cos(x: ArrayLike) -> Tensor:
    """The cosine.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.cos``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.cos([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.801,  0.878, -0.99 ], dtype=float32)
    """

def cosh(x: ArrayLike) -> Tensor:
    """The hyperbolic cosine.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.cosh``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.cosh([-2.5, 0.5, 3.0]).numpy().round(3)
      array([ 6.132,  1.128, 10.068], dtype=float32)
    """

def digamma(x: ArrayLike) -> Tensor:
    """The derivative of lgamma.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.digamma``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.digamma([0.25, 2.0, 7.0]).numpy().round(3)
      array([-4.227,  0.423,  1.873], dtype=float32)
    """

def div(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The quotient x / y; of whole numbers it is one, rounded towards zero.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.div``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.div([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
      array([-1.667,  2.   ,  1.   ], dtype=float32)
    """

def eq(x: ArrayLike, y: ArrayLike) -> Tensor:
    """Whether x == y.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.eq``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.eq([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([False, False,  True], shape=(3,), dtype=bool)
    """

def erf(x: ArrayLike) -> Tensor:
    """The error function.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.erf``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.erf([1.5, 0.25, 3.0]).numpy().round(3)
      array([0.966, 0.276, 1.   ], dtype=float32)
    """

def erf_inv(x: ArrayLike) -> Tensor:
    """The number whose error function is x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.erf_inv``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.erf_inv([-0.9, 0.3, 0.8]).numpy().round(3)
      array([-1.163,  0.272,  0.906], dtype=float32)
    """

def erfc(x: ArrayLike) -> Tensor:
    """1 - erf(x), precise where erf is near 1.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.erfc``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.erfc([1.5, 0.25, 3.0]).numpy().round(3)
      array([0.034, 0.724, 0.   ], dtype=float32)
    """

def exp(x: ArrayLike) -> Tensor:
    """The exponential function, e to the power x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.exp``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.exp([-2.5, 0.5, 3.0]).numpy().round(3)
      array([ 0.082,  1.649, 20.086], dtype=float32)
    """

def exp2(x: ArrayLike) -> Tensor:
    """2 to the power x.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.exp2``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.exp2([-2.5, 0.5, 3.0]).numpy().round(3)
      array([0.177, 1.414, 8.   ], dtype=float32)
    """

def expm1(x: ArrayLike) -> Tensor:
    """exp(x) - 1, precise near zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.expm1``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.expm1([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.918,  0.649, 19.086], dtype=float32)
    """

def floor(x: ArrayLike) -> Tensor:
    """The largest whole number not above.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.floor``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.floor([-2.5, 0.5, 3.0])
      Tensor([-3.,  0.,  3.], shape=(3,), dtype=float32)
    """

def ge(x: ArrayLike, y: ArrayLike) -> Tensor:
    """Whether x >= y.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.ge``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.ge([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([False,  True,  True], shape=(3,), dtype=bool)
    """

def gt(x: ArrayLike, y: ArrayLike) -> Tensor:
    """Whether x > y.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.gt``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.gt([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([False,  True, False], shape=(3,), dtype=bool)
    """

def igamma(a: ArrayLike, x: ArrayLike) -> Tensor:
    """The lower incomplete gamma function, as a share of gamma(a).

    Args:
      a: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.igamma``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.igamma([0.25, 2.0, 7.0], [1.25, 3.0, 8.0]).numpy().round(3)
      array([0.953, 0.801, 0.687], dtype=float32)
    """

def igamma_grad_a(a: ArrayLike, x: ArrayLike) -> Tensor:
    """The derivative of igamma by a.

    Args:
      a: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.igamma_grad_a``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.igamma_grad_a([0.25, 2.0, 7.0], [1.25, 3.0, 8.0]).numpy().round(3)
      array([-0.23 , -0.197, -0.134], dtype=float32)
    """

def igammac(a: ArrayLike, x: ArrayLike) -> Tensor:
    """The upper incomplete gamma function, as a share of gamma(a).

    Args:
      a: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.igammac``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.igammac([0.25, 2.0, 7.0], [1.25, 3.0, 8.0]).numpy().round(3)
      array([0.047, 0.199, 0.313], dtype=float32)
    """

def imag(x: ArrayLike) -> Tensor:
    """The imaginary part of a complex number.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.imag``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.imag([1 + 2j, -0 - 1j, 3])
      Tensor([ 2., -1.,  0.], shape=(3,), dtype=float32)
    """

def integer_pow(x: ArrayLike, y: int) -> Tensor:
    """The number to a power that is static.

    Args:
      x: a tensor, or what becomes one.
      y: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.integer_pow``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.integer_pow([1.5, 0.25, 3.0], 3).numpy().round(3)
      array([3.375e+00, 1.600e-02, 2.700e+01], dtype=float32)
    """

def is_finite(x: ArrayLike) -> Tensor:
    """Whether the float is neither infinite nor NaN.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.is_finite``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.is_finite([1.5, 0.25, 3.0])
      Tensor([ True,  True,  True], shape=(3,), dtype=bool)
    """

def le(x: ArrayLike, y: ArrayLike) -> Tensor:
    """Whether x <= y.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.le``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.le([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([ True, False,  True], shape=(3,), dtype=bool)
    """

def lgamma(x: ArrayLike) -> Tensor:
    """The logarithm of the gamma function's magnitude.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.lgamma``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.lgamma([0.25, 2.0, 7.0]).numpy().round(3)
      array([1.288, 0.   , 6.579], dtype=float32)
    """

def log(x: ArrayLike) -> Tensor:
    """The natural logarithm.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.log``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.log([0.25, 2.0, 7.0]).numpy().round(3)
      array([-1.386,  0.693,  1.946], dtype=float32)
    """

def log1p(x: ArrayLike) -> Tensor:
    """log(1 + x), precise near zero.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.log1p``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.log1p([0.25, 2.0, 7.0]).numpy().round(3)
      array([0.223, 1.099, 2.079], dtype=float32)
    """

def logistic(x: ArrayLike) -> Tensor:
    """1 / (1 + exp(-x)).

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.logistic``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.logistic([-2.5, 0.5, 3.0]).numpy().round(3)
      array([0.076, 0.622, 0.953], dtype=float32)
    """

def lt(x: ArrayLike, y: ArrayLike) -> Tensor:
    """Whether x < y.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.lt``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.lt([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([ True, False, False], shape=(3,), dtype=bool)
    """

def max(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The larger of two numbers; NaN wins.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.max``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.max([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([1.5, 0.5, 3. ], shape=(3,), dtype=float32)
    """

def min(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The smaller of two numbers; NaN wins.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.min``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.min([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-2.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
    """

def mul(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The product x * y.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.mul``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.mul([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-3.75 ,  0.125,  9.   ], shape=(3,), dtype=float32)
    """

def ne(x: ArrayLike, y: ArrayLike) -> Tensor:
    """Whether x != y.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.ne``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.ne([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([ True,  True, False], shape=(3,), dtype=bool)
    """

def neg(x: ArrayLike) -> Tensor:
    """The number with the other sign.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.neg``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.neg([-2.5, 0.5, 3.0])
      Tensor([ 2.5, -0.5, -3. ], shape=(3,), dtype=float32)
    """

def nextafter(x1: ArrayLike, x2: ArrayLike) -> Tensor:
    """The next float after x1 towards x2.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.nextafter``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.nextafter([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0]).numpy().round(3)
      array([-2.5,  0.5,  3. ], dtype=float32)
    """

def polygamma(m: ArrayLike, x: ArrayLike) -> Tensor:
    """Derivative m of digamma.

    Args:
      m: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.polygamma``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.polygamma([1.0, 2.0], [2.0, 3.0]).numpy().round(3)
      array([ 0.645, -0.154], dtype=float32)
    """

def population_count(x: ArrayLike) -> Tensor:
    """How many bits are set.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.population_count``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.population_count([12, 0, 255])
      Tensor([2, 0, 8], shape=(3,), dtype=int32)
    """

def pow(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The number x to the power y; whole numbers y will do for floats x.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.pow``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.pow([0.25, 2.0, 7.0], [1.5, 0.25, 3.0]).numpy().round(3)
      array([1.250e-01, 1.189e+00, 3.430e+02], dtype=float32)
    """

def random_gamma_grad(a: ArrayLike, x: ArrayLike) -> Tensor:
    """The derivative of draws x from the gamma distribution by its parameter a.

    Args:
      a: a tensor, or what becomes one.
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.lax.random_gamma_grad([0.25, 2.0, 7.0], [1.25, 3.0, 8.0]).numpy().round(3)
      array([3.441, 1.322, 1.094], dtype=float32)
    """

def real(x: ArrayLike) -> Tensor:
    """The real part of a complex number.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.real``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.real([1 + 2j, -0 - 1j, 3])
      Tensor([1., 0., 3.], shape=(3,), dtype=float32)
    """

def reciprocal(x: ArrayLike) -> Tensor:
    """One over the number.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.reciprocal``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.reciprocal([1.5, 0.25, 3.0]).numpy().round(3)
      array([0.667, 4.   , 0.333], dtype=float32)
    """

def reduce_precision(operand: ArrayLike, exponent_bits: int, mantissa_bits: int) -> Tensor:
    """The floats rounded to so many bits; their dtype is kept.

    Args:
      operand: a tensor, or what becomes one.
      exponent_bits: an int. Static.
      mantissa_bits: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.reduce_precision``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.reduce_precision([0.1, 3.14], 5, 3).numpy().round(3)
      array([0.102, 3.25 ], dtype=float32)
    """

def rem(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The rest of the division x / y, with the sign of x.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.rem``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.rem([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-1.,  0.,  0.], shape=(3,), dtype=float32)
    """

def round(x: ArrayLike, rounding_method: Rounding = "AWAY_FROM_ZERO") -> Tensor:
    """The nearest whole number; halves go by rounding_method.

    Args:
      x: a tensor, or what becomes one.
      rounding_method: a RoundingMethod of jax.lax, or its name. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.lax.round([-2.5, 0.5, 3.0])
      Tensor([-3.,  1.,  3.], shape=(3,), dtype=float32)
    """

def rsqrt(x: ArrayLike) -> Tensor:
    """One over the square root.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.rsqrt``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.rsqrt([0.25, 2.0, 7.0]).numpy().round(3)
      array([2.   , 0.707, 0.378], dtype=float32)
    """

def select(pred: ArrayLike, on_true: ArrayLike, on_false: ArrayLike) -> Tensor:
    """on_true where pred, else on_false; of one shape.

    Args:
      pred: a tensor, or what becomes one.
      on_true: a tensor, or what becomes one.
      on_false: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.select``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.select([True, False, True], [-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-2.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
    """

def select_n(which: ArrayLike, *cases: ArrayLike) -> Tensor:
    """For each element that of one of the cases, by its number.

    Args:
      which: a tensor, or what becomes one.
      cases: tensors, or what becomes tensors.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.select_n``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.select_n([0, 1, 0], [-2.5, 0.5, 3.0], [1.5, 0.25, 3.0], [0.25, 2.0, 7.0])
      Tensor([-2.5 ,  0.25,  3.  ], shape=(3,), dtype=float32)
    """

def shift_left(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The bits shifted to the left.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.shift_left``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.shift_left([12, 0, 255], [1, 2, 4])
      Tensor([  24,    0, 4080], shape=(3,), dtype=int32)
    """

def shift_right_arithmetic(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The bits shifted to the right; the sign is put in.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.shift_right_arithmetic``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.shift_right_arithmetic([12, 0, 255], [1, 2, 4])
      Tensor([ 6,  0, 15], shape=(3,), dtype=int32)
    """

def shift_right_logical(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The bits shifted to the right; zeros are put in.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.shift_right_logical``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.shift_right_logical([12, 0, 255], [1, 2, 4])
      Tensor([ 6,  0, 15], shape=(3,), dtype=int32)
    """

def sign(x: ArrayLike) -> Tensor:
    """-1, 0 or 1 by the sign; z / |z| for complex numbers.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.sign``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.sign([-2.5, 0.5, 3.0])
      Tensor([-1.,  1.,  1.], shape=(3,), dtype=float32)
    """

def sin(x: ArrayLike) -> Tensor:
    """The sine.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.sin``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.sin([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.598,  0.479,  0.141], dtype=float32)
    """

def sinh(x: ArrayLike) -> Tensor:
    """The hyperbolic sine.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.sinh``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.sinh([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-6.05 ,  0.521, 10.018], dtype=float32)
    """

def sqrt(x: ArrayLike) -> Tensor:
    """The square root.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.sqrt``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.sqrt([0.25, 2.0, 7.0]).numpy().round(3)
      array([0.5  , 1.414, 2.646], dtype=float32)
    """

def square(x: ArrayLike) -> Tensor:
    """The number times itself.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.square``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.square([-2.5, 0.5, 3.0])
      Tensor([6.25, 0.25, 9.  ], shape=(3,), dtype=float32)
    """

def stop_gradient(x: ArrayLike) -> Tensor:
    """The same numbers, to which no gradients flow.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.stop_gradient``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.stop_gradient([1.5, 0.25, 3.0])
      Tensor([1.5 , 0.25, 3.  ], shape=(3,), dtype=float32)
    """

def sub(x: ArrayLike, y: ArrayLike) -> Tensor:
    """The difference x - y.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.sub``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.sub([-2.5, 0.5, 3.0], [1.5, 0.25, 3.0])
      Tensor([-4.  ,  0.25,  0.  ], shape=(3,), dtype=float32)
    """

def tan(x: ArrayLike) -> Tensor:
    """The tangent.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.tan``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.tan([-2.5, 0.5, 3.0]).numpy().round(3)
      array([ 0.747,  0.546, -0.143], dtype=float32)
    """

def tanh(x: ArrayLike) -> Tensor:
    """The hyperbolic tangent.

    Args:
      x: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.tanh``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.tanh([-2.5, 0.5, 3.0]).numpy().round(3)
      array([-0.987,  0.462,  0.995], dtype=float32)
    """

def zeta(x: ArrayLike, q: ArrayLike) -> Tensor:
    """Hurwitz' zeta function.

    Args:
      x: a tensor, or what becomes one.
      q: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.zeta``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.zeta([2.0, 3.0], [1.0, 2.0]).numpy().round(3)
      array([1.645, 0.202], dtype=float32)
    """
