"""A thousand times y = x + 1: the loop that shows what it costs to leave for the device once for every operation."""

from __future__ import annotations

from typing import Any, cast

import jax

import graphc as gx

__all__ = ["carried", "carried_in_jax", "independent"]


def independent(x: gx.Tensor, times: int) -> gx.Tensor:
    """The same sum again and again."""
    y = x
    for _ in range(times):
        y = x + 1
    return y


def carried(x: gx.Tensor, times: int) -> gx.Tensor:
    """Each sum from the one before."""
    y = x
    for _ in range(times):
        y = y + 1
    return y


_fori_loop = cast("Any", jax.lax.fori_loop)


def _add_one(_: Any, y: Any) -> Any:
    return y + 1


@jax.jit
def carried_in_jax(x: Any, times: Any) -> Any:
    """:func:`carried`, as one writes it for JAX by hand."""
    return _fori_loop(0, times, _add_one, x)
