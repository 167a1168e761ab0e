"""Which tests a run draws, by its seed; without graphc or JAX, as each worker asks it of all tests."""

from __future__ import annotations

import os
from zlib import crc32

__all__ = ["SEED", "examples", "is_drawn"]

SEED = "GRAPHC_TESTS_SEED"
"""The environment variable that draws which tests run, and which have their programs compiled; ``all`` for all, and so
without it."""


def is_drawn(test: str, one_in: int = 10) -> bool:
    """Tells if a test is among those that a run draws, others for each seed."""
    seed = os.environ.get(SEED, "all")
    return seed == "all" or crc32(f"{seed} {test}".encode()) % one_in == 0


def examples(number: int) -> int:
    """Returns how many examples of ``number`` hypothesis tries in a run: a third, others each time."""
    return number if os.environ.get(SEED, "all") == "all" else -(-number // 3)
