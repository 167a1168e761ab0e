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

    Source: ``jax.numpy.cov``.
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
    """
