"""Compositions: windows, frames and Fourier transforms with TensorFlow's lengths."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from graphc.core import as_dtype
from graphc.ops import fft
from graphc.ops import functions as gx

__all__ = ["cosine_window", "frame", "hann_window", "kaiser_window", "lengths", "stft"]


def lengths(fft_length: Any) -> Any:
    """The sizes of a transform, None for those of the tensor."""
    return None if fft_length is None else tuple(int(size) for size in np.ravel(np.asarray(fft_length)))


def cosine_window(window_length: int, periodic: bool, dtype: Any, first: float) -> Any:
    """A raised cosine: Hann's window for 0.5, Hamming's for 0.54."""
    if window_length == 1:
        return gx.ones((1,), dtype=dtype)
    # An even window that is periodic has one sample more in its period, as an odd one always has.
    period = window_length + int(periodic and window_length % 2 == 0) - 1
    angles = 2 * np.pi * np.arange(window_length) / period
    return gx.asarray((first - (1 - first) * np.cos(angles)).astype(as_dtype(dtype)))


def hann_window(window_length: int, periodic: bool = True, dtype: Any = "float32") -> Any:
    """Hann's window."""
    return cosine_window(window_length, periodic, dtype, 0.5)


def kaiser_window(window_length: int, beta: float, dtype: Any) -> Any:
    """Kaiser's window."""
    return gx.astype(gx.kaiser(window_length, beta), dtype)


def frame(signal: Any, frame_length: int, frame_step: int, pad_end: bool, pad_value: Any, axis: int) -> Any:
    """Overlapping frames of a signal: the axis becomes two, that of the frames and that of the samples."""
    signal = gx.asarray(signal)
    axis = axis % signal.ndim
    samples = signal.shape[axis]
    count = -(-samples // frame_step) if pad_end else max(0, 1 + (samples - frame_length) // frame_step)
    missing = max(0, (count - 1) * frame_step + frame_length - samples) if count else 0
    if missing:
        widths = [(0, missing if place == axis else 0) for place in range(signal.ndim)]
        signal = gx.pad(signal, widths, constant_values=pad_value)
    places = np.arange(count)[:, None] * frame_step + np.arange(frame_length)[None, :]
    return gx.take(signal, places.astype(np.int32), axis=axis)


def stft(
    signals: Any, frame_length: int, frame_step: int, fft_length: Any, window_fn: Callable[..., Any] | None,
    pad_end: bool,
) -> Any:  # fmt: skip
    """The Fourier transforms of overlapping frames, each times a window."""
    size = 1 << (frame_length - 1).bit_length() if fft_length is None else int(fft_length)
    frames = frame(signals, frame_length, frame_step, pad_end, 0, -1)
    if window_fn is not None:
        frames = frames * window_fn(frame_length, dtype=frames.dtype)
    return fft.rfft(frames, size)
