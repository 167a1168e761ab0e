"""Rows of the namespace ``nn``: attention, and rows of a table looked up.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axis

__all__ = [
    "dot_product_attention",
    "embedding_lookup",
]

def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: Axis = None,
) -> Tensor:
    """softmax(query @ key.T * scale + bias) @ value for tensors of axes (batch, time, head, feature).

    Args:
      query: a tensor, or what becomes one.
      key: a tensor, or what becomes one.
      value: a tensor, or what becomes one.
      bias: a tensor, or what becomes one; None for none.
      mask: a tensor, or what becomes one; None for none.
      scale: a number, or None. Static.
      is_causal: True or False. Static.
      query_seq_lengths: a tensor, or what becomes one; None for none.
      key_value_seq_lengths: a tensor, or what becomes one; None for none.
      local_window_size: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.nn.dot_product_attention``.

    Example:
      >>> import graphc as gx
      >>> query = key = value = gx.ones((8, 16, 4, 32))
      >>> gx.nn.dot_product_attention(query, key, value).shape
      (8, 16, 4, 32)
    """

def embedding_lookup(table: ArrayLike, ids: ArrayLike) -> Tensor:
    """The rows of a table that integers name; NaN for one out of range.

    Args:
      table: a tensor, or what becomes one.
      ids: a tensor, or what becomes one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.nn.embedding_lookup([[0.0, 0.1], [1.0, 1.1], [2.0, 2.1]], [2, 0])
      Tensor([[2. , 2.1],
       [0. , 0.1]], shape=(2, 2), dtype=float32)
    """
