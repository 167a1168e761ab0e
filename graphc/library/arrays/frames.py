"""Windows, frames of signals, and their Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphc.compiler.core import ArrayLike, Tensor, as_dtype
from graphc.compiler.ops import fft
from graphc.compiler.ops import functions as gx

__all__ = ["frame", "hamming_window", "hann_window", "stft"]


def _cosine_window(window_length: int, periodic: bool, dtype: Any, first: float) -> Tensor:
    if window_length == 1:
        return gx.ones((1,), dtype=dtype)
    # An even window that is periodic has one sample more in its period, as an odd one always has.
    period = window_length + int(periodic and window_length % 2 == 0) - 1
    angles = 2 * np.pi * np.arange(window_length) / period
    return gx.asarray((first - (1 - first) * np.cos(angles)).astype(as_dtype(dtype)))


def hann_window(window_length: int, periodic: bool = True, dtype: Any = "float32") -> Tensor:
    """Returns Hann's window; ``gx.hanning`` is the symmetric one.

    Args:
      window_length: the number of samples.
      periodic: whether it is one period of a longer signal.
      dtype: the dtype.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.hann_window(4).tolist()
      [0.0, 0.5, 1.0, 0.5]
    """
    return _cosine_window(window_length, periodic, dtype, 0.5)


def hamming_window(window_length: int, periodic: bool = True, dtype: Any = "float32") -> Tensor:
    """Returns Hamming's window; as :func:`hann_window` otherwise."""
    return _cosine_window(window_length, periodic, dtype, 0.54)


def frame(
    signal: ArrayLike, frame_length: int, frame_step: int, pad_end: bool = False, pad_value: Any = 0, axis: int = -1
) -> Tensor:
    """Returns overlapping frames of a signal: the axis becomes two, that of the frames and that of the samples.

    Args:
      signal: a tensor.
      frame_length: the number of samples in a frame.
      frame_step: the number of samples between the starts of consecutive frames.
      pad_end: whether the signal is filled up, so that its last samples begin frames too.
      pad_value: with what.
      axis: the axis of the samples.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.frame([1, 2, 3, 4], 3, 1).tolist()
      [[1, 2, 3], [2, 3, 4]]
    """
    tensor = gx.asarray(signal)
    axis = axis % tensor.ndim
    samples = tensor.shape[axis]
    count = -(-samples // frame_step) if pad_end else max(0, 1 + (samples - frame_length) // frame_step)
    missing = max(0, (count - 1) * frame_step + frame_length - samples) if count else 0
    if missing:
        widths = [(0, missing if place == axis else 0) for place in range(tensor.ndim)]
        tensor = gx.pad(tensor, widths, constant_values=pad_value)
    places = np.arange(count)[:, None] * frame_step + np.arange(frame_length)[None, :]
    return gx.take(tensor, places.astype(np.int32), axis=axis)


def stft(
    signals: ArrayLike, frame_length: int, frame_step: int, fft_length: int | None = None,
    window_fn: Callable[..., Any] | None = hann_window, pad_end: bool = False,
) -> Tensor:  # fmt: skip
    """Returns the Fourier transforms of overlapping frames, each times a window.

    Args:
      signals: the samples lie along the last axis.
      frame_length: as for :func:`frame`.
      frame_step: likewise.
      fft_length: the size of the transforms; the next power of 2 when None.
      window_fn: a function of a length and a dtype; None for no window.
      pad_end: as for :func:`frame`.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.stft(gx.ones(8), 4, 2).shape
      (3, 3)
    """
    size = 1 << (frame_length - 1).bit_length() if fft_length is None else int(fft_length)
    frames = frame(signals, frame_length, frame_step, pad_end, 0, -1)
    if window_fn is not None:
        frames = frames * window_fn(frame_length, dtype=frames.dtype)
    return fft.rfft(frames, size)
