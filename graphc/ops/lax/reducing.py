"""Rows of ``lax``: reductions, running ones, and orders."""

from __future__ import annotations

from jax import lax

from graphc.ops.table import define, row

_REDUCED = {
    "reduce_sum": "The sum over these axes.",
    "reduce_prod": "The product over these axes.",
    "reduce_max": "The largest number over these axes.",
    "reduce_min": "The smallest number over these axes.",
}
_BITS = {
    "reduce_and": "The bits, or truth values, that all have over these axes.",
    "reduce_or": "The bits, or truth values, that one has over these axes.",
    "reduce_xor": "The bits, or truth values, that an odd number have over these axes.",
}
_RUNNING = {
    "cumsum": "The running sums along axis.",
    "cumprod": "The running products along axis.",
    "cummax": "The running largest number along axis.",
    "cummin": "The running smallest number along axis.",
    "cumlogsumexp": "The logarithms of the running sums of exponentials along axis.",
}
_PLACES = {
    "argmax": "Where along axis the largest number is first.",
    "argmin": "Where along axis the smallest number is first.",
}
_NEAR = {
    "approx_max_k": "About the k largest numbers and where they are; exact but on TPUs.",
    "approx_min_k": "About the k smallest numbers and where they are; exact but on TPUs.",
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
        row(f"lax.{name}", getattr(lax, name), "operand, axis: int, index_dtype: DType", doc, differentiable=False)
        for name, doc in _PLACES.items()
    ],
    row(
        "lax.sort_key_val",
        lax.sort_key_val,
        "keys, values, dimension: int = -1, is_stable: bool = True",
        "Keys in order along a dimension, and values in the order of the keys.",
        returns=_PAIR,
    ),
    row(
        "lax.top_k",
        lax.top_k,
        "operand, k: int, *, axis: int = -1",
        "The k largest numbers along axis, the largest first, and where they are.",
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
