"""Division and sign with IEEE 754's signed zeros, which XLA handles differently.

NumPy, Python and the array API standard agree: ``-0.0 // 1.0`` is -0.0, ``-0.0 % 1.0`` is 0.0, and the sign of -0.0 is
0.0. Gradients stay those of JAX's functions: a zero remainder still moves with x1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import jax
import jax.numpy as jnp


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


def _zeros(result: Any, sign: Any) -> Any:
    """Returns zeros like the result, with the sign of ``sign``."""
    if result.dtype.itemsize > 1:
        return jnp.copysign(jnp.zeros_like(result), sign)
    # JAX's copysign does not accept 8-bit floats.
    return jnp.copysign(jnp.zeros_like(result, jnp.float32), jnp.asarray(sign, jnp.float32)).astype(result.dtype)


def _quotient(quotient: Any, x1: Any, x2: Any) -> Any:
    return jnp.where(quotient == 0, _zeros(quotient, jnp.divide(x1, x2)), quotient)


def _rest(rest: Any, x2: Any) -> Any:
    return jnp.where(rest == 0, _zeros(rest, x2), rest)


@_mended(jnp.floor_divide)
def floor_divide(quotient: Any, x1: Any, x2: Any) -> Any:
    """Returns the quotient rounded towards minus infinity; a zero has the sign of x1 / x2."""
    return _quotient(quotient, x1, x2)


@_mended(jnp.remainder)
def remainder(rest: Any, x1: Any, x2: Any) -> Any:
    """Returns the remainder of floor division; a zero has the sign of x2."""
    del x1
    return _rest(rest, x2)


@_mended(jnp.divmod)
def divmod(results: Any, x1: Any, x2: Any) -> Any:
    """Returns the results of floor division: quotient and remainder."""
    quotient, rest = results
    return _quotient(quotient, x1, x2), _rest(rest, x2)


@_mended(jnp.sign)
def sign(result: Any, x: Any) -> Any:
    """Returns -1, 0 or 1; 0.0 for -0.0 too."""
    return jnp.where(x == 0, jnp.zeros_like(result), result)
