"""Rows of ``lax``: reductions, cumulative reductions, and sorting."""

from __future__ import annotations

from jax import lax

from graphc.compiler.ops.refusals import of_ordered
from graphc.compiler.ops.table import define, row

_REDUCED = {
    "reduce_sum": "The sum over axes.",
    "reduce_prod": "The product over axes.",
    "reduce_max": "The maximum over axes.",
    "reduce_min": "The minimum over axes.",
}
_BITS = {
    "reduce_and": "Bitwise or logical AND over axes.",
    "reduce_or": "Bitwise or logical OR over axes.",
    "reduce_xor": "Bitwise or logical XOR over axes.",
}
_RUNNING = {
    "cumsum": "The cumulative sum along axis.",
    "cumprod": "The cumulative product along axis.",
    "cummax": "The cumulative maximum along axis.",
    "cummin": "The cumulative minimum along axis.",
    "cumlogsumexp": "The logarithm of the cumulative sum of exponentials along axis.",
}
_PLACES = {
    "argmax": "The index of the first maximum along axis.",
    "argmin": "The index of the first minimum along axis.",
}
_NEAR = {
    "approx_max_k": "The approximate k largest numbers and their indices; exact except on TPUs.",
    "approx_min_k": "The approximate k smallest numbers and their indices; exact except on TPUs.",
}
_PAIR = "tuple[Tensor, Tensor]"

_ROWS = (
    *[row(f"lax.{name}", getattr(lax, name), "operand, axes: Ints", doc) for name, doc in _REDUCED.items()],
    *[
        row(f"lax.{name}", getattr(lax, name), "operand, axes: Ints", doc, differentiable=False)
        for name, doc in _BITS.items()
    ],
    *[
        row(f"lax.{name}", getattr(lax, name), "operand, axis: int = 0, reverse: bool = False", doc)
        for name, doc in _RUNNING.items()
    ],
    *[
        row(
            f"lax.{name}",
            of_ordered(getattr(lax, name)),
            "operand, axis: int, index_dtype: DType",
            doc,
            differentiable=False,
        )
        for name, doc in _PLACES.items()
    ],
    row(
        "lax.sort_key_val",
        lax.sort_key_val,
        "keys, values, dimension: int = -1, is_stable: bool = True",
        "Keys sorted along a dimension, and values in the same order.",
        returns=_PAIR,
    ),
    row(
        "lax.top_k",
        lax.top_k,
        "operand, k: int, *, axis: int = -1",
        "The k largest numbers along axis, in descending order, and their indices.",
        returns=_PAIR,
    ),
    *[
        row(
            f"lax.{name}",
            getattr(lax, name),
            "operand, k: int, reduction_dimension: int = -1, recall_target: float = 0.95, "
            "reduction_input_size_override: int = -1, aggregate_to_topk: bool = True",
            doc,
            returns=_PAIR,
        )
        for name, doc in _NEAR.items()
    ],
)

define(globals(), _ROWS)
