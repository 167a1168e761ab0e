"""Settings of the Python interpreter that graphc changes for a while: recursion and garbage collection."""

from __future__ import annotations

import gc
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["collect_since", "collection_paused", "collections_so_far", "deep_recursion"]

# Room for deep recursion of Python functions.

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


# Control of Python's garbage collector.


@contextmanager
def collection_paused() -> Generator[None]:
    """Pauses the collection of cyclic garbage inside the scope.

    A trace makes many small objects that all stay alive: each collection inspects all of them and finds nothing, so
    that tracing 50,000 ops cost 1.3 times as much per op as tracing 4,000; with the collector paused it costs the same.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def collections_so_far() -> int:
    """Returns the number of garbage collections so far."""
    return sum(generation["collections"] for generation in gc.get_stats())


def collect_since(collections: int) -> None:
    """Collects garbage made since ``collections_so_far()`` returned ``collections``, with the collector paused since.

    All of it is still in the youngest generation, so that only this one is collected: a full collection takes a tenth
    of a second once JAX is loaded.
    """
    if gc.isenabled() or collections_so_far() != collections:
        gc.collect()
    else:
        gc.collect(0)
