"""Copies of NumPy arguments, in reused memory.

JAX reads the memory of a NumPy argument while the program runs, even after the call has returned. It would then see
what the caller writes into the array, so a call passes a copy. Allocating memory for a large copy takes longer than the
copying, because the system maps it page by page.
"""

from __future__ import annotations

from collections import deque
from sys import getrefcount
from typing import Any, Final

import numpy as np

__all__ = ["SMALLEST", "Recycled"]

SMALLEST: Final = 2**14
"""Minimum size in bytes; smaller copies take no longer in new memory."""

_BYTES: Final = 2**24  # the maximum size kept for one argument
_BUFFERS: Final = 16  # the maximum number of programs in flight
_ALIGNED: Final = 64  # bytes


class Recycled:
    """Copies the values of one argument of a call, as arrays of one dtype and shape.

    JAX holds a reference to an array as long as it may read it, so reference counts show which memory is free.

    Args:
      dtype: the dtype of the copies.
      shape: the argument's shape.

    Example:
      >>> recycled = Recycled(np.dtype("float32"), (3,))
      >>> recycled.copy(np.arange(3))
      array([0., 1., 2.], dtype=float32)
    """

    def __init__(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
        self._dtype, self._shape = dtype, shape
        self._size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        self._most = min(_BUFFERS, _BYTES // max(self._size, 1))
        self._buffers: deque[np.ndarray[Any, Any]] = deque()

    def copy(self, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """Returns a copy whose memory is not reused while a reference to it exists."""
        buffers = self._buffers
        for _ in range(len(buffers)):
            try:
                buffer, references = _turned(buffers)
            except IndexError:  # another thread is rotating the only one
                continue
            if references == _FREE:  # another thread that takes it now sees the reference of this name
                break
        else:
            buffer = self._allocated()
            if len(buffers) < self._most:
                buffers.append(buffer)
        np.copyto(buffer, value, casting="unsafe")
        return buffer

    def _allocated(self) -> np.ndarray[Any, Any]:
        """Returns new memory, aligned so that JAX uses it where it is; it copies what is not aligned."""
        memory = bytearray(self._size + _ALIGNED)
        start = -np.ndarray((1,), np.uint8, memory).ctypes.data % _ALIGNED
        # Since the memory is no array, this array is the base of its views, which keep it alive.
        return np.ndarray(self._shape, self._dtype, memory, start)


def _turned(buffers: deque[np.ndarray[Any, Any]]) -> tuple[np.ndarray[Any, Any], int]:
    """Moves the first buffer to the end; returns it with its reference count in between."""
    buffer = buffers.popleft()
    references = getrefcount(buffer)
    buffers.append(buffer)
    return buffer, references


_FREE: Final = _turned(deque([np.empty(0)]))[1]
"""The reference count of an unused buffer."""
