"""Listing of files that match patterns."""

from __future__ import annotations

import os
from typing import Any

from graphc.compiler.base import at, files, user_location
from graphc.compiler.base.errors import FileMissingError
from graphc.training.data.sources.chunks import file_names

__all__ = ["matching_files"]


def matching_files(patterns: Any, use: str) -> list[bytes]:
    """Returns the names of the files that match one of several patterns, in order.

    Args:
      patterns: a pattern with ``*``, ``?`` and ``[...]``, or a list of patterns.
      use: the name of the calling function, for messages.

    Raises:
      FileMissingError: no files match.
    """
    wanted = [os.fsdecode(name) for name in file_names(patterns, use)]
    found = sorted({name for pattern in wanted for name in files.glob(pattern)})
    if not found:
        raise at(FileMissingError(f"{use}: no files match {', '.join(map(repr, wanted))}"), user_location())
    return [os.fsencode(name) for name in found]
