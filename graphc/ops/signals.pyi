"""Rows: sequences of samples: convolution, windows, differences and integrals.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axis

__all__ = [
    "bartlett",
    "blackman",
    "convolve",
    "correlate",
    "ediff1d",
    "gradient",
    "hamming",
    "hanning",
    "kaiser",
    "trapezoid",
    "unwrap",
]

def bartlett(M: int) -> Tensor:
    """Bartlett's window of M samples: a triangle.

    Args:
      M: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.bartlett``.

    Example:
      >>> import graphc as gx
      >>> gx.bartlett(5)
      Tensor([0. , 0.5, 1. , 0.5, 0. ], shape=(5,), dtype=float32)
    """

def blackman(M: int) -> Tensor:
    """Blackman's window of M samples.

    Args:
      M: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.blackman``.

    Example:
      >>> import graphc as gx
      >>> gx.blackman(5).numpy().round(3)
      array([-0.  ,  0.34,  1.  ,  0.34, -0.  ], dtype=float32)
    """

def convolve(x1: ArrayLike, x2: ArrayLike, mode: str = "full") -> Tensor:
    """The convolution of 1-d tensors; 'full', 'same', 'valid'.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      mode: a string. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.convolve``.

    Example:
      >>> import graphc as gx
      >>> gx.convolve([-2.5, 0.5, 3.0], [1.5, -2.0, 4.0])
      Tensor([-3.75,  5.75, -6.5 , -4.  , 12.  ], shape=(5,), dtype=float32)
    """

def correlate(x1: ArrayLike, x2: ArrayLike, mode: str = "valid") -> Tensor:
    """The correlation of 1-d tensors; mode is 'full', 'same' or 'valid'.

    Args:
      x1: a tensor, or what becomes one.
      x2: a tensor, or what becomes one.
      mode: a string. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.correlate``.

    Example:
      >>> import graphc as gx
      >>> gx.correlate([-2.5, 0.5, 3.0], [1.5, -2.0, 4.0])
      Tensor([7.25], shape=(1,), dtype=float32)
    """

def ediff1d(x: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Tensor:
    """Differences of neighbours of the flattened tensor.

    Args:
      x: a tensor, or what becomes one.
      to_end: a tensor, or what becomes one; None for none.
      to_begin: a tensor, or what becomes one; None for none.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.ediff1d([-2.5, 0.5, 3.0])
      Tensor([3. , 2.5], shape=(2,), dtype=float32)
    """

def gradient(x: ArrayLike, *spacing: ArrayLike, axis: Axis = None) -> Tensor | tuple[Tensor, ...]:
    """The slopes along each axis, by differences of neighbours; spacing is their distance or their coordinates.

    Args:
      x: a tensor, or what becomes one.
      spacing: tensors, or what becomes tensors.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.gradient([0.25, 2.0, 7.0])
      Tensor([1.75 , 3.375, 5.   ], shape=(3,), dtype=float32)
    """

def hamming(M: int) -> Tensor:
    """Hamming's window of M samples.

    Args:
      M: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.hamming``.

    Example:
      >>> import graphc as gx
      >>> gx.hamming(5).numpy().round(3)
      array([0.08, 0.54, 1.  , 0.54, 0.08], dtype=float32)
    """

def hanning(M: int) -> Tensor:
    """Hann's window of M samples: a raised cosine.

    Args:
      M: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.hanning``.

    Example:
      >>> import graphc as gx
      >>> gx.hanning(5)
      Tensor([0. , 0.5, 1. , 0.5, 0. ], shape=(5,), dtype=float32)
    """

def kaiser(M: int, beta: float) -> Tensor:
    """Kaiser's window of M samples; the larger beta, the narrower.

    Args:
      M: an int. Static.
      beta: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.kaiser(5, 8.6).numpy().round(3)
      array([0.001, 0.34 , 1.   , 0.34 , 0.001], dtype=float32)
    """

def trapezoid(y: ArrayLike, x: ArrayLike | None = None, dx: float = 1.0, axis: int = -1) -> Tensor:
    """The integral along axis by the trapezoidal rule, at coordinates x or at distances dx.

    Args:
      y: a tensor, or what becomes one.
      x: a tensor, or what becomes one; None for none.
      dx: a number. Static.
      axis: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.trapezoid``.

    Example:
      >>> import graphc as gx
      >>> gx.trapezoid([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([-4.5, -0.5], shape=(2,), dtype=float32)
    """

def unwrap(p: ArrayLike, discont: float | None = None, axis: int = -1, period: float = 6.283185307179586) -> Tensor:
    """Angles with jumps along axis taken out, by adding multiples of the period.

    Args:
      p: a tensor, or what becomes one.
      discont: a number, or None. Static.
      axis: an int. Static.
      period: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.unwrap``.

    Example:
      >>> import graphc as gx
      >>> gx.unwrap([0.0, 13.0, 1.0]).numpy().round(3)
      array([0.   , 0.434, 1.   ], dtype=float32)
    """
