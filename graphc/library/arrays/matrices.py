"""Matrices and linear systems; windows, frames of signals, and their Fourier transforms."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from graphc.compiler.core import ArrayLike, Tensor, as_dtype
from graphc.compiler.ops import fft, linalg
from graphc.compiler.ops import functions as gx

__all__ = [
    "adjoint", "band_part", "cholesky_solve", "diag", "frame", "hamming_window", "hann_window", "lstsq", "matmul",
    "set_diag", "stft", "svd", "tensor_diag_part",
]  # fmt: skip


def adjoint(matrix: ArrayLike) -> Tensor:
    """Returns matrices with the last two axes exchanged, and conjugated.

    Args:
      matrix: ``[..., m, n]``.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.adjoint([[1.0, 2.0j]]).tolist()
      [[(1-0j)], [-2j]]
    """
    return gx.conj(gx.matrix_transpose(matrix))


def matmul(
    a: ArrayLike, b: ArrayLike, transpose_a: bool = False, transpose_b: bool = False, adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Tensor:  # fmt: skip
    """Returns the matrix product of the last two axes, transposed or adjoint first on demand.

    Args:
      a: matrices.
      b: matrices.
      transpose_a: whether ``a`` is transposed.
      transpose_b: whether ``b`` is.
      adjoint_a: whether ``a`` is transposed and conjugated.
      adjoint_b: whether ``b`` is.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.matmul([[1.0, 2.0]], [[3.0, 4.0]], transpose_b=True).tolist()
      [[11.0]]
    """
    a = adjoint(a) if adjoint_a else gx.matrix_transpose(a) if transpose_a else a
    b = adjoint(b) if adjoint_b else gx.matrix_transpose(b) if transpose_b else b
    return gx.matmul(a, b)


def band_part(x: ArrayLike, num_lower: int, num_upper: int) -> Tensor:
    """Returns matrices that are zero but for so many diagonals below and above the main one.

    Args:
      x: ``[..., m, n]``.
      num_lower: the number of diagonals below; -1 for all.
      num_upper: the number of diagonals above; -1 for all.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.band_part([[1, 2], [3, 4]], 0, -1).tolist()
      [[1, 2], [0, 4]]
    """
    tensor = gx.asarray(x)
    below: Any = np.subtract.outer(range(tensor.shape[-2]), range(tensor.shape[-1]))
    keep = ((num_lower < 0) | (below <= num_lower)) & ((num_upper < 0) | (-below <= num_upper))
    return gx.where(keep, tensor, gx.zeros((), dtype=tensor.dtype))


def _places(count: int, k: int) -> tuple[Any, Any, Any]:
    steps = np.arange(count)
    return (Ellipsis, steps + max(-k, 0), steps + max(k, 0))


def diag(diagonal: ArrayLike, k: int = 0) -> Tensor:
    """Returns matrices with these diagonals, and zeros elsewhere.

    Args:
      diagonal: ``[..., n]``.
      k: the offset above the main diagonal; below it if negative.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.diag([[1, 2]]).tolist()
      [[[1, 0], [0, 2]]]
    """
    values = gx.asarray(diagonal)
    size = values.shape[-1] + abs(k)
    start = gx.zeros((*values.shape[:-1], size, size), dtype=values.dtype)
    return start.at[_places(values.shape[-1], k)].set(values)


def set_diag(x: ArrayLike, diagonal: ArrayLike, k: int = 0) -> Tensor:
    """Returns copies of matrices with other diagonals; see :func:`diag`.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.set_diag([[1, 2], [3, 4]], [7, 8]).tolist()
      [[7, 2], [3, 8]]
    """
    values = gx.asarray(diagonal)
    return gx.asarray(x).at[_places(values.shape[-1], k)].set(values)


def tensor_diag_part(x: ArrayLike) -> Tensor:
    """Returns the diagonal of a tensor whose first half of axes is like the second.

    Args:
      x: ``[*shape, *shape]``.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.tensor_diag_part([[1, 2], [3, 4]]).tolist()
      [1, 4]
    """
    tensor = gx.asarray(x)
    half = tensor.shape[: tensor.ndim // 2]
    count = math.prod(half)
    return gx.reshape(gx.diag(gx.reshape(tensor, (count, count))), half)


def cholesky_solve(chol: ArrayLike, rhs: ArrayLike) -> Tensor:
    """Returns the solution y of ``A @ y = rhs`` by the Cholesky factor of A.

    Args:
      chol: lower triangular matrices L with ``L @ L^H = A``.
      rhs: ``[..., n, k]``.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.cholesky_solve([[2.0]], [[8.0]]).tolist()
      [[2.0]]
    """
    first = linalg.solve_triangular(chol, rhs)
    return linalg.solve_triangular(gx.conj(chol), first, transpose=True)


def lstsq(matrix: ArrayLike, rhs: ArrayLike, l2_regularizer: float = 0.0, fast: bool = True) -> Tensor:
    """Returns the solution with the least squares, to which a multiple of its own squares may be added.

    Args:
      matrix: ``[..., m, n]``.
      rhs: ``[..., m, k]``.
      l2_regularizer: the multiple.
      fast: whether the normal equations are solved, which is less exact; else the pseudo-inverse is taken.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.lstsq([[1.0], [1.0]], [[1.0], [3.0]]).tolist()
      [[2.0]]
    """
    if not fast and not l2_regularizer:
        return gx.matmul(linalg.pinv(matrix), rhs)
    tensor = gx.asarray(matrix)
    rows, columns = tensor.shape[-2:]
    turned = adjoint(tensor)
    if rows >= columns:
        square = gx.matmul(turned, tensor) + l2_regularizer * gx.eye(columns, dtype=tensor.dtype)
        return linalg.solve(square, gx.matmul(turned, rhs))
    square = gx.matmul(tensor, turned) + l2_regularizer * gx.eye(rows, dtype=tensor.dtype)
    return gx.matmul(turned, linalg.solve(square, rhs))


def svd(tensor: ArrayLike, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Returns the singular values, and U and V with ``x = U @ diag(S) @ V^H``, in TensorFlow's order.

    Args:
      tensor: ``[..., m, n]``.
      full_matrices: whether U and V are square.
      compute_uv: whether they are computed; else the singular values are all.

    Example:
      >>> import graphc as gx
      >>> s, u, v = gx.arrays.svd([[3.0, 0.0], [0.0, 4.0]])
      >>> s.tolist()
      [4.0, 3.0]
    """
    if not compute_uv:
        return linalg.svdvals(tensor)
    u, s, vh = linalg.svd(tensor, full_matrices)
    return s, u, adjoint(vh)


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
        widths = [(0, missing if dimension == axis else 0) for dimension in range(tensor.ndim)]
        tensor = gx.pad(tensor, widths, constant_values=pad_value)
    positions = np.arange(count)[:, None] * frame_step + np.arange(frame_length)[None, :]
    return gx.take(tensor, positions.astype(np.int32), axis=axis)


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
