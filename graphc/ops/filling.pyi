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

    Example:
      >>> import graphc as gx
      >>> gx.arange(5)
      Tensor([0, 1, 2, 3, 4], shape=(5,), dtype=int32)
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

    Example:
      >>> import graphc as gx
      >>> gx.eye(3)
      Tensor([[1., 0., 0.],
       [0., 1., 0.],
       [0., 0., 1.]], shape=(3, 3), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.full((2, 2), 7.5)
      Tensor([[7.5, 7.5],
       [7.5, 7.5]], shape=(2, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.full_like([[-5.0, -4.0], [-1.0, 0.0]], 3.0)
      Tensor([[3., 3.],
       [3., 3.]], shape=(2, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.geomspace(1.0, 16.0, 5).numpy().round(3)
      array([ 1.,  2.,  4.,  8., 16.], dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.linspace(0.0, 1.0, 5)
      Tensor([0.  , 0.25, 0.5 , 0.75, 1.  ], shape=(5,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.logspace(0.0, 2.0, 3)
      Tensor([  1.,  10., 100.], shape=(3,), dtype=float32)
    """

def ones(shape: Shape, dtype: DType = None, device: Device = None) -> Tensor:
    """Ones; of the default floating dtype for no dtype.

    Args:
      shape: an int or several. Static.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.ones((2, 3))
      Tensor([[1., 1., 1.],
       [1., 1., 1.]], shape=(2, 3), dtype=float32)
    """

def ones_like(x: ArrayLike, dtype: DType = None, device: Device = None) -> Tensor:
    """Ones of x's shape and dtype.

    Args:
      x: a tensor, or what becomes one.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.ones_like([-7, 5, 12])
      Tensor([1, 1, 1], shape=(3,), dtype=int32)
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

    Example:
      >>> import graphc as gx
      >>> gx.tri(3)
      Tensor([[1., 0., 0.],
       [1., 1., 0.],
       [1., 1., 1.]], shape=(3, 3), dtype=float32)
    """

def zeros(shape: Shape, dtype: DType = None, device: Device = None) -> Tensor:
    """Zeros; of the default floating dtype for no dtype.

    Args:
      shape: an int or several. Static.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.zeros((2, 3))
      Tensor([[0., 0., 0.],
       [0., 0., 0.]], shape=(2, 3), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.zeros_like([-7, 5, 12])
      Tensor([0, 0, 0], shape=(3,), dtype=int32)
    """

empty_like = zeros_like
