"""``graphc cache``: the compiled programs that are kept for the next process."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table

from graphc.compiler.base import config
from graphc.compiler.base.errors import NotFoundError
from graphc.compiler.runtime.costs import format_bytes, format_seconds

_PROGRAM, _USED = "-cache", "-atime"
_HASH = 64
"""Number of letters of an entry's name that identify its content."""
_NAME = re.compile(rf".+-[0-9a-f]{{{_HASH}}}{_PROGRAM}")
"""Pattern of JAX's file names for programs; other files in the folder are neither listed nor removed."""


@dataclass(frozen=True)
class CachedProgram:
    """A compiled program."""

    program: str
    path: Path
    size: int
    used: float

    def remove(self) -> None:
        """Removes it."""
        for path in (self.path, self.path.with_name(self.path.name.removesuffix(_PROGRAM) + _USED)):
            with suppress(FileNotFoundError):
                path.unlink()


def entries(folder: Path) -> Sequence[CachedProgram]:
    """Returns the compiled programs of a cache, the one that was used last first."""
    programs: list[CachedProgram] = []
    now = time.time()
    for path in (*folder.glob(f"*{_PROGRAM}"), *folder.glob(f"*/*{_PROGRAM}")):  # each kind of machine has a folder
        if not _NAME.fullmatch(path.name) or not path.is_file():
            continue
        with suppress(FileNotFoundError):  # another process may clear it
            about = path.stat()
            used = path.with_name(path.name.removesuffix(_PROGRAM) + _USED)
            last = used.stat().st_mtime if used.exists() else about.st_mtime
            name = path.name.removesuffix(_PROGRAM)[: -_HASH - 1].removeprefix("jit_")
            programs.append(
                CachedProgram(name or path.name, path, about.st_size, max(0.0, now - max(last, about.st_mtime)))
            )
    return sorted(programs, key=lambda entry: entry.used)


def _folder(folder: Path | None) -> Path:
    """Returns the folder of the cache: that which is given, or which a setting names."""
    if folder is not None:
        return folder
    if config.compilation_cache is None:
        raise NotFoundError(
            "no cache is on: set GRAPHC_COMPILATION_CACHE=1, or to a folder, or gx.config.compilation_cache in "
            "programs; --folder looks at one"
        )
    return Path(os.fspath(config.compilation_cache))


def list_cache(chosen: Path | None, console: Console) -> None:
    """Prints the compiled programs of a cache."""
    folder = _folder(chosen)
    programs = entries(folder)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("program", overflow="fold")
    table.add_column("size", justify="right")
    table.add_column("last used", justify="right")
    for entry in programs:
        table.add_row(entry.program, format_bytes(entry.size), f"{format_seconds(entry.used)} ago")
    if programs:
        console.print(table)
    total = format_bytes(sum(entry.size for entry in programs))
    console.print(f"{len(programs)} programs, {total}, in {folder}", highlight=False, soft_wrap=True)


def clear_cache(chosen: Path | None, console: Console) -> None:
    """Removes the compiled programs of a cache; arguments as for :func:`list_cache`."""
    folder = _folder(chosen)
    programs = entries(folder)
    for entry in programs:
        entry.remove()
    total = format_bytes(sum(entry.size for entry in programs))
    console.print(f"removed {len(programs)} programs, {total}, from {folder}", highlight=False, soft_wrap=True)
