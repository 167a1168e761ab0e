"""Rows of ``lax``: reductions, running ones, and orders.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import DType, Ints

__all__ = [
    "approx_max_k",
    "approx_min_k",
    "argmax",
    "argmin",
    "cumlogsumexp",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "reduce_and",
    "reduce_max",
    "reduce_min",
    "reduce_or",
    "reduce_prod",
    "reduce_sum",
    "reduce_xor",
    "sort_key_val",
    "top_k",
]

def approx_max_k(
    operand: ArrayLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Tensor, Tensor]:
    """About the k largest numbers and where they are; exact but on TPUs.

    Args:
      operand: a tensor, or what becomes one.
      k: an int. Static.
      reduction_dimension: an int. Static.
      recall_target: a number. Static.
      reduction_input_size_override: an int. Static.
      aggregate_to_topk: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.approx_max_k``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.lax.approx_max_k([1.5, 0.25, 3.0], 2))
      [3.  1.5] [2 0]
    """

def approx_min_k(
    operand: ArrayLike,
    k: int,
    reduction_dimension: int = -1,
    recall_target: float = 0.95,
    reduction_input_size_override: int = -1,
    aggregate_to_topk: bool = True,
) -> tuple[Tensor, Tensor]:
    """About the k smallest numbers and where they are; exact but on TPUs.

    Args:
      operand: a tensor, or what becomes one.
      k: an int. Static.
      reduction_dimension: an int. Static.
      recall_target: a number. Static.
      reduction_input_size_override: an int. Static.
      aggregate_to_topk: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.approx_min_k``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.lax.approx_min_k([1.5, 0.25, 3.0], 2))
      [0.25 1.5 ] [1 0]
    """

def argmax(operand: ArrayLike, axis: int, index_dtype: DType) -> Tensor:
    """Where along axis the largest number is first.

    Args:
      operand: a tensor, or what becomes one.
      axis: an int. Static.
      index_dtype: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.argmax``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.argmax([[-5.0, -4.0], [-1.0, 0.0]], 1, "int32")
      Tensor([1, 1], shape=(2,), dtype=int32)
    """

def argmin(operand: ArrayLike, axis: int, index_dtype: DType) -> Tensor:
    """Where along axis the smallest number is first.

    Args:
      operand: a tensor, or what becomes one.
      axis: an int. Static.
      index_dtype: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.argmin``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.argmin([[-5.0, -4.0], [-1.0, 0.0]], 1, "int32")
      Tensor([0, 0], shape=(2,), dtype=int32)
    """

def cumlogsumexp(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Tensor:
    """The logarithms of the running sums of exponentials along axis.

    Args:
      operand: a tensor, or what becomes one.
      axis: an int. Static.
      reverse: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.cumlogsumexp``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.cumlogsumexp([1.5, 0.25, 3.0]).numpy().round(3)
      array([1.5  , 1.752, 3.252], dtype=float32)
    """

def cummax(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Tensor:
    """The running largest number along axis.

    Args:
      operand: a tensor, or what becomes one.
      axis: an int. Static.
      reverse: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.cummax``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.cummax([1.5, 0.25, 3.0])
      Tensor([1.5, 1.5, 3. ], shape=(3,), dtype=float32)
    """

def cummin(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Tensor:
    """The running smallest number along axis.

    Args:
      operand: a tensor, or what becomes one.
      axis: an int. Static.
      reverse: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.cummin``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.cummin([1.5, 0.25, 3.0])
      Tensor([1.5 , 0.25, 0.25], shape=(3,), dtype=float32)
    """

def cumprod(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Tensor:
    """The running products along axis.

    Args:
      operand: a tensor, or what becomes one.
      axis: an int. Static.
      reverse: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.cumprod``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.cumprod([1.5, 0.25, 3.0])
      Tensor([1.5  , 0.375, 1.125], shape=(3,), dtype=float32)
    """

def cumsum(operand: ArrayLike, axis: int = 0, reverse: bool = False) -> Tensor:
    """The running sums along axis.

    Args:
      operand: a tensor, or what becomes one.
      axis: an int. Static.
      reverse: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.cumsum``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.cumsum([1.5, 0.25, 3.0])
      Tensor([1.5 , 1.75, 4.75], shape=(3,), dtype=float32)
    """

def reduce_and(operand: ArrayLike, axes: Ints) -> Tensor:
    """The bits, or truth values, that all have over these axes.

    Args:
      operand: a tensor, or what becomes one.
      axes: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.reduce_and``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.reduce_and([12, 0, 255], (0,))
      Tensor(0, shape=(), dtype=int32)
    """

def reduce_max(operand: ArrayLike, axes: Ints) -> Tensor:
    """The largest number over these axes.

    Args:
      operand: a tensor, or what becomes one.
      axes: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.reduce_max``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.reduce_max([[-5.0, -4.0], [-1.0, 0.0]], (1,))
      Tensor([-4.,  0.], shape=(2,), dtype=float32)
    """

def reduce_min(operand: ArrayLike, axes: Ints) -> Tensor:
    """The smallest number over these axes.

    Args:
      operand: a tensor, or what becomes one.
      axes: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.reduce_min``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.reduce_min([[-5.0, -4.0], [-1.0, 0.0]], (1,))
      Tensor([-5., -1.], shape=(2,), dtype=float32)
    """

def reduce_or(operand: ArrayLike, axes: Ints) -> Tensor:
    """The bits, or truth values, that one has over these axes.

    Args:
      operand: a tensor, or what becomes one.
      axes: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.reduce_or``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.reduce_or([12, 0, 255], (0,))
      Tensor(255, shape=(), dtype=int32)
    """

def reduce_prod(operand: ArrayLike, axes: Ints) -> Tensor:
    """The product over these axes.

    Args:
      operand: a tensor, or what becomes one.
      axes: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.reduce_prod``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.reduce_prod([[-5.0, -4.0], [-1.0, 0.0]], (1,))
      Tensor([20., -0.], shape=(2,), dtype=float32)
    """

def reduce_sum(operand: ArrayLike, axes: Ints) -> Tensor:
    """The sum over these axes.

    Args:
      operand: a tensor, or what becomes one.
      axes: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.reduce_sum``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.reduce_sum([[-5.0, -4.0], [-1.0, 0.0]], (1,))
      Tensor([-9., -1.], shape=(2,), dtype=float32)
    """

def reduce_xor(operand: ArrayLike, axes: Ints) -> Tensor:
    """The bits, or truth values, that an odd number have over these axes.

    Args:
      operand: a tensor, or what becomes one.
      axes: ints. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.reduce_xor``.

    Example:
      >>> import graphc as gx
      >>> gx.lax.reduce_xor([12, 0, 255], (0,))
      Tensor(243, shape=(), dtype=int32)
    """

def sort_key_val(
    keys: ArrayLike, values: ArrayLike, dimension: int = -1, is_stable: bool = True
) -> tuple[Tensor, Tensor]:
    """Keys in order along a dimension, and values in the order of the keys.

    Args:
      keys: a tensor, or what becomes one.
      values: a tensor, or what becomes one.
      dimension: an int. Static.
      is_stable: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.sort_key_val``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.lax.sort_key_val([1.5, 0.25, 3.0], [-2.5, 0.5, 3.0]))
      [0.25 1.5  3.  ] [ 0.5 -2.5  3. ]
    """

def top_k(operand: ArrayLike, k: int, axis: int = -1) -> tuple[Tensor, Tensor]:
    """The k largest numbers along axis, the largest first, and where they are.

    Args:
      operand: a tensor, or what becomes one.
      k: an int. Static.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.lax.top_k``.

    Example:
      >>> import graphc as gx
      >>> print(*gx.lax.top_k([1.5, 0.25, 3.0], 2))
      [3.  1.5] [2 0]
    """
