"""Rows of the namespace ``fft``: discrete Fourier transforms.

Written by ``python -m graphc.ops.stubs`` from the rows.
"""

from graphc.core import ArrayLike, Tensor
from graphc.ops.annotations import Axes, Axis, Device, DType, Shape

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

def fft(x: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The Fourier transform along axis, cut or filled with zeros to n samples.

    Args:
      x: a tensor, or what becomes one.
      n: an int, or None. Static.
      axis: an int. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.fft``.
    """

def fft2(x: ArrayLike, s: Shape | None = None, axes: Axes = (-2, -1), norm: str | None = None) -> Tensor:
    """The Fourier transform over two axes.

    Args:
      x: a tensor, or what becomes one.
      s: an int or several, or None. Static.
      axes: one or several; negative ones are counted from the end. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.fft2``.
    """

def fftfreq(n: int, d: float = 1.0, dtype: DType = None, device: Device = None) -> Tensor:
    """The frequencies of fft's n results, for samples at distances d.

    Args:
      n: an int. Static.
      d: a number. Static.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def fftn(x: ArrayLike, s: Shape | None = None, axes: Axis = None, norm: str | None = None) -> Tensor:
    """The Fourier transform over several axes.

    Args:
      x: a tensor, or what becomes one.
      s: an int or several, or None. Static.
      axes: one or several; negative ones are counted from the end; None for all. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.fftn``.
    """

def fftshift(x: ArrayLike, axes: Axis = None) -> Tensor:
    """Frequency zero moved to the middle.

    Args:
      x: a tensor, or what becomes one.
      axes: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.fftshift``.
    """

def hfft(x: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The Fourier transform of a signal that is Hermitian in time: real numbers.

    Args:
      x: a tensor, or what becomes one.
      n: an int, or None. Static.
      axis: an int. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.hfft``.
    """

def ifft(x: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse Fourier transform along axis.

    Args:
      x: a tensor, or what becomes one.
      n: an int, or None. Static.
      axis: an int. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.ifft``.
    """

def ifft2(x: ArrayLike, s: Shape | None = None, axes: Axes = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse Fourier transform over two axes.

    Args:
      x: a tensor, or what becomes one.
      s: an int or several, or None. Static.
      axes: one or several; negative ones are counted from the end. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.ifft2``.
    """

def ifftn(x: ArrayLike, s: Shape | None = None, axes: Axis = None, norm: str | None = None) -> Tensor:
    """The inverse Fourier transform over several axes.

    Args:
      x: a tensor, or what becomes one.
      s: an int or several, or None. Static.
      axes: one or several; negative ones are counted from the end; None for all. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.ifftn``.
    """

def ifftshift(x: ArrayLike, axes: Axis = None) -> Tensor:
    """Frequency zero moved back to the start.

    Args:
      x: a tensor, or what becomes one.
      axes: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.ifftshift``.
    """

def ihfft(x: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of hfft.

    Args:
      x: a tensor, or what becomes one.
      n: an int, or None. Static.
      axis: an int. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.ihfft``.
    """

def irfft(x: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of rfft: n real numbers, 2 * (size - 1) for None.

    Args:
      x: a tensor, or what becomes one.
      n: an int, or None. Static.
      axis: an int. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.irfft``.
    """

def irfft2(x: ArrayLike, s: Shape | None = None, axes: Axes = (-2, -1), norm: str | None = None) -> Tensor:
    """The inverse of rfft2.

    Args:
      x: a tensor, or what becomes one.
      s: an int or several, or None. Static.
      axes: one or several; negative ones are counted from the end. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.irfft2``.
    """

def irfftn(x: ArrayLike, s: Shape | None = None, axes: Axis = None, norm: str | None = None) -> Tensor:
    """The inverse of rfftn.

    Args:
      x: a tensor, or what becomes one.
      s: an int or several, or None. Static.
      axes: one or several; negative ones are counted from the end; None for all. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.irfftn``.
    """

def rfft(x: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
    """The Fourier transform of real numbers: the half that is not implied.

    Args:
      x: a tensor, or what becomes one.
      n: an int, or None. Static.
      axis: an int. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.rfft``.
    """

def rfft2(x: ArrayLike, s: Shape | None = None, axes: Axes = (-2, -1), norm: str | None = None) -> Tensor:
    """The Fourier transform of real numbers over two axes.

    Args:
      x: a tensor, or what becomes one.
      s: an int or several, or None. Static.
      axes: one or several; negative ones are counted from the end. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.rfft2``.
    """

def rfftfreq(n: int, d: float = 1.0, dtype: DType = None, device: Device = None) -> Tensor:
    """The frequencies of rfft's results, for n samples at distances d.

    Args:
      n: an int. Static.
      d: a number. Static.
      dtype: a dtype or the name of one; None for the natural one.
      device: where the result is to be, such as 'gpu:0'; None for where all else is.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.
    """

def rfftn(x: ArrayLike, s: Shape | None = None, axes: Axis = None, norm: str | None = None) -> Tensor:
    """The Fourier transform of real numbers over several axes.

    Args:
      x: a tensor, or what becomes one.
      s: an int or several, or None. Static.
      axes: one or several; negative ones are counted from the end; None for all. Static.
      norm: a string, or None. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.rfftn``.
    """
