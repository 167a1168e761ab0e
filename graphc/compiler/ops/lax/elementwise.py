"""Rows of ``lax``: elementwise functions. Tensors must agree in dtype, and in shape unless one is a scalar."""

from __future__ import annotations

from typing import Any

import jax
from jax import lax

from graphc.compiler.ops.table import define, row

_METHODS = lax.RoundingMethod.__members__


def _round(x: Any, rounding_method: Any = "AWAY_FROM_ZERO") -> jax.Array:
    return lax.round(x, lax.RoundingMethod(_METHODS.get(rounding_method, rounding_method)))


_SMOOTH = {
    "neg": "The negative of x.",
    "abs": "The magnitude.",
    "sign": "The sign: -1, 0 or 1; z / |z| for complex numbers.",
    "floor": "The largest integer not greater than x.",
    "ceil": "The smallest integer not less than x.",
    "exp": "The exponential function, e to the power x.",
    "exp2": "2 to the power x.",
    "expm1": "exp(x) - 1, precise near zero.",
    "log": "The natural logarithm.",
    "log1p": "log(1 + x), precise near zero.",
    "logistic": "1 / (1 + exp(-x)).",
    "sqrt": "The square root.",
    "rsqrt": "One over the square root.",
    "cbrt": "The cube root.",
    "square": "The square of x.",
    "reciprocal": "The reciprocal, 1 / x.",
    "sin": "The sine.",
    "cos": "The cosine.",
    "tan": "The tangent.",
    "asin": "The inverse of the sine.",
    "acos": "The inverse of the cosine.",
    "atan": "The inverse of the tangent.",
    "sinh": "The hyperbolic sine.",
    "cosh": "The hyperbolic cosine.",
    "tanh": "The hyperbolic tangent.",
    "asinh": "The inverse of the hyperbolic sine.",
    "acosh": "The inverse of the hyperbolic cosine.",
    "atanh": "The inverse of the hyperbolic tangent.",
    "erf": "The error function.",
    "erfc": "1 - erf(x), precise where erf is near 1.",
    "erf_inv": "The inverse of the error function.",
    "lgamma": "The logarithm of the absolute gamma function.",
    "digamma": "The derivative of lgamma.",
    "bessel_i0e": "exp(-|x|) times the modified Bessel function of order 0.",
    "bessel_i1e": "exp(-|x|) times the modified Bessel function of order 1.",
    "conj": "The complex conjugate; complex for real numbers too.",
    "real": "The real part of a complex number.",
    "imag": "The imaginary part of a complex number.",
}
_PAIRS = {
    "add": "The sum x + y.",
    "sub": "The difference x - y.",
    "mul": "The product x * y.",
    "div": "The quotient x / y, rounded towards zero for integers.",
    "rem": "The remainder of the division x / y, with the sign of x.",
    "pow": "x raised to the power y; y may be an integer if x is a float.",
    "max": "The maximum of two numbers; propagates NaN.",
    "min": "The minimum of two numbers; propagates NaN.",
    "atan2": "The angle of the point (x, y), in the correct quadrant.",
    "complex": "The complex number x + iy.",
}
_CONSTANT = {
    "is_finite": "True where the float is neither infinite nor NaN.",
    "bitwise_not": "Bitwise NOT; logical NOT for booleans.",
    "population_count": "The number of set bits.",
    "clz": "The number of leading zero bits.",
}
_CONSTANT_PAIRS = {
    "eq": "True where x == y.",
    "ne": "True where x != y.",
    "lt": "True where x < y.",
    "le": "True where x <= y.",
    "gt": "True where x > y.",
    "ge": "True where x >= y.",
    "bitwise_and": "Bitwise AND.",
    "bitwise_or": "Bitwise OR.",
    "bitwise_xor": "Bitwise XOR.",
    "shift_left": "The bits shifted left.",
    "shift_right_arithmetic": "The bits shifted right, filled with the sign bit.",
    "shift_right_logical": "The bits shifted right, filled with zeros.",
}

_ROWS = (
    *[row(f"lax.{name}", getattr(lax, name), "x", doc) for name, doc in _SMOOTH.items()],
    *[row(f"lax.{name}", getattr(lax, name), "x, y", doc) for name, doc in _PAIRS.items()],
    *[row(f"lax.{name}", getattr(lax, name), "x", doc, differentiable=False) for name, doc in _CONSTANT.items()],
    *[
        row(f"lax.{name}", getattr(lax, name), "x, y", doc, differentiable=False)
        for name, doc in _CONSTANT_PAIRS.items()
    ],
    row("lax.nextafter", lax.nextafter, "x1, x2", "The next float after x1 towards x2.", differentiable=False),
    row("lax.integer_pow", lax.integer_pow, "x, y: int", "x raised to a static integer power."),
    row("lax.round", _round, "x, rounding_method: Rounding = 'AWAY_FROM_ZERO'",
        "The nearest integer; rounding_method decides halves."),
    row("lax.clamp", lax.clamp, "min, x, max", "x clamped to bounds, which are scalars or of x's shape."),
    row("lax.select", lax.select, "pred, on_true, on_false",
        "on_true where pred is true, else on_false; all of the same shape."),
    row("lax.select_n", lax.select_n, "which, *cases", "Elements selected from cases by index."),
    row("lax.polygamma", lax.polygamma, "m, x", "The m-th derivative of digamma.", light=False),
    row("lax.zeta", lax.zeta, "x, q", "The Hurwitz zeta function.", light=False),
    row("lax.igamma", lax.igamma, "a, x", "The regularized lower incomplete gamma function.", light=False),
    row("lax.igammac", lax.igammac, "a, x", "The regularized upper incomplete gamma function.", light=False),
    row("lax.igamma_grad_a", lax.igamma_grad_a, "a, x",
        "The derivative of igamma with respect to a.", light=False, differentiable=False),
    row("lax.random_gamma_grad", lax.random_gamma_grad, "a, x",
        "The derivative of gamma samples x with respect to the parameter a.", light=False, differentiable=False),
    row("lax.betainc", lax.betainc, "a, b, x", "The regularized incomplete beta function.", light=False),
    row("lax.reduce_precision", lax.reduce_precision, "operand, exponent_bits: int, mantissa_bits: int",
        "Floats rounded to fewer bits, in their own dtype."),
    row("lax.stop_gradient", lax.stop_gradient, "x", "The same values, without gradients.", differentiable=False),
)  # fmt: skip

define(globals(), light=_ROWS)
