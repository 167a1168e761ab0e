"""Rows: tensors made from a shape, and tensors of a shape that another has.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Device, DType, Shape

__all__ = [
    "arange",
    "empty",
    "empty_like",
    "eye",
    "full",
    "full_like",
    "geomspace",
    "linspace",
    "logspace",
    "ones",
    "ones_like",
    "tri",
    "zeros",
    "zeros_like",
]

def arange(
    start: float, stop: float | None = None, step: float = 1, dtype: DType = None, device: Device = None
) -> Tensor:
    """The numbers from start in steps, stop left out; one number alone is stop, and start is 0.

    Args:
      start: a number. Static.
      stop: a number, or None. Static.
      step: a number. Static.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def eye(n_rows: int, n_cols: int | None = None, k: int = 0, dtype: DType = None, device: Device = None) -> Tensor:
    """Ones on diagonal k, zeros elsewhere.

    Args:
      n_rows: an int. Static.
      n_cols: an int, or None. Static.
      k: an int. Static.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def full(shape: Shape, fill_value: ArrayLike, dtype: DType = None, device: Device = None) -> Tensor:
    """The fill value everywhere.

    Args:
      shape: an int or several. Static.
      fill_value: a tensor, or what becomes one.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def full_like(x: ArrayLike, fill_value: ArrayLike, dtype: DType = None, device: Device = None) -> Tensor:
    """The fill value, in x's shape and dtype.

    Args:
      x: a tensor, or what becomes one.
      fill_value: a tensor, or what becomes one.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def geomspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, dtype: DType = None, axis: int = 0
) -> Tensor:
    """Values at equal ratios, num of them, from start to stop.

    Args:
      start: a tensor, or what becomes one.
      stop: a tensor, or what becomes one.
      num: an int. Static.
      endpoint: True or False. Static.
      dtype: a dtype or the name of one; None for the natural one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def linspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    dtype: DType = None,
    device: Device = None,
    axis: int = 0,
) -> Tensor:
    """Values at equal distances, num of them, from start to stop, which is left out for endpoint=False.

    Args:
      start: a tensor, or what becomes one.
      stop: a tensor, or what becomes one.
      num: an int. Static.
      endpoint: True or False. Static.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def logspace(
    start: ArrayLike,
    stop: ArrayLike,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: DType = None,
    axis: int = 0,
) -> Tensor:
    """Powers of base whose exponents are at equal distances, num of them, from start to stop.

    Args:
      start: a tensor, or what becomes one.
      stop: a tensor, or what becomes one.
      num: an int. Static.
      endpoint: True or False. Static.
      base: a number. Static.
      dtype: a dtype or the name of one; None for the natural one.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def ones(shape: Shape, dtype: DType = None, device: Device = None) -> Tensor:
    """Ones; of the default floating dtype for no dtype.

    Args:
      shape: an int or several. Static.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def ones_like(x: ArrayLike, dtype: DType = None, device: Device = None) -> Tensor:
    """Ones of x's shape and dtype.

    Args:
      x: a tensor, or what becomes one.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def tri(N: int, M: int | None = None, k: int = 0, dtype: DType = None) -> Tensor:
    """Ones on diagonal k and below, zeros above; M columns, or N.

    Args:
      N: an int. Static.
      M: an int, or None. Static.
      k: an int. Static.
      dtype: a dtype or the name of one; None for the natural one.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def zeros(shape: Shape, dtype: DType = None, device: Device = None) -> Tensor:
    """Zeros; of the default floating dtype for no dtype.

    Args:
      shape: an int or several. Static.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

empty = zeros

def zeros_like(x: ArrayLike, dtype: DType = None, device: Device = None) -> Tensor:
    """Zeros of x's shape and dtype.

    Args:
      x: a tensor, or what becomes one.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

empty_like = zeros_like
