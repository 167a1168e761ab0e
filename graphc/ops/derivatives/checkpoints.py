"""Checkpoints of a loop that runs backwards: which iterations' values to keep, and a stack of them.

The distances are those of A. Griewank, "Achieving logarithmic growth of temporal and spatial complexity in reverse
automatic differentiation", 1992.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax as _lax

lax: Any = _lax  # its functions are only partly annotated

__all__ = ["Stack", "stride"]


class Stack(NamedTuple):
    """Checkpoints: how many, the iteration that each stands before, and the carried values there, a row for each."""

    size: Any
    iterations: Any
    rows: tuple[Any, ...]

    @classmethod
    def of(cls, carry: tuple[Any, ...], slots: int) -> Stack:
        """Returns a stack of one checkpoint, the start."""
        rows = tuple(jnp.broadcast_to(value, (slots, *jnp.shape(value))) for value in carry)
        return cls(jnp.int32(1), jnp.zeros(slots, jnp.int32), rows)

    @property
    def top(self) -> tuple[Any, tuple[Any, ...]]:
        """The iteration and the carried values of the last checkpoint."""
        last = self.size - 1
        return self.iterations[last], tuple(lax.dynamic_index_in_dim(row, last, keepdims=False) for row in self.rows)

    @property
    def free(self) -> Any:
        """Returns how many checkpoints there is room for."""
        return self.iterations.shape[0] - self.size

    def push(self, iteration: Any, carry: tuple[Any, ...]) -> Stack:
        """Returns the stack with a checkpoint more."""
        rows = tuple(
            lax.dynamic_update_index_in_dim(row, value, self.size, 0)
            for row, value in zip(self.rows, carry, strict=True)
        )
        return Stack(self.size + 1, self.iterations.at[self.size].set(iteration), rows)

    def pop(self) -> Stack:
        """Returns the stack without its last checkpoint."""
        return self._replace(size=self.size - 1)


def stride(span: Any, free: Any) -> Any:
    """Returns how far from a checkpoint to set the next, where ``span`` iterations, at least 2, follow the former.

    With ``free`` slots and at most ``passes`` evaluations of each, binomial(free + passes, passes) iterations can be
    run backwards. What lies before the next checkpoint is evaluated once more than what lies behind it, which has one
    slot less; with the distance chosen here the sum is least. As rounding costs only time, float32 does. The last slot
    is for the end of the span.
    """
    before = behind = reach = jnp.float32(1)
    for passes in range(1, 13):
        reach = reach * (free + passes) / passes
        more = reach < span
        before = jnp.where(more, reach, before)
        behind = jnp.where(more, reach * free / (free + passes), behind)
    distance = jnp.minimum(before, span - behind).astype(jnp.int32)
    return jnp.where(free == 1, span - 1, jnp.clip(distance, 1, span - 1))
