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

    Example:
      >>> import graphc as gx
      >>> gx.fft.fft([-2.5, 0.5, 3.0]).numpy().round(3)
      array([ 1.  +0.j   , -4.25+2.165j, -4.25-2.165j], dtype=complex64)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.fft2([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([[-10.+0.j,  -2.+0.j],
       [ -8.+0.j,   0.+0.j]], shape=(2, 2), dtype=complex64)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.fftfreq(5)
      Tensor([ 0. ,  0.2,  0.4, -0.4, -0.2], shape=(5,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.fftn(gx.arange(8.0).reshape(2, 2, 2)).shape
      (2, 2, 2)
    """

def fftshift(x: ArrayLike, axes: Axis = None) -> Tensor:
    """Frequency zero moved to the middle.

    Args:
      x: a tensor, or what becomes one.
      axes: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.fftshift``.

    Example:
      >>> import graphc as gx
      >>> gx.fft.fftshift([-2.5, 0.5, 3.0])
      Tensor([ 3. , -2.5,  0.5], shape=(3,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.hfft([-2.5, 0.5, 3.0])
      Tensor([ 1.5, -5.5, -0.5, -5.5], shape=(4,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.ifft([-2.5, 0.5, 3.0]).numpy().round(3)
      array([ 0.333+0.j   , -1.417-0.722j, -1.417+0.722j], dtype=complex64)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.ifft2([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([[-2.5+0.j, -0.5+0.j],
       [-2. +0.j,  0. +0.j]], shape=(2, 2), dtype=complex64)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.ifftn([[-5.0, -4.0], [-1.0, 0.0]], (2, 2), (0, 1))
      Tensor([[-2.5+0.j, -0.5+0.j],
       [-2. +0.j,  0. +0.j]], shape=(2, 2), dtype=complex64)
    """

def ifftshift(x: ArrayLike, axes: Axis = None) -> Tensor:
    """Frequency zero moved back to the start.

    Args:
      x: a tensor, or what becomes one.
      axes: one or several; negative ones are counted from the end; None for all. Static.

    Raises:
      InvalidArgumentError: shapes, dtypes or attributes that do not fit.

    Source: ``jax.numpy.fft.ifftshift``.

    Example:
      >>> import graphc as gx
      >>> gx.fft.ifftshift([-2.5, 0.5, 3.0])
      Tensor([ 0.5,  3. , -2.5], shape=(3,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.ihfft([-2.5, 0.5, 3.0]).numpy().round(3)
      array([ 0.333+0.j   , -1.417-0.722j], dtype=complex64)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.irfft([-2.5, 0.5, 3.0])
      Tensor([ 0.375, -1.375, -0.125, -1.375], shape=(4,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.irfft2([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([[-2.5, -0.5],
       [-2. ,  0. ]], shape=(2, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.irfftn([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([[-2.5, -0.5],
       [-2. ,  0. ]], shape=(2, 2), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.rfft([-2.5, 0.5, 3.0]).numpy().round(3)
      array([ 1.  +0.j   , -4.25+2.165j], dtype=complex64)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.rfft2([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([[-10.+0.j,  -2.+0.j],
       [ -8.+0.j,   0.+0.j]], shape=(2, 2), dtype=complex64)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.rfftfreq(5)
      Tensor([0. , 0.2, 0.4], shape=(3,), dtype=float32)
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

    Example:
      >>> import graphc as gx
      >>> gx.fft.rfftn([[-5.0, -4.0], [-1.0, 0.0]])
      Tensor([[-10.+0.j,  -2.+0.j],
       [ -8.+0.j,   0.+0.j]], shape=(2, 2), dtype=complex64)
    """
