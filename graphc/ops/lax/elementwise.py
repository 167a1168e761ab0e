"""Rows of ``lax``: element by element. Tensors must agree in dtype, and in shape where none is a scalar."""

from __future__ import annotations

from typing import Any

import jax
from jax import lax

from graphc.ops.table import define, row

_METHODS = lax.RoundingMethod.__members__


def _round(x: Any, rounding_method: Any = "AWAY_FROM_ZERO") -> jax.Array:
    return lax.round(x, lax.RoundingMethod(_METHODS.get(rounding_method, rounding_method)))


_SMOOTH = {
    "neg": "The number with the other sign.",
    "abs": "The magnitude.",
    "sign": "-1, 0 or 1 by the sign; z / |z| for complex numbers.",
    "floor": "The largest whole number not above.",
    "ceil": "The smallest whole number not below.",
    "exp": "The exponential function, e to the power x.",
    "exp2": "2 to the power x.",
    "expm1": "exp(x) - 1, precise near zero.",
    "log": "The natural logarithm.",
    "log1p": "log(1 + x), precise near zero.",
    "logistic": "1 / (1 + exp(-x)).",
    "sqrt": "The square root.",
    "rsqrt": "One over the square root.",
    "cbrt": "The cube root.",
    "square": "The number times itself.",
    "reciprocal": "One over the number.",
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
    "erf_inv": "The number whose error function is x.",
    "lgamma": "The logarithm of the gamma function's magnitude.",
    "digamma": "The derivative of lgamma.",
    "bessel_i0e": "exp(-|x|) times the modified Bessel function of order 0.",
    "bessel_i1e": "exp(-|x|) times the modified Bessel function of order 1.",
    "conj": "The complex conjugate; a complex number for a real one, too.",
    "real": "The real part of a complex number.",
    "imag": "The imaginary part of a complex number.",
}
_PAIRS = {
    "add": "The sum x + y.",
    "sub": "The difference x - y.",
    "mul": "The product x * y.",
    "div": "The quotient x / y; of whole numbers it is one, rounded towards zero.",
    "rem": "The rest of the division x / y, with the sign of x.",
    "pow": "The number x to the power y; whole numbers y will do for floats x.",
    "max": "The larger of two numbers; NaN wins.",
    "min": "The smaller of two numbers; NaN wins.",
    "atan2": "The angle of the point (y, x), by the signs of both.",
    "complex": "The complex number x + iy.",
}
_CONSTANT = {
    "is_finite": "Whether the float is neither infinite nor NaN.",
    "bitwise_not": "Each bit the other; of truth values, not.",
    "population_count": "How many bits are set.",
    "clz": "How many bits before the first one that is set are not.",
}
_CONSTANT_PAIRS = {
    "eq": "Whether x == y.",
    "ne": "Whether x != y.",
    "lt": "Whether x < y.",
    "le": "Whether x <= y.",
    "gt": "Whether x > y.",
    "ge": "Whether x >= y.",
    "bitwise_and": "The bits that are set in both.",
    "bitwise_or": "The bits that are set in one at least.",
    "bitwise_xor": "The bits that are set in one only.",
    "shift_left": "The bits shifted to the left.",
    "shift_right_arithmetic": "The bits shifted to the right; the sign is put in.",
    "shift_right_logical": "The bits shifted to the right; zeros are put in.",
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
    row("lax.integer_pow", lax.integer_pow, "x, y: int", "The number to a power that is static."),
    row(
        "lax.round",
        _round,
        "x, rounding_method: Rounding = 'AWAY_FROM_ZERO'",
        "The nearest whole number; halves go by rounding_method.",
    ),
    row(
        "lax.clamp",
        lax.clamp,
        "min, x, max",
        "The number, or the bound that it is beyond; bounds are scalars or of its shape.",
    ),
    row("lax.select", lax.select, "pred, on_true, on_false", "on_true where pred, else on_false; of one shape."),
    row("lax.select_n", lax.select_n, "which, *cases", "For each element that of one of the cases, by its number."),
    row("lax.polygamma", lax.polygamma, "m, x", "Derivative m of digamma.", light=False),
    row("lax.zeta", lax.zeta, "x, q", "Hurwitz' zeta function.", light=False),
    row("lax.igamma", lax.igamma, "a, x", "The lower incomplete gamma function, as a share of gamma(a).", light=False),
    row(
        "lax.igammac", lax.igammac, "a, x", "The upper incomplete gamma function, as a share of gamma(a).", light=False
    ),
    row(
        "lax.igamma_grad_a",
        lax.igamma_grad_a,
        "a, x",
        "The derivative of igamma by a.",
        light=False,
        differentiable=False,
    ),
    row(
        "lax.random_gamma_grad",
        lax.random_gamma_grad,
        "a, x",
        "The derivative of draws x from the gamma distribution by its parameter a.",
        light=False,
        differentiable=False,
    ),
    row("lax.betainc", lax.betainc, "a, b, x", "The incomplete beta function, as a share of beta(a, b).", light=False),
    row(
        "lax.reduce_precision",
        lax.reduce_precision,
        "operand, exponent_bits: int, mantissa_bits: int",
        "The floats rounded to so many bits; their dtype is kept.",
    ),
    row(
        "lax.stop_gradient",
        lax.stop_gradient,
        "x",
        "The same numbers, to which no gradients flow.",
        differentiable=False,
    ),
)

define(globals(), light=_ROWS)
