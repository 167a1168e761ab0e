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

    Example:
      >>> import graphc as gx
      >>> gx.all([True, False, True])
      Tensor(False, shape=(), dtype=bool)
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

    Example:
      >>> import graphc as gx
      >>> gx.any([True, False, True])
      Tensor(True, shape=(), dtype=bool)
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

    Example:
      >>> import graphc as gx
      >>> gx.argmax(gx.arange(8.0).reshape(2, 2, 2))
      Tensor(7, shape=(), dtype=int32)
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

    Example:
      >>> import graphc as gx
      >>> gx.argmin(gx.arange(8.0).reshape(2, 2, 2), axis=-1, keepdims=True).shape
      (2, 2, 1)
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

    Example:
      >>> import graphc as gx
      >>> gx.average([[-5.0, -4.0], [-1.0, 0.0]], axis=1)
      Tensor([-4.5, -0.5], shape=(2,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.count_nonzero([[-5.0, -4.0], [-1.0, 0.0]], axis=1)
      Tensor([2, 1], shape=(2,), dtype=int32)
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

    Example:
      >>> import graphc as gx
      >>> gx.cumprod([[-5.0, -4.0], [-1.0, 0.0]], axis=0)
      Tensor([[-5., -4.],
       [ 5., -0.]], shape=(2, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.cumsum([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([ -5.,  -9., -10., -10.], shape=(4,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.cumulative_prod([1.5, 0.25, 3.0])
      Tensor([1.5  , 0.375, 1.125], shape=(3,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.cumulative_sum([-2.5, 0.5, 3.0])
      Tensor([-2.5, -2. ,  1. ], shape=(3,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.diff([-2.5, 0.5, 3.0])
      Tensor([3. , 2.5], shape=(2,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.max([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor(0., shape=(), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.mean([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor(-2.5, shape=(), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.median([[-5.0, -4.0], [-1.0, 0.0]], axis=1)
      Tensor([-4.5, -0.5], shape=(2,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.min([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor(-5., shape=(), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.percentile([[-5.0, -4.0], [-1.0, 0.0]], 30.0)
      Tensor(-4.1, shape=(), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.prod([1.5, 0.25, 3.0])
      Tensor(1.125, shape=(), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.ptp([[-5.0, -4.0], [-1.0, 0.0]], axis=0)
      Tensor([4., 4.], shape=(2,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.quantile([[-5.0, -4.0], [-1.0, 0.0]], [0.25, 0.5], axis=1)
      Tensor([[-4.75, -0.75],
       [-4.5 , -0.5 ]], shape=(2, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.std(gx.arange(8.0).reshape(2, 2, 2), axis=1)
      Tensor([[1., 1.],
       [1., 1.]], shape=(2, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.sum([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor(-10., shape=(), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.trace([[4.0, 1.0], [1.0, 3.0]])
      Tensor(7., shape=(), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.var(gx.arange(8.0).reshape(2, 2, 2), axis=1)
      Tensor([[1., 1.],
       [1., 1.]], shape=(2, 2), dtype=float32)
    """
