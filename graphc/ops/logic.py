"""Rows: comparisons, logic and bits."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from graphc.ops.exact import exact
from graphc.ops.table import define, row


def _as_unsigned(function: Any) -> Any:
    """A function of magnitudes. JAX's own never end where the smallest int is, which has no magnitude of its dtype."""

    def impl(x1: Any, x2: Any) -> Any:
        dtype = jnp.result_type(x1, x2)
        if not jnp.issubdtype(dtype, jnp.signedinteger):
            return function(x1, x2)
        unsigned = jnp.dtype(f"u{dtype.name}")
        return function(*(jnp.abs(jnp.astype(x, dtype)).astype(unsigned) for x in (x1, x2))).astype(dtype)

    return impl


_UNARY = "x"
_BINARY = "x1, x2"
_CLOSE = "x1, x2, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False"

_ROWS = (
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

define(globals(), _ROWS, light=True)
