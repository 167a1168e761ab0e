"""Rows: covariance, and statistics that leave NaN out.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axis, DType

__all__ = [
    "corrcoef",
    "cov",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmedian",
    "nanmin",
    "nanpercentile",
    "nanprod",
    "nanquantile",
    "nanstd",
    "nansum",
    "nanvar",
]

def corrcoef(x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True) -> Tensor:
    """The correlation coefficients of variables.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one; None for none.
      rowvar: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.corrcoef``.

    Example:
      >>> import graphc as gx
      >>> gx.corrcoef([[4.0, 1.0], [1.0, 3.0]]).numpy().round(3)
      array([[ 1., -1.],
             [-1.,  1.]], dtype=float32)
    """

def cov(
    x: ArrayLike,
    y: ArrayLike | None = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: ArrayLike | None = None,
    aweights: ArrayLike | None = None,
) -> Tensor:
    """The covariance matrix of variables, in rows (columns for rowvar=False), with those of y after those of x.

    Args:
      x: a tensor, or what becomes one.
      y: a tensor, or what becomes one; None for none.
      rowvar: True or False. Static.
      bias: True or False. Static.
      ddof: an int, or None. Static.
      fweights: a tensor, or what becomes one; None for none.
      aweights: a tensor, or what becomes one; None for none.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.cov([[25.0, 16.0], [1.0, 0.0]])
      Tensor([[40.5,  4.5],
       [ 4.5,  0.5]], shape=(2, 2), dtype=float32)
    """

def nanargmax(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the first largest element that is not NaN; -1 where all are.

    Args:
      x: a tensor, or what becomes one.
      axis: an int, or None. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nanargmax``.

    Example:
      >>> import graphc as gx
      >>> gx.nanargmax([[1.0, gx.nan], [4.0, 5.0]], axis=1)
      Tensor([0, 1], shape=(2,), dtype=int32)
    """

def nanargmin(x: ArrayLike, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """The position of the first smallest element that is not NaN; -1 where all are.

    Args:
      x: a tensor, or what becomes one.
      axis: an int, or None. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nanargmin``.

    Example:
      >>> import graphc as gx
      >>> gx.nanargmin([[1.0, gx.nan], [4.0, 5.0]])
      Tensor(0, shape=(), dtype=int32)
    """

def nancumprod(x: ArrayLike, axis: int | None = None, dtype: DType = None) -> Tensor:
    """Running products along axis, NaN counted as one.

    Args:
      x: a tensor, or what becomes one.
      axis: an int, or None. Static.
      dtype: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nancumprod``.

    Example:
      >>> import graphc as gx
      >>> gx.nancumprod([[1.0, gx.nan], [4.0, 5.0]], axis=1)
      Tensor([[ 1.,  1.],
       [ 4., 20.]], shape=(2, 2), dtype=float32)
    """

def nancumsum(x: ArrayLike, axis: int | None = None, dtype: DType = None) -> Tensor:
    """Running sums along axis, NaN counted as zero.

    Args:
      x: a tensor, or what becomes one.
      axis: an int, or None. Static.
      dtype: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nancumsum``.

    Example:
      >>> import graphc as gx
      >>> gx.nancumsum([[1.0, gx.nan], [4.0, 5.0]])
      Tensor([ 1.,  1.,  5., 10.], shape=(4,), dtype=float32)
    """

def nanmax(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The largest element over axis, NaN left out.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nanmax``.

    Example:
      >>> import graphc as gx
      >>> gx.nanmax([[1.0, gx.nan], [4.0, 5.0]])
      Tensor(5., shape=(), dtype=float32)
    """

def nanmean(x: ArrayLike, axis: Axis = None, dtype: DType = None, keepdims: bool = False) -> Tensor:
    """The mean over axis, NaN left out.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      dtype: a dtype or the name of one; None for the natural one.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nanmean``.

    Example:
      >>> import graphc as gx
      >>> gx.nanmean([[1.0, gx.nan], [4.0, 5.0]], axis=0)
      Tensor([2.5, 5. ], shape=(2,), dtype=float32)
    """

def nanmedian(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The middle value over axis, NaN left out.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nanmedian``.

    Example:
      >>> import graphc as gx
      >>> gx.nanmedian([[1.0, gx.nan], [4.0, 5.0]], axis=1)
      Tensor([1. , 4.5], shape=(2,), dtype=float32)
    """

def nanmin(x: ArrayLike, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """The smallest element over axis, NaN left out.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nanmin``.

    Example:
      >>> import graphc as gx
      >>> gx.nanmin([[1.0, gx.nan], [4.0, 5.0]])
      Tensor(1., shape=(), dtype=float32)
    """

def nanpercentile(
    x: ArrayLike, q: ArrayLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """The value below which q percent lie, NaN left out.

    Args:
      x: a tensor, or what becomes one.
      q: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      method: a string. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nanpercentile``.

    Example:
      >>> import graphc as gx
      >>> gx.nanpercentile([[1.0, gx.nan], [4.0, 5.0]], 30.0, axis=1)
      Tensor([1. , 4.3], shape=(2,), dtype=float32)
    """

def nanprod(x: ArrayLike, axis: Axis = None, dtype: DType = None, keepdims: bool = False) -> Tensor:
    """The product over axis, NaN left out.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      dtype: a dtype or the name of one; None for the natural one.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nanprod``.

    Example:
      >>> import graphc as gx
      >>> gx.nanprod([[1.0, gx.nan], [4.0, 5.0]], axis=0)
      Tensor([4., 5.], shape=(2,), dtype=float32)
    """

def nanquantile(
    x: ArrayLike, q: ArrayLike, axis: Axis = None, method: str = "linear", keepdims: bool = False
) -> Tensor:
    """The value below which a share q lies, NaN left out.

    Args:
      x: a tensor, or what becomes one.
      q: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      method: a string. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nanquantile``.

    Example:
      >>> import graphc as gx
      >>> print(f"{gx.nanquantile([[1.0, gx.nan], [4.0, 5.0]], 0.3).item():.3f}")
      2.800
    """

def nanstd(x: ArrayLike, axis: Axis = None, correction: float = 0, keepdims: bool = False) -> Tensor:
    """The standard deviation over axis, NaN left out.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      correction: a number. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.nanstd([[1.0, gx.nan], [4.0, 5.0]], axis=1)
      Tensor([0. , 0.5], shape=(2,), dtype=float32)
    """

def nansum(x: ArrayLike, axis: Axis = None, dtype: DType = None, keepdims: bool = False) -> Tensor:
    """The sum over axis, NaN left out.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      dtype: a dtype or the name of one; None for the natural one.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.nansum``.

    Example:
      >>> import graphc as gx
      >>> gx.nansum([[1.0, gx.nan], [4.0, 5.0]], axis=0)
      Tensor([5., 5.], shape=(2,), dtype=float32)
    """

def nanvar(x: ArrayLike, axis: Axis = None, correction: float = 0, keepdims: bool = False) -> Tensor:
    """The variance over axis, NaN left out.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several; negative ones are counted from the end; None for all. Static.
      correction: a number. Static.
      keepdims: True or False. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> print(f"{gx.nanvar([[1.0, gx.nan], [4.0, 5.0]], correction=1).item():.3f}")
      4.333
    """
