"""Element-wise functions: arithmetic, transcendental functions, comparisons, logic and bits."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import check_exponent
from graphc.compiler.ops.table import define, row

# Division and sign with IEEE 754's signed zeros, which XLA handles differently. NumPy, Python and the array API
# agree: ``-0.0 // 1.0`` is -0.0, ``-0.0 % 1.0`` is 0.0, and the sign of -0.0 is 0.0. Gradients stay those of JAX's
# functions: a zero remainder still moves with x1.


def _mended(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Returns a decorator that corrects a JAX function's results for floats; integers have one zero."""

    def decorated(mend: Callable[..., Any]) -> Callable[..., Any]:
        @jax.custom_jvp
        def of_floats(*arrays: Any) -> Any:
            return mend(function(*arrays), *arrays)

        @of_floats.defjvp
        def _tangents(primals: Any, tangents: Any) -> Any:  # pyright: ignore[reportUnusedFunction]
            return of_floats(*primals), jax.jvp(function, primals, tangents)[1]

        @wraps(function)
        def result(*arrays: Any) -> Any:
            exact = not jnp.issubdtype(jnp.result_type(*arrays), jnp.inexact)
            return function(*arrays) if exact else of_floats(*arrays)

        return result

    return decorated


def _zeros_like(result: Any, sign: Any) -> Any:
    """Returns zeros like the result, with the sign of ``sign``."""
    if result.dtype.itemsize > 1:
        return jnp.copysign(jnp.zeros_like(result), sign)
    # JAX's copysign does not accept 8-bit floats.
    return jnp.copysign(jnp.zeros_like(result, jnp.float32), jnp.asarray(sign, jnp.float32)).astype(result.dtype)


def _quotient(quotient: Any, x1: Any, x2: Any) -> Any:
    return jnp.where(quotient == 0, _zeros_like(quotient, jnp.divide(x1, x2)), quotient)


def _rest(rest: Any, x2: Any) -> Any:
    return jnp.where(rest == 0, _zeros_like(rest, x2), rest)


@_mended(jnp.floor_divide)
def _floor_divide(quotient: Any, x1: Any, x2: Any) -> Any:
    return _quotient(quotient, x1, x2)


@_mended(jnp.remainder)
def _remainder(rest: Any, x1: Any, x2: Any) -> Any:
    del x1
    return _rest(rest, x2)


@_mended(jnp.divmod)
def _divmod(results: Any, x1: Any, x2: Any) -> Any:
    quotient, rest = results
    return _quotient(quotient, x1, x2), _rest(rest, x2)


@_mended(jnp.sign)
def _sign(result: Any, x: Any) -> Any:
    return jnp.where(x == 0, jnp.zeros_like(result), result)


# NumPy functions for constant folding, restricted to the cases where XLA computes the same bits.


def exact(function: Callable[..., Any]) -> Callable[..., Any]:
    """Returns the function with a check that operands have the same real dtype."""
    # NumPy and JAX promote mixed dtypes differently (int32 with float32 is float64 in NumPy), which a comparison's
    # result does not show; complex products may be rounded differently.

    @wraps(function)
    def checked(*arrays: Any, **attrs: Any) -> Any:
        if len({array.dtype for array in arrays}) != 1 or arrays[0].dtype.kind == "c":
            raise UnimplementedError(f"{function.__name__} is folded for operands of one real dtype only")
        return function(*arrays, **attrs)

    return checked


def _identity(x: Any) -> Any:
    return x


def _is_constant(x: Any) -> bool:
    return not isinstance(x, Tracer) and not jnp.ndim(x)


def _pow(x1: Any, x2: Any) -> jax.Array:
    # JAX has no powers of ints of fewer than 8 bits. The lower bits of a product are those of the wider one.
    dtype = jnp.result_type(x1, x2)
    if not jnp.issubdtype(dtype, jnp.integer):
        return jnp.pow(x1, x2)
    if dtype.name not in _NARROW:
        return jnp.pow(x1, x2) if _is_constant(x2) else _power_of_ints(x1, x2)
    wide = jnp.int8 if jnp.issubdtype(dtype, jnp.signedinteger) else jnp.uint8
    return jnp.pow(jnp.astype(x1, wide), jnp.astype(x2, wide)).astype(dtype)


def _power_of_ints(x1: Any, x2: Any) -> jax.Array:
    """Returns a power modulo 2 ** bits, as NumPy's; JAX's own counts the six lowest bits of the exponent only."""

    def all_bits(x1: Any, x2: Any) -> Any:
        result = jnp.pow(x1, x2)
        x1, x2 = (x + jnp.zeros_like(result) for x in (x1, x2))
        for _ in range(6, 8 * result.dtype.itemsize, 6):  # JAX's power is that of one digit to the base 64
            x1, x2 = lax.integer_pow(x1, 64), lax.shift_right_logical(x2, jnp.asarray(6, x2.dtype))
            result = result * jnp.pow(x1, x2)
        return result

    # On a CPU a million small exponents take 0.9 ms, or 0.4 if it is one for all (JAX: 0.5), and large ones 5.7.
    return cast("jax.Array", lax.cond(jnp.all((x2 >= 0) & (x2 < 64)), jnp.pow, all_bits, x1, x2))


_NARROW = ("int2", "int4", "uint2", "uint4")


_UNARY = "x"


_BINARY = "x1, x2"


def _as_unsigned(function: Any) -> Any:
    """Applies a function to magnitudes; JAX's own never ends for the smallest int, whose magnitude overflows."""

    def impl(x1: Any, x2: Any) -> Any:
        dtype = jnp.result_type(x1, x2)
        if not jnp.issubdtype(dtype, jnp.signedinteger):
            return function(x1, x2)
        unsigned = jnp.dtype(f"u{dtype.name}")
        return function(*(jnp.abs(jnp.astype(x, dtype)).astype(unsigned) for x in (x1, x2))).astype(dtype)

    return impl


def _by_value(function: Any) -> Any:
    """Compares integer tensors with Python ints by value, as NumPy does; JAX wraps an int that is too large."""

    @wraps(function)
    def compare(x1: Any, x2: Any) -> Any:
        types = jax.typeof(x1), jax.typeof(x2)
        dtypes = [type.dtype for type in types]
        if types[0].weak_type == types[1].weak_type or not all(dtype.kind in "iu" for dtype in dtypes):
            return function(x1, x2)
        position = int(types[1].weak_type)
        strong, weak = dtypes[1 - position], dtypes[position]
        if strong.itemsize < weak.itemsize:
            return function(lax.convert_element_type(x1, weak), lax.convert_element_type(x2, weak))
        if strong.kind == "i":
            return function(x1, x2)
        negative = jnp.less((x1, x2)[position], 0)  # below all that an unsigned tensor holds, of as many bits
        return jnp.where(negative, function(*((0, 1) if position == 0 else (1, 0))), function(x1, x2))

    return compare


_CLOSE = "x1, x2, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False"

_NUMBERS = (
    # Arithmetic.
    row("add", jnp.add, _BINARY, "The sum x1 + x2, with broadcasting.", fold=exact(np.add)),
    row("subtract", jnp.subtract, _BINARY, "The difference x1 - x2, with broadcasting.", fold=exact(np.subtract)),
    row("multiply", jnp.multiply, _BINARY, "The product x1 * x2, with broadcasting.", fold=exact(np.multiply)),
    row("divide", jnp.divide, _BINARY, "The quotient x1 / x2, a float even for integers.", aliases=("true_divide",)),
    row("floor_divide", _floor_divide, _BINARY, "The quotient rounded towards minus infinity."),
    row("remainder", _remainder, _BINARY,
        "The remainder of floor division, with x2's sign.", aliases=("mod",)),
    row("fmod", jnp.fmod, _BINARY, "The remainder of truncating division, with x1's sign."),
    row("pow", _pow, _BINARY, "x1 raised to the power x2.", aliases=("power",), check=check_exponent),
    row("divmod", _divmod, _BINARY,
        "The quotient and remainder of floor division.", returns="tuple[Tensor, Tensor]"),
    row("float_power", jnp.float_power, _BINARY, "x1 raised to the power x2, as a float; NaN below zero."),
    row("negative", jnp.negative, _UNARY, "The negative of x.", fold=exact(np.negative)),
    row("positive", jnp.positive, _UNARY, "x unchanged, as a new tensor."),
    row("abs", jnp.abs, _UNARY, "The absolute value; real for complex numbers too.", aliases=("absolute",)),
    row("fabs", jnp.fabs, _UNARY, "The absolute value, as a float."),
    row("sign", _sign, _UNARY, "The sign: -1, 0 or 1; z / |z| for complex numbers."),
    row("reciprocal", jnp.reciprocal, _UNARY, "The reciprocal, 1 / x."),
    row("square", jnp.square, _UNARY, "The square of x."),
    row("maximum", jnp.maximum, _BINARY, "The maximum of two numbers; propagates NaN."),
    row("minimum", jnp.minimum, _BINARY, "The minimum of two numbers; propagates NaN."),
    row("fmax", jnp.fmax, _BINARY, "The maximum of two numbers; ignores NaN."),
    row("fmin", jnp.fmin, _BINARY, "The minimum of two numbers; ignores NaN."),
    row("copysign", jnp.copysign, _BINARY, "The magnitude of x1 with the sign of x2."),
    row("nextafter", jnp.nextafter, _BINARY, "The next float after x1 in the direction of x2.", differentiable=False),
    row("spacing", jnp.spacing, _UNARY, "The distance to the next float, away from zero.", differentiable=False),
    row("ldexp", jnp.ldexp, _BINARY, "x1 * 2 ** x2, for integers x2."),
    row("frexp", jnp.frexp, _UNARY,
        "The mantissa, between 0.5 and 1 in magnitude, and the exponent of 2.", returns="tuple[Tensor, Tensor]"),
    row("modf", jnp.modf, _UNARY, "The fractional and the integer part.", returns="tuple[Tensor, Tensor]"),
    row("heaviside", jnp.heaviside, _BINARY, "0 below zero, 1 above, x2 at zero."),
    row("identity", _identity, _UNARY, "The tensor unchanged, as a new tensor.", aliases=("copy",)),
    row("stop_gradient", lax.stop_gradient, _UNARY, "The tensor unchanged, without gradients.", differentiable=False),
    # Rounding.
    row("floor", jnp.floor, _UNARY, "The largest integer not greater than x."),
    row("ceil", jnp.ceil, _UNARY, "The smallest integer not less than x."),
    row("trunc", jnp.trunc, _UNARY, "x rounded towards zero."),
    row("round", jnp.round, "x, decimals: int = 0",
        "x rounded to decimals; halves round to even.", aliases=("around",)),
    row("fix", jnp.trunc, _UNARY, "x rounded towards zero."),
    row("rint", jnp.rint, _UNARY, "The nearest integer; halves round to even."),
    # Roots, exponentials, logarithms.
    row("sqrt", jnp.sqrt, _UNARY, "The square root; NaN below zero."),
    row("rsqrt", lax.rsqrt, _UNARY, "The reciprocal square root, for floats."),
    row("cbrt", jnp.cbrt, _UNARY, "The cube root."),
    row("hypot", jnp.hypot, _BINARY, "The square root of x1 ** 2 + x2 ** 2, without overflow."),
    row("exp", jnp.exp, _UNARY, "The exponential function, e to the power x."),
    row("exp2", jnp.exp2, _UNARY, "2 to the power x."),
    row("expm1", jnp.expm1, _UNARY, "exp(x) - 1, precise near zero."),
    row("log", jnp.log, _UNARY, "The natural logarithm."),
    row("log2", jnp.log2, _UNARY, "The logarithm to base 2."),
    row("log10", jnp.log10, _UNARY, "The logarithm to base 10."),
    row("log1p", jnp.log1p, _UNARY, "log(1 + x), precise near zero."),
    row("logaddexp", jnp.logaddexp, _BINARY, "log(exp(x1) + exp(x2)), without overflow."),
    row("logaddexp2", jnp.logaddexp2, _BINARY, "log2(2 ** x1 + 2 ** x2), without overflow."),
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
    row("asinh", jnp.asinh, _UNARY, "The inverse hyperbolic sine.", aliases=("arcsinh",)),
    row("acosh", jnp.acosh, _UNARY, "The inverse hyperbolic cosine.", aliases=("arccosh",)),
    row("atanh", jnp.atanh, _UNARY, "The inverse hyperbolic tangent.", aliases=("arctanh",)),
    row("deg2rad", jnp.deg2rad, _UNARY, "Degrees to radians.", aliases=("radians",)),
    row("rad2deg", jnp.rad2deg, _UNARY, "Radians to degrees.", aliases=("degrees",)),
    # Complex numbers.
    row("conj", jnp.conj, _UNARY, "The complex conjugate.", aliases=("conjugate",)),
    row("real", jnp.real, _UNARY, "The real part."),
    row("imag", jnp.imag, _UNARY, "The imaginary part."),
    row("angle", jnp.angle, "x, deg: bool = False", "The angle of a complex number, in radians or degrees."),
    # Repair.
    row("nan_to_num", jnp.nan_to_num, "x, nan: float = 0.0, posinf: float | None = None, neginf: float | None = None",
        "NaN replaced by nan, infinities by the largest finite numbers or by those given."),
)  # fmt: skip

_SIGNS = {"equal": "==", "not_equal": "!=", "less": "<", "less_equal": "<=", "greater": ">", "greater_equal": ">="}

_LOGIC = (
    # Comparisons return bools.
    *(
        row(
            name,
            _by_value(getattr(jnp, name)),
            _BINARY,
            f"True where x1 {sign} x2.",
            fold=exact(getattr(np, name)),
            differentiable=False,
        )
        for name, sign in _SIGNS.items()
    ),
    row("isclose", jnp.isclose, _CLOSE, "True where |x1 - x2| <= atol + rtol * |x2|.", differentiable=False),
    row("allclose", jnp.allclose, _CLOSE, "True if isclose is true for all elements.", differentiable=False),
    row("array_equal", jnp.array_equal, _BINARY, "True if shapes and elements are equal.", differentiable=False),
    row("array_equiv", jnp.array_equiv, _BINARY,
        "True if the elements are equal after broadcasting.", differentiable=False),
    row("isnan", jnp.isnan, _UNARY, "True where x is NaN.", differentiable=False),
    row("isinf", jnp.isinf, _UNARY, "True where x is infinite.", differentiable=False),
    row("isfinite", jnp.isfinite, _UNARY, "True where x is neither infinite nor NaN.", differentiable=False),
    row("isneginf", jnp.isneginf, _UNARY, "True where x is minus infinity.", differentiable=False),
    row("isposinf", jnp.isposinf, _UNARY, "True where x is plus infinity.", differentiable=False),
    row("isreal", jnp.isreal, _UNARY, "True where the imaginary part is zero.", differentiable=False),
    row("iscomplex", jnp.iscomplex, _UNARY, "True where the imaginary part is not zero.", differentiable=False),
    row("signbit", jnp.signbit, _UNARY, "True where the sign bit is set, as in -0.0.", differentiable=False),
    # Logic takes any numbers; zero is False.
    row("logical_and", jnp.logical_and, _BINARY, "Both true.", fold=np.logical_and, differentiable=False),
    row("logical_or", jnp.logical_or, _BINARY,
        "True where at least one of x1 and x2 is true.", fold=np.logical_or, differentiable=False),
    row("logical_xor", jnp.logical_xor, _BINARY,
        "True where exactly one of x1 and x2 is true.", fold=np.logical_xor, differentiable=False),
    row("logical_not", jnp.logical_not, _UNARY, "Not true.", fold=np.logical_not, differentiable=False),
    # Bits of integers and bools.
    row("bitwise_and", jnp.bitwise_and, _BINARY, "x1 & x2.", fold=exact(np.bitwise_and), differentiable=False),
    row("bitwise_or", jnp.bitwise_or, _BINARY, "x1 | x2.", fold=exact(np.bitwise_or), differentiable=False),
    row("bitwise_xor", jnp.bitwise_xor, _BINARY, "x1 ^ x2.", fold=exact(np.bitwise_xor), differentiable=False),
    row("bitwise_invert", jnp.bitwise_invert, _UNARY,
        "~x.", fold=exact(np.invert), differentiable=False, aliases=("bitwise_not", "invert")),
    row("bitwise_left_shift", jnp.bitwise_left_shift, _BINARY,
        "x1 << x2.", differentiable=False, aliases=("left_shift",)),
    row("bitwise_right_shift", jnp.bitwise_right_shift, _BINARY,
        "x1 >> x2, keeping the sign.", differentiable=False, aliases=("right_shift",)),
    row("bitwise_count", jnp.bitwise_count, _UNARY, "The number of set bits of |x|.", differentiable=False),
    row("packbits", jnp.packbits, "x, axis: int | None = None, bitorder: str = 'big'",
        "Groups of eight booleans packed into uint8 bits, along axis.", differentiable=False, light=False),
    row("unpackbits", jnp.unpackbits, "x, axis: int | None = None, count: int | None = None, bitorder: str = 'big'",
        "The bits of each uint8 along axis, as numbers 0 and 1; count of them.", differentiable=False, light=False),
    row("gcd", _as_unsigned(jnp.gcd), _BINARY, "The greatest common divisor.", differentiable=False, light=False),
    row("lcm", _as_unsigned(jnp.lcm), _BINARY, "The least common multiple.", differentiable=False, light=False),
)  # fmt: skip

define(globals(), light=(*_NUMBERS, *_LOGIC))
