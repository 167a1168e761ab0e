"""Several devices in the replica view: a step against JAX by hand; and gradients in micro-batches against one batch."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.harness import Reading, Row

__all__ = ["ROWS"]


def _found(what: str, quick: bool) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.replicated", what, "quick" if quick else "full"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout)


def _row(what: str, sides: tuple[str, str], unit: str, scale: float, note: str) -> Callable[[bool], Reading]:
    def reading(quick: bool) -> Reading:
        def read() -> tuple[float, float, str]:
            found = _found(what, quick)
            return found["measured"] * scale, found["baseline"] * scale, note

        return Reading(sides, unit, read)

    return reading


_PARTS = ("4 micro-batches", "one batch")
ROWS = (
    Row("replica-step", "a step on 4 simulated devices", 1.1,
        _row("steps", ("graphc, 4 devices", "jit of shard_map"), "ms", 1e3, "three layers of 512, batch 512, Adam"),
        rounds=1),
    Row("accumulate", "gradients in micro-batches", 1.1,
        _row("accumulate", _PARTS, "ms", 1e3, "three layers of 256, 8192 rows, Adam"), rounds=1),
    Row("accumulate-memory", "activations of micro-batches", 0.35,
        _row("memory", _PARTS, "KiB", 1 / 1024, "with the gradients and their sums"), rounds=1),
)  # fmt: skip
