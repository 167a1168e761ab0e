"""Sorting functions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from graphc.ops.table import define, row

_SORT = "x, axis: int = -1, descending: bool = False, stable: bool = True"


def _lexsort(*keys: Any, axis: int = -1) -> Any:
    return jnp.lexsort(keys, axis=axis)


_ROWS = (
    row(
        "partition",
        jnp.partition,
        "x, kth: int, axis: int = -1",
        "Ordered along axis so that what is before position kth is not larger, and what is behind not smaller.",
    ),
    row(
        "argpartition",
        jnp.argpartition,
        "x, kth: int, axis: int = -1",
        "The positions that partition along axis.",
        differentiable=False,
    ),
    row(
        "lexsort",
        _lexsort,
        "keys: Tensors, axis: int = -1",
        "The positions that sort by several keys, the last one first.",
        differentiable=False,
    ),
    row("sort_complex", jnp.sort_complex, "x", "Sorted along the last axis, as complex numbers."),
    row("sort", jnp.sort, _SORT, "Sorted along axis."),
    row("argsort", jnp.argsort, _SORT, "The positions that sort along axis.", differentiable=False),
)

define(globals(), _ROWS)
