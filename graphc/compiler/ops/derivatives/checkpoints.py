"""Checkpoints of a loop's backward pass: the choice of iterations whose values to keep, and their stack.

The distances follow A. Griewank, "Achieving logarithmic growth of temporal and spatial complexity in reverse automatic
differentiation", 1992.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import lax as _lax

from graphc.compiler.ops.derivatives.modes import is_repeated

lax: Any = _lax  # its functions are only partly annotated

__all__ = ["SLOTS", "Stack", "is_stored", "slots_for", "stored", "stride"]

SLOTS = 32
"""Minimum number of checkpoints that the backward pass keeps if no bound on the iterations is known."""

_UNBOUNDED_BYTES = 1 << 20
"""Maximum memory in bytes for more checkpoints than that, of a loop without a known bound; clearing them takes about 30
microseconds, even for a loop of few iterations."""

_UNBOUNDED_SLOTS = 1 << 10
"""Maximum number of checkpoints of a loop without a known bound."""

_STORED_BYTES = 1 << 16
"""Maximum size in bytes of carried values that the forward pass stores."""

_BYTES = 1 << 23
"""Maximum memory in bytes for more checkpoints than that. They save at most a third of the time, and clearing them
takes about a millisecond, even for a loop that ends long before its bound."""


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

    @classmethod
    def stored(cls, rows: tuple[Any, ...], trips: Any) -> Stack:
        """Returns a stack of what :func:`stored` wrote: the values before each of ``trips`` iterations.

        If there were more of them than slots, only the start remains.
        """
        (slots,) = {row.shape[0] for row in rows}
        return cls(jnp.where(trips <= slots, trips, 1), jnp.arange(slots, dtype=jnp.int32), rows)

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
        iterations = lax.dynamic_update_index_in_dim(self.iterations, iteration, self.size, 0)
        return Stack(self.size + 1, iterations, rows)

    def pop(self) -> Stack:
        """Returns the stack without its last checkpoint."""
        return self._replace(size=self.size - 1)


def stored(rows: tuple[Any, ...], carry: tuple[Any, ...], iteration: Any) -> tuple[Any, ...]:
    """Returns rows in which the carried values before an iteration are written; of surplus ones, the last slot is."""
    return tuple(
        lax.dynamic_update_index_in_dim(row, value, jnp.minimum(iteration, row.shape[0] - 1), 0)
        for row, value in zip(rows, carry, strict=False)
    )


def stride(span: Any, free: Any) -> Any:
    """Returns the distance from a checkpoint to the next one, with ``span`` iterations, at least 2, after it.

    With ``free`` slots and at most ``passes`` evaluations of each, binomial(free + passes, passes) iterations can be
    run backwards. The iterations before the next checkpoint are evaluated once more than those behind it, which have
    one slot less; this distance minimizes the sum. Rounding costs only time, so float32 suffices. The last slot is for
    the end of the span.
    """
    # In lax, which traces in a fraction of the time of jax.numpy. Eight passes suffice for 77 million iterations in 32
    # slots.
    slots, wide = (lax.convert_element_type(value, jnp.float32) for value in (free, span))
    before = behind = reach = lax.full_like(wide, 1)
    for passes in range(1, 9):
        share, reach = (
            lax.mul(reach, np.float32(1 / passes)),
            lax.mul(lax.mul(reach, lax.add(slots, np.float32(passes))), np.float32(1 / passes)),
        )
        more = lax.lt(reach, wide)
        before = lax.select(more, reach, before)
        behind = lax.select(more, lax.mul(share, slots), behind)
    distance = lax.convert_element_type(lax.min(before, lax.sub(wide, behind)), jnp.int32)
    most = span - 1
    return lax.select(lax.eq(free, np.int32(1)), most, lax.clamp(np.int32(1), distance, most))


def slots_for(carry: Sequence[Any], max_iterations: int | None) -> int:
    """Returns the number of checkpoints to keep.

    Args:
      max_iterations: the known maximum number of iterations; None if there is none.

    Returns:
      One for each iteration, if they are small enough.
    """
    size = max(1, _size(carry))
    if max_iterations is None:
        return max(SLOTS, min(_UNBOUNDED_SLOTS, _UNBOUNDED_BYTES // size))
    return max(2, min(max_iterations, max(SLOTS, _BYTES // size)))


def is_stored(carry: Sequence[Any]) -> bool:
    """Returns True if the forward pass should store the carried values in each iteration: if they are small."""
    return not is_repeated() and _size(carry) <= _STORED_BYTES


def _size(carry: Sequence[Any]) -> int:
    return sum(math.prod(jnp.shape(value)) * jnp.result_type(value).itemsize for value in carry)
