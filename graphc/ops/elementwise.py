"""Element-wise functions: arithmetic, transcendental functions, comparisons, logic and bits."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from graphc.ops import signed_zeros
from graphc.ops.exact import exact
from graphc.ops.table import define, row


def _identity(x: Any) -> Any:
    return x


def _pow(x1: Any, x2: Any) -> Any:
    # JAX has no powers of ints of fewer than 8 bits. The lower bits of a product are those of the wider one.
    dtype = jnp.result_type(x1, x2)
    if not jnp.issubdtype(dtype, jnp.integer) or dtype.name not in _NARROW:
        return jnp.pow(x1, x2)
    wide = jnp.int8 if jnp.issubdtype(dtype, jnp.signedinteger) else jnp.uint8
    return jnp.pow(jnp.astype(x1, wide), jnp.astype(x2, wide)).astype(dtype)


_NARROW = ("int2", "int4", "uint2", "uint4")


_UNARY = "x"


_BINARY = "x1, x2"


def _as_unsigned(function: Any) -> Any:
    """A function of magnitudes. JAX's own never end where the smallest int is, which has no magnitude of its dtype."""

    def impl(x1: Any, x2: Any) -> Any:
        dtype = jnp.result_type(x1, x2)
        if not jnp.issubdtype(dtype, jnp.signedinteger):
            return function(x1, x2)
        unsigned = jnp.dtype(f"u{dtype.name}")
        return function(*(jnp.abs(jnp.astype(x, dtype)).astype(unsigned) for x in (x1, x2))).astype(dtype)

    return impl


_CLOSE = "x1, x2, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False"

_NUMBERS = (
    # Arithmetic.
    row("add", jnp.add, _BINARY, "The sum x1 + x2, with broadcasting.", fold=exact(np.add)),
    row("subtract", jnp.subtract, _BINARY, "The difference x1 - x2, with broadcasting.", fold=exact(np.subtract)),
    row("multiply", jnp.multiply, _BINARY, "The product x1 * x2, with broadcasting.", fold=exact(np.multiply)),
    row("divide", jnp.divide, _BINARY, "The quotient x1 / x2; integers give floats.", aliases=("true_divide",)),
    row("floor_divide", signed_zeros.floor_divide, _BINARY, "The quotient rounded towards minus infinity."),
    row("remainder", signed_zeros.remainder, _BINARY, "What floor division leaves, with x2's sign.", aliases=("mod",)),
    row("fmod", jnp.fmod, _BINARY, "What truncating division leaves, with x1's sign."),
    row("pow", _pow, _BINARY, "x1 raised to the power x2.", aliases=("power",)),
    row("divmod", signed_zeros.divmod, _BINARY, "Floor division and what it leaves.", returns="tuple[Tensor, Tensor]"),
    row("float_power", jnp.float_power, _BINARY, "x1 raised to the power x2, as a float; NaN below zero."),
    row("negative", jnp.negative, _UNARY, "The number with its sign changed.", fold=exact(np.negative)),
    row("positive", jnp.positive, _UNARY, "The number itself, as a new tensor."),
    row("abs", jnp.abs, _UNARY, "The magnitude; real also for complex numbers.", aliases=("absolute",)),
    row("fabs", jnp.fabs, _UNARY, "The magnitude, as a float."),
    row("sign", signed_zeros.sign, _UNARY, "-1, 0 or 1 by the sign; z / |z| for complex numbers."),
    row("reciprocal", jnp.reciprocal, _UNARY, "One over the number."),
    row("square", jnp.square, _UNARY, "The number times itself."),
    row("maximum", jnp.maximum, _BINARY, "The larger of two numbers; NaN wins."),
    row("minimum", jnp.minimum, _BINARY, "The smaller of two numbers; NaN wins."),
    row("fmax", jnp.fmax, _BINARY, "The larger of two numbers; a number wins over NaN."),
    row("fmin", jnp.fmin, _BINARY, "The smaller of two numbers; a number wins over NaN."),
    row("copysign", jnp.copysign, _BINARY, "The magnitude of x1 with the sign of x2."),
    row("nextafter", jnp.nextafter, _BINARY, "The next float after x1 in the direction of x2.", differentiable=False),
    row("spacing", jnp.spacing, _UNARY, "The distance to the next float, away from zero.", differentiable=False),
    row("ldexp", jnp.ldexp, _BINARY, "x1 * 2 ** x2, for whole numbers x2."),
    row(
        "frexp",
        jnp.frexp,
        _UNARY,
        "The mantissa, between 0.5 and 1 in magnitude, and the exponent of 2.",
        returns="tuple[Tensor, Tensor]",
    ),
    row("modf", jnp.modf, _UNARY, "The part behind the point and the whole part.", returns="tuple[Tensor, Tensor]"),
    row("heaviside", jnp.heaviside, _BINARY, "0 below zero, 1 above, x2 at zero."),
    row("identity", _identity, _UNARY, "The tensor itself, as a new tensor.", aliases=("copy",)),
    row(
        "stop_gradient",
        lax.stop_gradient,
        _UNARY,
        "The tensor itself; no gradient flows.",
        differentiable=False,
    ),
    # Rounding.
    row("floor", jnp.floor, _UNARY, "The largest whole number not above."),
    row("ceil", jnp.ceil, _UNARY, "The smallest whole number not below."),
    row("trunc", jnp.trunc, _UNARY, "The whole number next towards zero."),
    row(
        "round",
        jnp.round,
        "x, decimals: int = 0",
        "Rounded to decimals; halves go to the even neighbour.",
        aliases=("around",),
    ),
    row("fix", jnp.trunc, _UNARY, "The whole number next towards zero."),
    row("rint", jnp.rint, _UNARY, "The nearest whole number; halves go to the even one."),
    # Roots, exponentials, logarithms.
    row("sqrt", jnp.sqrt, _UNARY, "The square root; NaN below zero."),
    row("rsqrt", lax.rsqrt, _UNARY, "One over the square root, for floats."),
    row("cbrt", jnp.cbrt, _UNARY, "The cube root."),
    row("hypot", jnp.hypot, _BINARY, "The square root of x1 ** 2 + x2 ** 2, without overflow on the way."),
    row("exp", jnp.exp, _UNARY, "The exponential function, e to the power x."),
    row("exp2", jnp.exp2, _UNARY, "2 to the power x."),
    row("expm1", jnp.expm1, _UNARY, "exp(x) - 1, precise near zero."),
    row("log", jnp.log, _UNARY, "The natural logarithm."),
    row("log2", jnp.log2, _UNARY, "The logarithm to base 2."),
    row("log10", jnp.log10, _UNARY, "The logarithm to base 10."),
    row("log1p", jnp.log1p, _UNARY, "log(1 + x), precise near zero."),
    row("logaddexp", jnp.logaddexp, _BINARY, "log(exp(x1) + exp(x2)), without overflow on the way."),
    row("logaddexp2", jnp.logaddexp2, _BINARY, "log2(2 ** x1 + 2 ** x2), without overflow on the way."),
    row("i0", jnp.i0, _UNARY, "The modified Bessel function of the first kind, of order 0.", light=False),
    # Trigonometry, angles in radians.
    row("sin", jnp.sin, _UNARY, "The sine of an angle in radians."),
    row("cos", jnp.cos, _UNARY, "The cosine of an angle in radians."),
    row("tan", jnp.tan, _UNARY, "The tangent of an angle in radians."),
    row("asin", jnp.asin, _UNARY, "The angle in radians whose sine is x.", aliases=("arcsin",)),
    row("acos", jnp.acos, _UNARY, "The angle in radians whose cosine is x.", aliases=("arccos",)),
    row("atan", jnp.atan, _UNARY, "The angle in radians whose tangent is x.", aliases=("arctan",)),
    row("atan2", jnp.atan2, _BINARY, "The angle in radians of the point (x2, x1).", aliases=("arctan2",)),
    row("sinc", jnp.sinc, _UNARY, "sin(pi x) / (pi x), and 1 at zero."),
    row("sinh", jnp.sinh, _UNARY, "The hyperbolic sine."),
    row("cosh", jnp.cosh, _UNARY, "The hyperbolic cosine."),
    row("tanh", jnp.tanh, _UNARY, "The hyperbolic tangent."),
    row("asinh", jnp.asinh, _UNARY, "The number whose hyperbolic sine is x.", aliases=("arcsinh",)),
    row("acosh", jnp.acosh, _UNARY, "The number whose hyperbolic cosine is x.", aliases=("arccosh",)),
    row("atanh", jnp.atanh, _UNARY, "The number whose hyperbolic tangent is x.", aliases=("arctanh",)),
    row("deg2rad", jnp.deg2rad, _UNARY, "Degrees to radians.", aliases=("radians",)),
    row("rad2deg", jnp.rad2deg, _UNARY, "Radians to degrees.", aliases=("degrees",)),
    # Complex numbers.
    row("conj", jnp.conj, _UNARY, "The complex conjugate.", aliases=("conjugate",)),
    row("real", jnp.real, _UNARY, "The real part."),
    row("imag", jnp.imag, _UNARY, "The imaginary part."),
    row("angle", jnp.angle, "x, deg: bool = False", "The angle of a complex number, in radians or degrees."),
    # Repair.
    row(
        "nan_to_num",
        jnp.nan_to_num,
        "x, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None",
        "NaN replaced by nan, infinities by the largest finite numbers or by those given.",
    ),
)

_LOGIC = (
    # Comparisons give bools.
    row("equal", jnp.equal, _BINARY, "Whether x1 == x2.", fold=exact(np.equal), differentiable=False),
    row("not_equal", jnp.not_equal, _BINARY, "Whether x1 != x2.", fold=exact(np.not_equal), differentiable=False),
    row("less", jnp.less, _BINARY, "Whether x1 < x2.", fold=exact(np.less), differentiable=False),
    row(
        "less_equal",
        jnp.less_equal,
        _BINARY,
        "Whether x1 <= x2.",
        fold=exact(np.less_equal),
        differentiable=False,
    ),
    row("greater", jnp.greater, _BINARY, "Whether x1 > x2.", fold=exact(np.greater), differentiable=False),
    row(
        "greater_equal",
        jnp.greater_equal,
        _BINARY,
        "Whether x1 >= x2.",
        fold=exact(np.greater_equal),
        differentiable=False,
    ),
    row("isclose", jnp.isclose, _CLOSE, "Whether |x1 - x2| <= atol + rtol * |x2|.", differentiable=False),
    row("allclose", jnp.allclose, _CLOSE, "Whether isclose holds for every element.", differentiable=False),
    row("array_equal", jnp.array_equal, _BINARY, "Whether shapes and elements are equal.", differentiable=False),
    row(
        "array_equiv",
        jnp.array_equiv,
        _BINARY,
        "Whether elements are equal after broadcasting.",
        differentiable=False,
    ),
    row("isnan", jnp.isnan, _UNARY, "Whether the element is NaN.", differentiable=False),
    row("isinf", jnp.isinf, _UNARY, "Whether the element is infinite.", differentiable=False),
    row(
        "isfinite",
        jnp.isfinite,
        _UNARY,
        "Whether the element is neither infinite nor NaN.",
        differentiable=False,
    ),
    row("isneginf", jnp.isneginf, _UNARY, "Whether the element is minus infinity.", differentiable=False),
    row("isposinf", jnp.isposinf, _UNARY, "Whether the element is plus infinity.", differentiable=False),
    row("isreal", jnp.isreal, _UNARY, "Whether the imaginary part is zero.", differentiable=False),
    row("iscomplex", jnp.iscomplex, _UNARY, "Whether the imaginary part is not zero.", differentiable=False),
    row("signbit", jnp.signbit, _UNARY, "Whether the sign bit is set, as in -0.0.", differentiable=False),
    # Logic takes any numbers; zero is False.
    row("logical_and", jnp.logical_and, _BINARY, "Both true.", fold=np.logical_and, differentiable=False),
    row("logical_or", jnp.logical_or, _BINARY, "At least one true.", fold=np.logical_or, differentiable=False),
    row("logical_xor", jnp.logical_xor, _BINARY, "Exactly one true.", fold=np.logical_xor, differentiable=False),
    row("logical_not", jnp.logical_not, _UNARY, "Not true.", fold=np.logical_not, differentiable=False),
    # Bits of integers and bools.
    row("bitwise_and", jnp.bitwise_and, _BINARY, "x1 & x2.", fold=exact(np.bitwise_and), differentiable=False),
    row("bitwise_or", jnp.bitwise_or, _BINARY, "x1 | x2.", fold=exact(np.bitwise_or), differentiable=False),
    row("bitwise_xor", jnp.bitwise_xor, _BINARY, "x1 ^ x2.", fold=exact(np.bitwise_xor), differentiable=False),
    row(
        "bitwise_invert",
        jnp.bitwise_invert,
        _UNARY,
        "~x.",
        fold=exact(np.invert),
        differentiable=False,
        aliases=("bitwise_not", "invert"),
    ),
    row(
        "bitwise_left_shift",
        jnp.bitwise_left_shift,
        _BINARY,
        "x1 << x2.",
        differentiable=False,
        aliases=("left_shift",),
    ),
    row(
        "bitwise_right_shift",
        jnp.bitwise_right_shift,
        _BINARY,
        "x1 >> x2, keeping the sign.",
        differentiable=False,
        aliases=("right_shift",),
    ),
    row("bitwise_count", jnp.bitwise_count, _UNARY, "How many bits of |x| are set.", differentiable=False),
    row(
        "packbits",
        jnp.packbits,
        "x, axis: int | None = None, bitorder: str = 'big'",
        "Eight truth values as the bits of a uint8, along axis.",
        differentiable=False,
        light=False,
    ),
    row(
        "unpackbits",
        jnp.unpackbits,
        "x, axis: int | None = None, count: int | None = None, bitorder: str = 'big'",
        "The bits of each uint8 along axis, as numbers 0 and 1; count of them.",
        differentiable=False,
        light=False,
    ),
    row("gcd", _as_unsigned(jnp.gcd), _BINARY, "The greatest common divisor.", differentiable=False, light=False),
    row("lcm", _as_unsigned(jnp.lcm), _BINARY, "The least common multiple.", differentiable=False, light=False),
)

define(globals(), light=(*_NUMBERS, *_LOGIC))
