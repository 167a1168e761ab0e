"""Two loops of additions: they show what it costs to leave for the device once for every operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import jax

import graphc as gx

__all__ = ["LOOPS", "Loop"]


@dataclass(frozen=True)
class Loop:
    """A loop that is compared.

    Attributes:
      function: takes a tensor, and how many times to add.
      by_hand: the same as one writes it for JAX by hand.
      formula: what one round computes.
      meaning: what there is to know about the rounds.
    """

    function: Callable[[gx.Tensor, int], gx.Tensor]
    by_hand: Callable[[Any, Any], Any]
    formula: str
    meaning: str


def carried(x: gx.Tensor, times: int) -> gx.Tensor:
    """Each sum from the one before."""
    y = x
    for _ in range(times):
        y = y + 1
    return y


def independent(x: gx.Tensor, times: int) -> gx.Tensor:
    """The same sum again and again."""
    y = x
    for _ in range(times):
        y = x + 1
    return y


_fori_loop = cast("Any", jax.lax.fori_loop)


@jax.jit
def carried_in_jax(x: Any, times: Any) -> Any:
    """:func:`carried` in JAX."""

    def body(_: Any, y: Any) -> Any:
        return y + 1

    return _fori_loop(0, times, body, x)


@jax.jit
def independent_in_jax(x: Any, times: Any) -> Any:
    """:func:`independent` in JAX."""

    def body(_: Any, y: Any) -> Any:
        del y
        return x + 1

    return _fori_loop(0, times, body, x)


LOOPS = {
    "carried": Loop(carried, carried_in_jax, "y = y + 1", "each round needs the result of the one before"),
    "independent": Loop(
        independent, independent_in_jax, "y = x + 1", "each round starts from x again, and only the last is kept"
    ),
}
