"""Files that readers open: with the errors of this package, and unpacked while they are read."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from graphc.compiler.base import at, files, user_location
from graphc.compiler.base.errors import DataLossError, InvalidArgumentError

__all__ = ["COMPRESSIONS", "checked_compression", "open_file", "reading", "skip_to"]

COMPRESSIONS = ("", "GZIP", "ZLIB")
"""The compressions of files; empty for none."""

_CHUNK = 1 << 16
"""Number of bytes of a compressed file to read at once."""


def checked_compression(given: Any, use: str) -> str:
    """Returns the name of a compression as this package has it.

    Args:
      given: the name in any case, or None or ``"NONE"`` for none.
      use: what it is given to, for messages.

    Raises:
      InvalidArgumentError: there is no such compression.
    """
    name = "" if given is None else str(given).upper()
    name = "" if name == "NONE" else name
    if name not in COMPRESSIONS:
        error = InvalidArgumentError(f"{use}: expected 'GZIP', 'ZLIB', or '' for no compression, got {given!r:.40}")
        raise at(error, user_location())
    return name


def open_file(name: bytes, compression: str = "") -> BinaryIO:
    """Opens a file to read its bytes, unpacked.

    Args:
      name: the path, as the system has it.
      compression: one of ``COMPRESSIONS``.

    Raises:
      NotFoundError: there is no such file.
      FailedPreconditionError: it is a folder.
      PermissionDeniedError: it may not be read.
    """
    path = os.fsdecode(name)
    with files.file_errors(path):
        file = gzip.open(path, "rb") if compression == "GZIP" else open(path, "rb")  # noqa: SIM115  the caller closes it
    binary = cast("BinaryIO", file)
    return io.BufferedReader(_Inflated(binary)) if compression == "ZLIB" else binary


@contextmanager
def reading(name: bytes) -> Generator[None]:
    """Says of a packed file that cannot be unpacked that its data is lost."""
    try:
        yield
    except (zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise DataLossError(f"{os.fsdecode(name)!r} cannot be unpacked: {error}") from None


def skip_to(file: BinaryIO, offset: int, start: int = 0) -> None:
    """Goes forward to a byte of a file, by reading where the file has no other way.

    Args:
      file: the file.
      offset: where to go.
      start: where it is.
    """
    if file.seekable():
        file.seek(offset)
        return
    offset -= start
    while offset > 0:
        skipped = len(file.read(min(offset, _CHUNK)))
        if not skipped:
            return
        offset -= skipped


class _Inflated(io.RawIOBase):
    """The bytes of a file that zlib has packed."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._inflate = zlib.decompressobj()

    def readable(self) -> bool:
        """Returns True."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """Unpacks as much as fits into a buffer; returns how many bytes that were."""
        while not self._inflate.eof:
            packed = self._inflate.unconsumed_tail or self._file.read(_CHUNK)
            found = self._inflate.decompress(packed, len(buffer))
            if found:
                buffer[: len(found)] = found
                return len(found)
            if not packed:
                raise EOFError("it ends in the middle of the data")
        return 0

    def close(self) -> None:
        """Closes the file."""
        self._file.close()
        super().close()
