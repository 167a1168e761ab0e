"""``jax.custom_vjp`` for functions that also take and return integers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax as _jax
import jax.numpy as jnp
from jax import lax

jax: Any = _jax  # its functions are only partly annotated

__all__ = ["custom_vjp", "without_tangent"]


def custom_vjp(
    function: Callable[..., Any],
    forward: Callable[..., Any],
    backward: Callable[..., Any],
    *,
    symbolic_zeros: bool = False,
) -> Callable[..., tuple[Any, ...]]:
    """Returns a function from arrays to a tuple of arrays, with a custom gradient.

    JAX gives integer results tangents of dtype float0, weakly typed or not. A ``lax.cond`` with both cannot be
    transposed (JAX 0.10 fails in an assertion). Here integers have no tangents.

    Args:
      function: the function.
      forward: returns the results and the residuals.
      backward: takes the residuals and the cotangents and returns a cotangent for each argument.
      symbolic_zeros: whether these two receive known zero tangents symbolically.
    """
    wrapped = jax.custom_vjp(function)
    wrapped.defvjp(forward, backward, symbolic_zeros=symbolic_zeros)
    return lambda *values: tuple(map(without_tangent, wrapped(*values)))


def without_tangent(value: Any) -> Any:
    """Returns an integer or boolean without gradients; anything else as it is."""
    dtype = jnp.result_type(value)
    whole = jnp.issubdtype(dtype, jnp.integer) or jnp.issubdtype(dtype, jnp.bool_)
    return lax.bitwise_or(value, lax.full_like(value, 0)) if whole else value
