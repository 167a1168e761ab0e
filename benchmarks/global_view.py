"""Several devices in the global view: a step against JAX by hand, and the memory of parameters that are split."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

from benchmarks.harness import Reading, Row

__all__ = ["ROWS", "from_process"]


def from_process(what: str, quick: bool) -> dict[str, Any]:
    """Measures something in a process that has simulated devices."""
    command = [sys.executable, "-m", "benchmarks.sharded", what, "quick" if quick else "full"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
    return json.loads(done.stdout)


def _step(quick: bool) -> Reading:
    def read() -> tuple[float, float, str]:
        found = from_process("steps", quick)
        return found["measured"] * 1e3, found["baseline"] * 1e3, "three layers of 512, batch 512, Adam"

    return Reading(("graphc, 4 devices", "jit over sharded arrays"), "ms", read)


def _memory(quick: bool) -> Reading:
    def read() -> tuple[float, float, str]:
        found = from_process("memory", quick)
        allowed = found["one"] / 8 + found["layer"]
        note = f"one device needs {found['one'] / 1024:.0f} KiB; parameters and moments are {found['held'] / 1024:.0f}"
        return found["needed"] / 1024, allowed / 1024, note

    return Reading(("a device of 8", "1/8 of one, and a layer"), "KiB", read)


ROWS = (
    Row("global-step", "a step on 4 simulated devices", 1.1, _step, rounds=1),
    Row("fsdp-memory", "a step over split parameters", 1.0, _memory, rounds=1),
)
