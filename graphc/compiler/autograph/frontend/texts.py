"""Finds the text of a program: in a file, in a notebook cell, on the command line, or in typed input.

A text that is found is only a candidate: whoever asks compares what it compiles to with the code that runs.
"""

from __future__ import annotations

import linecache
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import CodeType
from typing import Any, cast

__all__ = ["texts_of"]

_TYPED = 2_000
"""A typed definition is searched for in this many last lines."""
_BEGINS = re.compile(r"\s*(@|def\b|async\b|class\b)|.*\blambda\b")


def texts_of(code: CodeType, names: Mapping[str, object]) -> Iterator[list[str]]:
    """Yields the texts that may hold the source of some code, each as lines."""
    lines = linecache.getlines(code.co_filename, cast("dict[str, Any]", names))
    if lines:
        yield lines
        linecache.checkcache(code.co_filename)  # a module that was reloaded: Python keeps the text of the file before
        again = linecache.getlines(code.co_filename, cast("dict[str, Any]", names))
        if again and again != lines:
            yield again
        return
    if code.co_filename == "<string>":
        yield from _command_line()
    elif code.co_filename == "<stdin>":
        yield from _standard_input()
    if code.co_filename in ("<stdin>", "<console>"):
        yield from _typed(code.co_firstlineno)


def _command_line() -> Iterator[list[str]]:
    """Yields the program of ``python -c``; Python 3.13 and later keep it in ``linecache``."""
    if sys.argv[:1] == ["-c"]:
        text = sys.orig_argv[-len(sys.argv)]
        yield text.splitlines(keepends=True)
        yield re.sub(r"^-\w*?c", "", text).splitlines(keepends=True)  # as in `python -c"print()"`


def _standard_input() -> Iterator[list[str]]:
    """Yields the program that was given as a file to be read from standard input; what came by a pipe is gone."""
    try:
        status = os.fstat(0)
        if stat.S_ISREG(status.st_mode):
            yield os.pread(0, status.st_size, 0).decode(errors="replace").splitlines(keepends=True)
    except OSError:
        return


def _typed(first: int) -> Iterator[list[str]]:
    """Yields what was typed into an interactive interpreter, by readline's history, the latest first.

    Args:
      first: the line, of the statement that was typed, on which the definition begins.
    """
    readline: Any = sys.modules.get("readline")
    if readline is None:
        return
    item: Callable[[int], str | None] = readline.get_history_item
    count = cast("int", readline.get_current_history_length())
    entries = [item(place) or "" for place in range(max(1, count - _TYPED), count + 1)]
    lines = [f"{line}\n" for entry in entries for line in entry.split("\n")]
    for start in range(len(lines) - 1, -1, -1):
        if _BEGINS.match(lines[start]) and start >= first - 1 and not lines[start - 1].lstrip().startswith("@"):
            statement = lines[start - first + 1 :]
            yield statement[: first + _length(statement[first:])]


def _length(lines: Sequence[str]) -> int:
    """Returns how many lines continue the statement that begins before them."""
    for place, line in enumerate(lines):
        if not line[:1].isspace() and not _BEGINS.match(line) and line[:1] not in ")]}":
            return place
    return len(lines)
