"""Arrays in safetensors files: of every dtype, written through to the disk, and mapped into memory to be read."""

from __future__ import annotations

import fcntl
import json
import os
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from typing import Any, cast

import numpy as np

from graphc.compiler.base.files import file_errors

_CODES = {
    "bool": "BOOL", "int8": "I8", "uint8": "U8", "int16": "I16", "uint16": "U16", "int32": "I32", "uint32": "U32",
    "int64": "I64", "uint64": "U64", "float16": "F16", "bfloat16": "BF16", "float32": "F32", "float64": "F64",
}  # fmt: skip
_LONGEST_HEADER = 100_000_000
"""Bytes, which is what safetensors itself accepts."""


def checksum(array: np.ndarray[Any, Any]) -> int:
    """Returns the CRC-32 of an array's bytes."""
    flat: Any = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    return zlib.crc32(flat)


def write_arrays(path: Path, arrays: Mapping[str, np.ndarray[Any, Any]], notes: Mapping[str, str]) -> None:
    """Writes a file, and returns when it is on the disk.

    Arrays of dtypes that safetensors lacks are kept as bytes, with one more axis.

    Args:
      notes: the metadata of the file.
    """
    # The library safetensors writes to a temporary file beside this one, which stays if the process is killed.
    plain = {
        name: np.asarray(array, order="C") if array.dtype.name in _CODES else _as_bytes(array)
        for name, array in sorted(arrays.items(), key=lambda item: -item[1].dtype.itemsize)  # so that all are aligned
    }
    header: dict[str, Any] = {"__metadata__": dict(notes)}
    end = 0
    for name, array in plain.items():
        start, end = end, end + array.nbytes
        code = _CODES[array.dtype.name]
        header[name] = {"dtype": code, "shape": list(array.shape), "data_offsets": [start, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in plain.values():
            file.write(array.reshape(-1).view(np.uint8).data)
        file.flush()
        os.fsync(file.fileno())


def _as_bytes(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns an array's bytes, with one more axis for those of an element."""
    return np.ascontiguousarray(array).reshape(*array.shape, 1).view(np.uint8)


def sync(path: Path) -> None:
    """Waits until a file, or the list of a folder's files, is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def header_of(path: Path) -> tuple[dict[str, Any], int]:
    """Returns what a safetensors file says of its arrays, and where the first byte of them is."""
    with path.open("rb") as file:
        size = int.from_bytes(file.read(8), "little")
        if size > _LONGEST_HEADER:
            raise ValueError(f"its header would have {size:,} bytes")
        header: Any = json.loads(file.read(size))
        if type(header) is not dict:
            raise ValueError("its header is no JSON object")
        return cast("dict[str, Any]", header), 8 + size


class ArrayFile:
    """A safetensors file, mapped into memory.

    Args:
      damaged: makes the error for a file, from its path and what is wrong with it.
    """

    def __init__(self, path: Path, damaged: Callable[[Path, str], Exception]) -> None:
        self._path = path
        self._damaged = damaged

    @cached_property
    def _content(self) -> tuple[Mapping[str, Any], np.ndarray[Any, Any]]:
        with file_errors(self._path):
            try:
                header, first = header_of(self._path)
            except (ValueError, OverflowError, MemoryError, RecursionError) as error:
                raise self._damaged(self._path, f"its header cannot be read: {error}") from error
            return header, np.memmap(self._path, np.uint8, "r", offset=0)[first:]

    @property
    def size(self) -> int:
        """Returns how many bytes its arrays have together."""
        return self._content[1].size

    def array(self, key: str, dtype: np.dtype[Any], shape: Sequence[int]) -> np.ndarray[Any, Any]:
        """Returns an array of the file, as a view."""
        header, content = self._content
        try:
            begin, end = header[key]["data_offsets"]
            view = content[begin:end].view(np.ndarray).view(dtype).reshape(shape)
        except (KeyError, ValueError, TypeError) as error:
            raise self._damaged(self._path, f"it has no {key} of {dtype}{list(shape)}: {error}") from error
        return view


# Marks of saves in progress: lock files, which the system releases when a process ends, however it ends.
#
# So the next save can tell the files of a save that was killed from those of one that another program is writing.

_ABANDONED_SECONDS = 3600.0
"""Where the file system has no locks: the age of the mark of a save that has ended."""


class Mark:
    """Marks a save as in progress until it is released, or the process ends.

    Args:
      path: the lock file, of a name that no other save has; its folder is made.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        while True:
            path.parent.mkdir(parents=True, exist_ok=True)
            with suppress(
                FileNotFoundError
            ):  # another save has just removed the folder, or taken the file for a dead one's
                self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
                with suppress(OSError):
                    fcntl.flock(self._descriptor, fcntl.LOCK_EX)
                if os.path.samestat(os.fstat(self._descriptor), path.stat()):
                    return
                os.close(self._descriptor)

    def release(self) -> None:
        """Removes the mark; to be called once."""
        with suppress(OSError):
            self._path.unlink(missing_ok=True)
        os.close(self._descriptor)


def is_in_progress(path: Path) -> bool:
    """Returns True if the save with a mark goes on, in this or in another process."""
    try:
        descriptor = os.open(path, os.O_RDWR)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return time.time() - os.fstat(descriptor).st_mtime < _ABANDONED_SECONDS
    finally:
        os.close(descriptor)
    return False
