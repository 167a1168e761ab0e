"""A checkpoint of 1 GB that is written while training goes on: how long training stands still for it.

The first save is not counted: the memory that it copies to is new, and is used again by those after it.
"""

from __future__ import annotations

import shutil
import tempfile
import time

import jax
import numpy as np

import graphc as gx
from benchmarks.harness import Reading, Row

__all__ = ["ROWS"]

_ARRAYS = 16


def _pause(quick: bool) -> Reading:
    size, saves = (64, 2) if quick else (4096, 6)

    def read() -> tuple[float, float, str]:
        folder = tempfile.mkdtemp(prefix="graphc-bench-")
        weights = [gx.Variable(np.full((size, size), place, np.float32)) for place in range(_ARRAYS)]

        @gx.function
        def step() -> None:
            for weight in weights:
                weight.assign(weight * 0.999)

        def seconds() -> float:
            start = time.perf_counter()
            step()
            jax.block_until_ready([weight.raw for weight in weights])
            return time.perf_counter() - start

        step()
        alone = float(np.median([seconds() for _ in range(10)]))
        checkpoint = gx.train.Checkpoint(folder, keep=1, weights=weights)
        pauses, writings, beside = list[float](), list[float](), list[float]()
        for _ in range(saves):
            start = time.perf_counter()
            checkpoint.save()
            pauses.append(time.perf_counter() - start)
            beside += [seconds() for _ in range(5)]
            checkpoint.wait()
            writings.append(time.perf_counter() - start)
        shutil.rmtree(folder)
        pause, writing = (float(np.median(times[1:])) * 1e3 for times in (pauses, writings))
        return pause, writing, f"steps take {np.median(beside) / alone:.2f} of their time while a thread writes"

    return Reading(("save()", "until it is on the disk"), "ms", read)


ROWS = (Row("checkpoint-pause", "checkpoint of 1 GB: training stands still", 0.05, _pause, rounds=1),)
