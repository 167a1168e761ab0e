"""Whether eager calls leave anything behind: memory and objects after a million of them, against before."""

from __future__ import annotations

import gc
import itertools
import resource
from pathlib import Path

import graphc as gx
from benchmarks.harness import Reading, Row

__all__ = ["ROWS"]

_STATM = Path("/proc/self/statm")


def _resident() -> float:
    """The memory in use, in KiB; where the system does not tell, the most that has been."""
    if _STATM.exists():
        return int(_STATM.read_text().split()[1]) * resource.getpagesize() / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _million(quick: bool) -> Reading:
    calls = 1_000 if quick else 1_000_000
    x, w = gx.ones((4, 4)), gx.full((4, 4), 0.5)

    def run(count: int) -> None:
        y = x
        for _ in itertools.repeat(None, count // 4):
            y = gx.sum(gx.maximum(y * w, 0.0), axis=0, keepdims=True) + x
        y.wait()

    def state() -> tuple[float, int]:
        gc.collect()
        return _resident(), len(gc.get_objects())

    def read() -> tuple[float, float, str]:
        run(calls // 20)  # until the allocators have what they need
        memory, objects = state()
        run(calls)
        after, held = state()
        return after, memory, f"{after - memory:+.0f} KiB, {held - objects:+d} objects"

    return Reading(("after", "before"), "KiB", read)


ROWS = (Row("eager-memory", "memory after a million eager calls", 1.01, _million, rounds=1),)
