"""Files and folders by TensorFlow's functions (``tf.gfile``), over pathlib, with graphc's errors."""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from glob import glob as matches
from pathlib import Path

from graphc.base.errors import (
    AlreadyExistsError,
    FileMissingError,
    FileStateError,
    GraphcError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
    at,
)
from graphc.base.frames import user_location

__all__ = [
    "FileStatistics",
    "PathLike",
    "as_path",
    "copy",
    "exists",
    "file_errors",
    "glob",
    "is_directory",
    "list_directory",
    "make_directories",
    "make_directory",
    "remove",
    "remove_tree",
    "rename",
    "stat",
    "walk",
]

PathLike = str | bytes | os.PathLike[str]

_SCHEME = re.compile(r"(\w[\w+.-]*)://")


@dataclass(frozen=True)
class FileStatistics:
    """What the file system says of a file.

    Attributes:
      length: its size in bytes.
      mtime_nsec: when it was changed last, in nanoseconds since 1970.
      is_directory: whether it is a folder.
    """

    length: int
    mtime_nsec: int
    is_directory: bool


def as_path(path: PathLike) -> Path:
    """Returns a path as pathlib has it.

    Args:
      path: text, UTF-8, or a path; ``file://`` may stand before it.

    Raises:
      UnimplementedError: it lies on something that is no file system of this machine.
    """
    text = os.fsdecode(path)
    scheme = _SCHEME.match(text)
    if scheme is None:
        return Path(text)
    if scheme[1] == "file":
        return Path(text[len(scheme[0]) :])
    error = UnimplementedError(
        f"{text}: graphc reads and writes files of this machine; mount what {scheme[1]}:// names, or copy it "
        "with its own library"
    )
    raise at(error, user_location())


@contextmanager
def file_errors(path: object) -> Generator[None]:
    """Turns the errors of the operating system inside the scope into graphc's, which are theirs too.

    Args:
      path: what the message names.
    """
    try:
        yield
    except GraphcError as error:
        at(error, user_location())
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        raise at(_kind(error)(f"{path}: {reason}"), user_location()) from error


def _kind(error: OSError) -> type[GraphcError]:
    if isinstance(error, FileNotFoundError):
        return FileMissingError
    if isinstance(error, FileExistsError):
        return AlreadyExistsError
    if isinstance(error, PermissionError):
        return PermissionDeniedError
    if isinstance(error, IsADirectoryError | NotADirectoryError) or error.errno == errno.ENOTEMPTY:
        return FileStateError
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE):
        return ResourceExhaustedError
    return UnknownError


def exists(path: PathLike) -> bool:
    """Returns True if there is a file or folder of that name."""
    return os.fsdecode(path) != "" and as_path(path).exists()


def is_directory(path: PathLike) -> bool:
    """Returns True if there is a folder of that name."""
    return exists(path) and as_path(path).is_dir()


def glob(pattern: PathLike | Sequence[PathLike]) -> list[str]:
    """Returns the names that match a pattern, or one of several; those of one pattern are sorted.

    Args:
      pattern: ``*`` and ``?`` stand for characters of one part of the path, ``[ab]`` for one of several.
    """
    patterns = [pattern] if isinstance(pattern, str | bytes | os.PathLike) else pattern
    return [name for one in patterns for name in sorted(matches(str(as_path(one)), include_hidden=True))]


def list_directory(path: PathLike) -> list[str]:
    """Returns the names in a folder, sorted, without ``.`` and ``..``.

    Raises:
      NotFoundError: there is no such folder.
    """
    place = as_path(path)
    if not place.is_dir():
        raise at(FileMissingError(f"{place}: there is no such folder"), user_location())
    with file_errors(place):
        return sorted(entry.name for entry in place.iterdir())


def make_directory(path: PathLike) -> None:
    """Makes a folder, if it is not there.

    Raises:
      NotFoundError: the folder that it should lie in is not there.
    """
    with file_errors(path):
        as_path(path).mkdir(exist_ok=True)


def make_directories(path: PathLike) -> None:
    """Makes a folder and those that it lies in, as far as they are not there."""
    with file_errors(path):
        as_path(path).mkdir(parents=True, exist_ok=True)


def remove(path: PathLike) -> None:
    """Removes a file.

    Raises:
      NotFoundError: it is not there.
      FailedPreconditionError: it is a folder.
    """
    place = as_path(path)
    with file_errors(place):
        if place.is_dir() and not place.is_symlink():
            raise FileStateError(f"{place} is a folder; remove_tree (tf.gfile.DeleteRecursively) removes it")
        place.unlink()


def remove_tree(path: PathLike) -> None:
    """Removes a folder and all that it holds, or a file.

    Raises:
      NotFoundError: it is not there.
    """
    place = as_path(path)
    with file_errors(place):
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink()


def copy(source: PathLike, target: PathLike, overwrite: bool = False) -> None:
    """Copies the contents of a file.

    Args:
      source: the file.
      target: the name of the copy.
      overwrite: whether a file of that name may be replaced.

    Raises:
      NotFoundError: there is no such file.
      AlreadyExistsError: the copy is there, and may not be replaced.
    """
    with file_errors(source):
        _check_free(target, overwrite)
        shutil.copyfile(as_path(source), as_path(target))


def rename(source: PathLike, target: PathLike, overwrite: bool = False) -> None:
    """Gives a file or folder another name, at once for all who look.

    Args:
      source: its name now.
      target: its new name.
      overwrite: whether a file of that name may be replaced.

    Raises:
      NotFoundError: there is no such file.
      AlreadyExistsError: a file has the new name, and may not be replaced.
    """
    with file_errors(source):
        _check_free(target, overwrite)
        as_path(source).replace(as_path(target))


def _check_free(target: PathLike, overwrite: bool) -> None:
    if not overwrite and exists(target):
        error = AlreadyExistsError(f"{os.fsdecode(target)} exists already; overwrite=True replaces it")
        raise at(error, user_location())


def stat(path: PathLike) -> FileStatistics:
    """Returns size and time of a file.

    Raises:
      NotFoundError: it is not there.
    """
    place = as_path(path)
    with file_errors(place):
        found = place.stat()
    return FileStatistics(found.st_size, found.st_mtime_ns, place.is_dir())


def walk(top: PathLike, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yields each folder below one, with the sorted names of the folders and files in it; nothing if it is not there.

    Args:
      top: where to begin.
      in_order: whether a folder comes before those in it.
    """
    place = str(as_path(top))
    for folder, folders, names in os.walk(place, topdown=in_order):
        folders.sort()
        yield folder, folders, sorted(names)
