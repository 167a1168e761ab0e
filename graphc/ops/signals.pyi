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
    """

def blackman(M: int) -> Tensor:
    """Blackman's window of M samples.

    Args:
      M: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.blackman``.
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
    """

def ediff1d(x: ArrayLike, to_end: ArrayLike | None = None, to_begin: ArrayLike | None = None) -> Tensor:
    """Differences of neighbours of the flattened tensor.

    Args:
      x: a tensor, or what becomes one.
      to_end: a tensor, or what becomes one; None for none.
      to_begin: a tensor, or what becomes one; None for none.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def gradient(x: ArrayLike, *spacing: ArrayLike, axis: Axis = None) -> Tensor | tuple[Tensor, ...]:
    """The slopes along each axis, by differences of neighbours; spacing is their distance or their coordinates.

    Args:
      x: a tensor, or what becomes one.
      spacing: tensors, or what becomes tensors.
      axis: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def hamming(M: int) -> Tensor:
    """Hamming's window of M samples.

    Args:
      M: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.hamming``.
    """

def hanning(M: int) -> Tensor:
    """Hann's window of M samples: a raised cosine.

    Args:
      M: an int. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.hanning``.
    """

def kaiser(M: int, beta: float) -> Tensor:
    """Kaiser's window of M samples; the larger beta, the narrower.

    Args:
      M: an int. Static.
      beta: a number. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
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
    """
