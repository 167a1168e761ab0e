"""Python's garbage collector, out of the way."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager

__all__ = ["collection_paused"]


@contextmanager
def collection_paused() -> Generator[None]:
    """No cyclic garbage is collected inside the scope.

    A trace makes many small objects that all live: a collection finds nothing, and looks at all of them each time, so
    that tracing 50,000 ops cost 1.3 times as much an op as tracing 4,000; with the collector paused it costs the same.
    """
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
