"""Where the operations go that TensorFlow 1's functions make."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

__all__ = ["making"]


@contextmanager
def making(name: str) -> Generator[Callable[[Any], Any]]:
    """Does nothing yet."""
    del name
    yield lambda result: result
