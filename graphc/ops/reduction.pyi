"""Rows: functions that take axes together: sums, extremes, statistics, running sums.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axis, DType

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "average",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "max",
    "mean",
    "median",
    "min",
    "percentile",
    "prod",
    "ptp",
    "quantile",
    "std",
    "sum",
    "trace",
    "var",
]

def all(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether every element over axis is true.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.all``.
    """

def any(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether an element over axis is true.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.any``.
    """

def argmax(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the first largest element.

    Args:
      x: a tensor, or what becomes one.
      axis: an int, or None. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.argmax``.
    """

def argmin(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the first smallest element.

    Args:
      x: a tensor, or what becomes one.
      axis: an int, or None. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.argmin``.
    """

def average(x: ArrayLike, axis: Axis = None, weights: ArrayLike | None = None, keepdims: bool = False) -> Tensor:
    """The mean over axis, with weights.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      weights: a tensor, or what becomes one; None for none.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.average``.
    """

def count_nonzero(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """How many elements are not zero.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.count_nonzero``.
    """

def cumprod(x: ArrayLike, axis: int | None = None, dtype: DType = None) -> Tensor:
    """Running products along axis; of the flattened tensor for None.

    Args:
      x: a tensor, or what becomes one.
      axis: an int, or None. Static.
      dtype: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.cumprod``.
    """

def cumsum(x: ArrayLike, axis: int | None = None, dtype: DType = None) -> Tensor:
    """Running sums along axis; of the flattened tensor for None.

    Args:
      x: a tensor, or what becomes one.
      axis: an int, or None. Static.
      dtype: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.cumsum``.
    """

def cumulative_prod(
    x: ArrayLike, axis: int | None = None, dtype: DType = None, include_initial: bool = False
) -> Tensor:
    """Running products along axis, which a 1-d tensor need not name; include_initial begins with a one.

    Args:
      x: a tensor, or what becomes one.
      axis: an int, or None. Static.
      dtype: a dtype or the name of one; None for the natural one.
      include_initial: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.cumulative_prod``.
    """

def cumulative_sum(x: ArrayLike, axis: int | None = None, dtype: DType = None, include_initial: bool = False) -> Tensor:
    """Running sums along axis, which a 1-d tensor need not name; include_initial begins with a zero.

    Args:
      x: a tensor, or what becomes one.
      axis: an int, or None. Static.
      dtype: a dtype or the name of one; None for the natural one.
      include_initial: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.cumulative_sum``.
    """

def diff(
    x: ArrayLike, n: int = 1, axis: int = -1, prepend: ArrayLike | None = None, append: ArrayLike | None = None
) -> Tensor:
    """Differences of neighbours along axis, taken n times, with values put before and after.

    Args:
      x: a tensor, or what becomes one.
      n: an int. Static.
      axis: an int. Static.
      prepend: a tensor, or what becomes one; None for none.
      append: a tensor, or what becomes one; None for none.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.diff``.
    """

def max(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The largest element over axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.max``.
    """

amax = max

def mean(x: ArrayLike, axis: Axis = None, dtype: DType = None, keepdims: bool = False) -> Tensor:
    """The arithmetic mean over axis; integers give floats.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      dtype: a dtype or the name of one; None for the natural one.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.mean``.
    """

def median(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The middle value over axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.median``.
    """

def min(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The smallest element over axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.min``.
    """

amin = min

def percentile(x: ArrayLike, q: ArrayLike, axis: Axis = None, method: str = "linear", keepdims: bool = False) -> Tensor:
    """The value below which q percent lie.

    Args:
      x: a tensor, or what becomes one.
      q: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      method: a string. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.percentile``.
    """

def prod(x: ArrayLike, axis: Axis = None, dtype: DType = None, keepdims: bool = False) -> Tensor:
    """The product over axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      dtype: a dtype or the name of one; None for the natural one.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.prod``.
    """

def ptp(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The largest element less the smallest, over axis.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.ptp``.
    """

def quantile(x: ArrayLike, q: ArrayLike, axis: Axis = None, method: str = "linear", keepdims: bool = False) -> Tensor:
    """The value below which a share q, between 0 and 1, lies.

    Args:
      x: a tensor, or what becomes one.
      q: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      method: a string. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.quantile``.
    """

def std(x: ArrayLike, axis: Axis = None, correction: float = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation over axis; correction=1 for that of a sample.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      correction: a number. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.std``.
    """

def sum(x: ArrayLike, axis: Axis = None, dtype: DType = None, keepdims: bool = False) -> Tensor:
    """The sum over axis; small integers are summed as int32.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      dtype: a dtype or the name of one; None for the natural one.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.sum``.
    """

def trace(x: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Tensor:
    """The sum of the diagonal.

    Args:
      x: a tensor, or what becomes one.
      offset: an int. Static.
      axis1: an int. Static.
      axis2: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.trace``.
    """

def var(x: ArrayLike, axis: Axis = None, correction: float = 0, keepdims: bool = False) -> Tensor:
    """The variance over axis; correction=1 for that of a sample.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      correction: a number. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.var``.
    """
