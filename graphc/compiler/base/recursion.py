"""Room for deep recursion of Python functions."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["deep_recursion"]

_DEEP = 5_000
"""Number of frames. Converted code takes several frames per user frame, and a chain of ``elif`` becomes nested
branches. Python 3.11 allows as many on the C stack, where 8 MiB hold some ten thousand."""

_lock = threading.Lock()
_scopes = 0
_before = 0


@contextmanager
def deep_recursion() -> Generator[None]:
    """Allows Python functions to recurse some thousand deep inside the scope.

    The limit applies to all threads, and is restored when the last scope ends.
    """
    global _scopes, _before
    with _lock:
        if not _scopes:
            _before = sys.getrecursionlimit()
            sys.setrecursionlimit(max(_before, _DEEP))
        _scopes += 1
    try:
        yield
    finally:
        with _lock:
            _scopes -= 1
            # Keep a limit that the program set meanwhile.
            if not _scopes and sys.getrecursionlimit() == max(_before, _DEEP):
                sys.setrecursionlimit(_before)
