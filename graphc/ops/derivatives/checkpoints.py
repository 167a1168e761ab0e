"""Checkpoints of a loop's backward pass: the choice of iterations whose values to keep, and their stack.

The distances follow A. Griewank, "Achieving logarithmic growth of temporal and spatial complexity in reverse automatic
differentiation", 1992.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax import lax as _lax

lax: Any = _lax  # its functions are only partly annotated

__all__ = ["Stack", "stride"]


class Stack(NamedTuple):
    """A stack of checkpoints: their number, the iteration that follows each, and the carried values there, by row."""

    size: Any
    iterations: Any
    rows: tuple[Any, ...]

    @classmethod
    def of(cls, carry: tuple[Any, ...], slots: int) -> Stack:
        """Returns a stack with a single checkpoint, the start."""
        rows = tuple(jnp.broadcast_to(value, (slots, *jnp.shape(value))) for value in carry)
        return cls(jnp.int32(1), jnp.zeros(slots, jnp.int32), rows)

    @property
    def top(self) -> tuple[Any, tuple[Any, ...]]:
        """The iteration and the carried values of the last checkpoint."""
        last = self.size - 1
        return self.iterations[last], tuple(lax.dynamic_index_in_dim(row, last, keepdims=False) for row in self.rows)

    @property
    def free(self) -> Any:
        """The number of free slots."""
        return self.iterations.shape[0] - self.size

    def push(self, iteration: Any, carry: tuple[Any, ...]) -> Stack:
        """Returns the stack with another checkpoint."""
        rows = tuple(
            lax.dynamic_update_index_in_dim(row, value, self.size, 0)
            for row, value in zip(self.rows, carry, strict=True)
        )
        return Stack(self.size + 1, self.iterations.at[self.size].set(iteration), rows)

    def pop(self) -> Stack:
        """Returns the stack without its last checkpoint."""
        return self._replace(size=self.size - 1)


def stride(span: Any, free: Any) -> Any:
    """Returns the distance from a checkpoint to the next one, with ``span`` iterations, at least 2, after it.

    With ``free`` slots and at most ``passes`` evaluations of each, binomial(free + passes, passes) iterations can be
    run backwards. The iterations before the next checkpoint are evaluated once more than those behind it, which have
    one slot less; this distance minimizes the sum. Rounding costs only time, so float32 suffices. The last slot is for
    the end of the span.
    """
    before = behind = reach = jnp.float32(1)
    for passes in range(1, 13):
        reach = reach * (free + passes) / passes
        more = reach < span
        before = jnp.where(more, reach, before)
        behind = jnp.where(more, reach * free / (free + passes), behind)
    distance = jnp.minimum(before, span - behind).astype(jnp.int32)
    return jnp.where(free == 1, span - 1, jnp.clip(distance, 1, span - 1))
