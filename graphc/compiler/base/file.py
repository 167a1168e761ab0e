"""File: a file of bytes or UTF-8 text, with TensorFlow's methods (``tf.gfile.GFile``)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import cached_property
from io import BufferedIOBase
from typing import Any, Self

from graphc.compiler.base.errors import InvalidArgumentError, PermissionDeniedError, at
from graphc.compiler.base.files import PathLike, as_path, file_errors, stat
from graphc.compiler.base.frames import user_location

__all__ = ["File"]

_MODES = {f"{letter}{plus}" for letter in "rwa" for plus in ("", "+")}


class File:
    r"""A file, opened at the first read or write; positions and lengths are counted in bytes.

    Args:
      name: the file's path.
      mode: ``"r"``, ``"w"`` (truncate) or ``"a"`` (append), with ``"+"`` for reading and writing, and ``"b"`` for
        bytes.

    Raises:
      InvalidArgumentError: the mode is invalid.

    Example:
      >>> from graphc.compiler.base import File, files
      >>> import os, tempfile
      >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
      >>> with File(path, "w") as file:
      ...     file.write("two\nlines\n")
      >>> list(File(path)), files.exists(path)
      (['two\n', 'lines\n'], True)
    """

    def __init__(self, name: PathLike, mode: str = "r") -> None:
        kind = mode.replace("b", "", 1)
        if kind not in _MODES:
            error = InvalidArgumentError(f"the mode of a file must be 'r', 'w', 'a', 'r+', 'w+' or 'a+', with or "
                                         f"without 'b' for bytes, got {mode!r}")  # fmt: skip
            raise at(error, user_location())
        self.name = os.fspath(name)
        self.mode = mode
        self._kind = kind
        self._is_binary = "b" in mode

    @cached_property
    def _file(self) -> BufferedIOBase:
        with file_errors(self.name):
            return as_path(self.name).open(f"{self._kind}b")  # pyright: ignore[reportReturnType]  it is buffered

    def _text(self, found: bytes) -> Any:
        return found if self._is_binary else found.decode()

    def _check(self, allowed: bool, use: str) -> None:
        if not allowed:
            error = PermissionDeniedError(f"{self.name!r} is open with mode {self.mode!r}, not for {use}")
            raise at(error, user_location())

    def _check_readable(self) -> None:
        self._check("r" in self._kind or "+" in self._kind, "reading")

    def read(self, n: int = -1) -> Any:
        """Returns the rest of the file, or ``n`` bytes of it; text unless the mode has ``"b"``."""
        self._check_readable()
        with file_errors(self.name):
            return self._text(self._file.read(n))

    def readline(self) -> Any:
        r"""Returns the next line, ending in ``"\n"`` even for ``"\r\n"`` in the file; empty at the end of the file."""
        self._check_readable()
        with file_errors(self.name):
            line = self._file.readline()
        return self._text(line[:-2] + b"\n" if line.endswith(b"\r\n") else line)

    def readlines(self) -> list[Any]:
        """Returns the remaining lines."""
        return list(self)

    def write(self, file_content: str | bytes) -> None:
        """Writes text (as UTF-8) or bytes."""
        self._check(self._kind != "r", "writing")
        with file_errors(self.name):
            self._file.write(file_content.encode() if isinstance(file_content, str) else file_content)

    def seek(self, offset: int, whence: int = 0) -> None:
        """Moves to a position.

        Args:
          offset: the offset in bytes.
          whence: 0 for an offset from the start, 1 from the current position, 2 from the end.
        """
        if whence not in (0, 1, 2):
            error = InvalidArgumentError(f"whence must be 0 (start), 1 (here) or 2 (end), got {whence!r}")
            raise at(error, user_location())
        with file_errors(self.name):
            self._file.seek(offset, whence)

    def tell(self) -> int:
        """Returns the position in bytes."""
        return self._file.tell()

    def seekable(self) -> bool:
        """Returns True: files have positions."""
        return True

    def size(self) -> int:
        """Returns the size of the file in bytes."""
        self.flush()
        return stat(self.name).length

    def flush(self) -> None:
        """Passes written data to the operating system."""
        if "_file" in vars(self):
            with file_errors(self.name):
                self._file.flush()

    def close(self) -> None:
        """Closes the file; a later read opens it again from its start."""
        opened = vars(self).pop("_file", None)
        if opened is not None:
            with file_errors(self.name):
                opened.close()

    def __iter__(self) -> Iterator[Any]:
        while line := self.readline():
            yield line

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def __del__(self) -> None:
        opened = vars(self).pop("_file", None)
        if opened is not None:
            opened.close()

    def __repr__(self) -> str:
        return f"<File {self.name!r}, mode {self.mode!r}>"
