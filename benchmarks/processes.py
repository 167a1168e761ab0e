"""Two processes on this machine: a step against JAX by hand, and the barrier before each step."""

from __future__ import annotations

import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

from benchmarks.harness import Reading, Row
from graphc.training.distribute import launch

__all__ = ["ROWS"]

_LIMIT = 0.5
"""Milliseconds that a barrier may take."""
_PROGRAM = Path(__file__).with_name("two_processes.py")


def _found(what: str, quick: bool) -> dict[str, Any]:
    paths = os.pathsep.join([str(_PROGRAM.parent.parent), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as folder, patch.dict(os.environ, PYTHONPATH=paths):
        file, said = Path(folder) / "found.json", io.StringIO()
        command = [str(_PROGRAM), what, "quick" if quick else "full", str(file)]
        if launch(command, 2, timeout=60, out=said, err=said):
            raise RuntimeError(said.getvalue())
        return json.loads(file.read_text(encoding="utf-8"))


def _step(quick: bool) -> Reading:
    def read() -> tuple[float, float, str]:
        found = _found("steps", quick)
        return found["measured"] * 1e3, found["baseline"] * 1e3, "three layers of 512, batch 512, Adam, its barrier"

    return Reading(("graphc, 2 processes", "jax.distributed by hand"), "ms", read)


def _barrier(quick: bool) -> Reading:
    def read() -> tuple[float, float, str]:
        found = _found("barriers", quick)
        return found["measured"] * 1e3, _LIMIT, f"{found['measured'] * 1e6:.0f} µs"

    return Reading(("a barrier", "at most"), "ms", read)


ROWS = (
    Row("processes-step", "a step on 2 processes", 1.1, _step, rounds=1),
    Row("processes-barrier", "what 2 processes agree on before a step", 1.0, _barrier, rounds=1),
)
