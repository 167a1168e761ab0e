"""Sorting functions."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from graphc.compiler.ops.table import define, row

_SORT = "x, axis: int = -1, descending: bool = False, stable: bool = True"


def _lexsort(*keys: Any, axis: int = -1) -> Any:
    return jnp.lexsort(keys, axis=axis)


_ROWS = (
    row(
        "partition",
        jnp.partition,
        "x, kth: int, axis: int = -1",
        "The tensor partitioned along axis: no element before index kth is larger, none after it smaller.",
    ),
    row(
        "argpartition",
        jnp.argpartition,
        "x, kth: int, axis: int = -1",
        "The indices that partition along axis.",
        differentiable=False,
    ),
    row(
        "lexsort",
        _lexsort,
        "keys: Tensors, axis: int = -1",
        "The indices that sort by several keys, of which the last is the primary one.",
        differentiable=False,
    ),
    row("sort_complex", jnp.sort_complex, "x", "The tensor sorted along the last axis, as complex numbers."),
    row("sort", jnp.sort, _SORT, "The tensor sorted along axis."),
    row("argsort", jnp.argsort, _SORT, "The indices that sort along axis.", differentiable=False),
)

define(globals(), _ROWS)
