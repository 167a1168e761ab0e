"""Room for deep recursion of Python functions."""

from __future__ import annotations

import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["deep_recursion"]

_DEEP = 5_000
"""Frames. Converted code takes several where the user's takes one, and a chain of ``elif`` is a nest of branches.
Python 3.11 allows as many that lie on C's stack, of which 8 MiB hold some ten thousand."""

_lock = threading.Lock()
_scopes = 0
_before = 0


@contextmanager
def deep_recursion() -> Generator[None]:
    """Python functions may call each other some thousand deep inside the scope.

    The limit is one for all threads, so it goes back to what it was when the last scope ends.
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
            # A program that set a limit of its own meanwhile keeps it.
            if not _scopes and sys.getrecursionlimit() == max(_before, _DEEP):
                sys.setrecursionlimit(_before)
