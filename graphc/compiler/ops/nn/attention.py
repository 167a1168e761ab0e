"""Rows of the namespace ``nn``: attention and embedding lookup."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from graphc.compiler.ops.table import define, row


def _embedding_lookup(table: Any, ids: Any) -> jax.Array:
    return jnp.take(table, ids, axis=0)


_ROWS = (
    row(
        "nn.dot_product_attention",
        jax.nn.dot_product_attention,
        "query, key, value, bias=None, mask=None, scale: float | None = None, is_causal: bool = False, "
        "query_seq_lengths=None, key_value_seq_lengths=None, local_window_size: Axis = None",
        "softmax(query @ key.T * scale + bias) @ value, for axes (batch, time, head, feature).",
    ),
    row(
        "nn.embedding_lookup",
        _embedding_lookup,
        "table, ids",
        "The rows of a table at integer indices; NaN out of range.",
    ),
)

define(globals(), _ROWS)
