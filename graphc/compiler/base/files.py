"""Functions on files and folders with TensorFlow's names (``tf.gfile``), over pathlib and with graphc's errors."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from glob import glob as matches
from io import BufferedIOBase
from pathlib import Path
from typing import Any, Self

from graphc.compiler.base.errors import (
    AlreadyExistsError,
    FileMissingError,
    FileStateError,
    GraphcError,
    InvalidArgumentError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)

PathLike = str | bytes | os.PathLike[str]

_SCHEME = re.compile(r"(\w[\w+.-]*)://")


@dataclass(frozen=True)
class FileStatistics:
    """The file system's information about a file."""

    length: int  # in bytes
    mtime_nsec: int  # the time of the last change, since 1970
    is_directory: bool


def as_path(path: PathLike) -> Path:
    """Returns a path, which may be UTF-8 bytes or have the prefix ``file://``, as a ``pathlib.Path``."""
    text = os.fsdecode(path)
    scheme = _SCHEME.match(text)
    if scheme is None:
        return Path(text)
    if scheme[1] == "file":
        return Path(text[len(scheme[0]) :])
    raise UnimplementedError(
        f"{text}: graphc reads and writes only local files; mount the {scheme[1]}:// location, or copy it "
        "with its own library"
    ).here()


@contextmanager
def file_errors(path: object) -> Generator[None]:
    """Converts errors of the operating system inside the scope to graphc's, which are also of their classes."""
    try:
        yield
    except GraphcError as error:
        error.here()
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise _kind(error)(f"{path}: {reason}").here() from error


def _kind(error: OSError) -> type[GraphcError]:
    if isinstance(error, FileNotFoundError):
        return FileMissingError
    if isinstance(error, FileExistsError):
        return AlreadyExistsError
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return PermissionDeniedError
    if isinstance(error, IsADirectoryError | NotADirectoryError) or error.errno == errno.ENOTEMPTY:
        return FileStateError
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE):
        return ResourceExhaustedError
    return UnknownError


def exists(path: PathLike) -> bool:
    """Returns True if a file or folder of this name exists."""
    return os.fsdecode(path) != "" and as_path(path).exists()


def is_directory(path: PathLike) -> bool:
    """Returns True if a folder of this name exists."""
    return exists(path) and as_path(path).is_dir()


def glob(pattern: PathLike | Sequence[PathLike]) -> list[str]:
    """Returns the names that match patterns (``*``, ``?`` and ``[ab]`` within a path component), sorted for each."""
    patterns = [pattern] if isinstance(pattern, str | bytes | os.PathLike) else pattern
    return [name for one in patterns for name in sorted(matches(str(as_path(one)), include_hidden=True))]


def list_directory(path: PathLike) -> list[str]:
    """Returns the names in a folder, sorted, without ``.`` and ``..``."""
    directory = as_path(path)
    if not directory.is_dir():
        raise FileMissingError(f"{directory}: there is no such folder").here()
    with file_errors(directory):
        return sorted(entry.name for entry in directory.iterdir())


def make_directory(path: PathLike) -> None:
    """Makes a folder in an existing one, unless it exists."""
    with file_errors(path):
        as_path(path).mkdir(exist_ok=True)


def make_directories(path: PathLike) -> None:
    """Makes a folder and its missing parent folders."""
    with file_errors(path):
        as_path(path).mkdir(parents=True, exist_ok=True)


def remove(path: PathLike) -> None:
    """Removes a file."""
    target = as_path(path)
    with file_errors(target):
        if target.is_dir() and not target.is_symlink():
            raise FileStateError(f"{target} is a folder; remove_tree (tf.gfile.DeleteRecursively) removes it")
        target.unlink()


def remove_tree(path: PathLike) -> None:
    """Removes a file, or a folder with its contents."""
    target = as_path(path)
    with file_errors(target):
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)
        else:
            target.unlink()


def copy(source: PathLike, target: PathLike, overwrite: bool = False) -> None:
    """Copies the contents of a file."""
    with file_errors(source):
        _check_free(target, overwrite)
        shutil.copyfile(as_path(source), as_path(target))


def rename(source: PathLike, target: PathLike, overwrite: bool = False) -> None:
    """Renames a file or folder atomically."""
    with file_errors(source):
        _check_free(target, overwrite)
        as_path(source).replace(as_path(target))


def _check_free(target: PathLike, overwrite: bool) -> None:
    if not overwrite and exists(target):
        raise AlreadyExistsError(f"{os.fsdecode(target)} exists already; overwrite=True replaces it").here()


def stat(path: PathLike) -> FileStatistics:
    """Returns the size and time of a file."""
    target = as_path(path)
    with file_errors(target):
        status = target.stat()
    return FileStatistics(status.st_size, status.st_mtime_ns, target.is_dir())


def walk(top: PathLike, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields each folder below one, with the sorted names of its folders and files; nothing if there is none."""
    root = str(as_path(top))
    for folder, folders, names in os.walk(root, topdown=in_order):
        folders.sort()
        yield folder, folders, sorted(names)


# File: a file of bytes or UTF-8 text, with TensorFlow's methods (``tf.gfile.GFile``).

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
            raise error.here()
        self.name = os.fspath(name)
        self.mode = mode
        self._kind = kind
        self._is_binary = "b" in mode

    @cached_property
    def _file(self) -> BufferedIOBase:
        with file_errors(self.name):
            return as_path(self.name).open(f"{self._kind}b")  # pyright: ignore[reportReturnType]  it is buffered

    def _text(self, data: bytes) -> Any:
        return data if self._is_binary else data.decode()

    def _check(self, allowed: bool, use: str) -> None:
        if not allowed:
            raise PermissionDeniedError(f"{self.name!r} is open with mode {self.mode!r}, not for {use}").here()

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
            raise InvalidArgumentError(f"whence must be 0 (start), 1 (here) or 2 (end), got {whence!r}").here()
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
