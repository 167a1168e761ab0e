"""Two loops of additions: they show what it costs to leave for the device once for every operation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, cast

import jax

import graphc as gx

__all__ = ["BY_HAND", "LOOPS", "SAME_LINES", "Loop"]


SAME_LINES, BY_HAND = "jax.jit", "fori_loop"


@dataclass(frozen=True)
class Loop:
    """A loop that is compared.

    Attributes:
      function: takes a tensor, and how many times to add.
      by_hand: the same as one writes it for JAX by hand.
      formula: what one round computes.
      meaning: what there is to know about the rounds.
      reason: why the times are what they are.
    """

    function: Callable[[gx.Tensor, int], gx.Tensor]
    by_hand: Callable[[Any, Any], Any]
    formula: str
    meaning: str
    reason: str

    @property
    def baselines(self) -> dict[str, Callable[[Any, Any], Any]]:
        """The same lines under ``jax.jit``, which runs Python's loop while it traces, and the loop by hand."""
        return {SAME_LINES: jax.jit(self.function, static_argnums=1), BY_HAND: self.by_hand}


def carried(x: gx.Tensor, times: int) -> gx.Tensor:
    """Each sum from the one before."""
    y = x
    for _ in range(times):
        y = y + 1
    return y


def independent(x: gx.Tensor, times: int) -> gx.Tensor:
    """Returns the same sum again and again."""
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
    "carried": Loop(
        carried,
        carried_in_jax,
        "y = y + 1",
        "each round needs the result of the one before",
        "fori_loop takes each round through memory, graphc four at a time if the array is large; jax.jit unrolls the "
        "same lines, and XLA adds the ones up first, which rounds differently",
    ),
    "independent": Loop(
        independent,
        independent_in_jax,
        "y = x + 1",
        "each round starts from x again, and only the last is kept",
        "graphc and jax.jit of the same lines compute the last round alone, fori_loop computes all of them",
    ),
}
