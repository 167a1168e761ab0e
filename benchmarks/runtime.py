"""What the runtime costs that runs a function over several devices, or apart from the host."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import Any

import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Reading, Row, batch

__all__ = ["ROWS"]

_STEP_SECONDS = 60e-6
_HOST_SECONDS = 0.1


def _one_segment(quick: bool) -> Duel:
    """The same function, pinned and not: one segment takes none of the machinery."""
    calls = 10 if quick else 100
    x = gx.asarray(np.random.default_rng(0).normal(size=(64, 64)).astype(np.float32))

    def work(x: gx.Tensor) -> gx.Tensor:
        return gx.tanh(x @ x)

    plain, pinned = gx.function(work), gx.function(work, device="cpu:0")
    return Duel(
        Contender("pinned", batch(pinned, (x,), calls), calls),
        Contender("not pinned", batch(plain, (x,), calls), calls),
        lambda: [(pinned(x), plain(x))],
    )


def _step(quick: bool) -> Reading:
    rounds = 3 if quick else 300

    def read() -> tuple[float, float, str]:
        command = [sys.executable, "-m", "benchmarks.steps", str(rounds)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
        found = json.loads(done.stdout)
        return found["median"] * 1e6, _STEP_SECONDS * 1e6, f"fastest {found['fastest'] * 1e6:.0f} µs"

    return Reading(("a step", "at most"), "µs", read)


def _two_host_calls(quick: bool) -> Duel:
    """Two calls of the host that need not keep an order, against one."""
    seconds = 0.01 if quick else _HOST_SECONDS

    def slow(value: Any) -> Any:
        time.sleep(seconds)
        return value + 1

    kind = gx.TensorSpec((), "float32")

    @gx.function
    def two(x: gx.Tensor) -> gx.Tensor:
        return gx.pyfunc(slow, kind, x, ordered=False) + gx.pyfunc(slow, kind, x * 2, ordered=False)

    x = gx.asarray(1.0)
    return Duel(
        Contender("two host calls", lambda: lambda: two(x).wait()),
        Contender("one, in Python", lambda: lambda: slow(1.0)),
        lambda: [(two(x), np.float32(5))],
    )


ROWS = (
    Row("runtime-one", "a function of one segment", 1.05, _one_segment),
    Row("runtime-step", "each further step over two devices", 1.0, _step, rounds=1),
    Row("runtime-hosts", "two independent host calls of 100 ms", 1.2, _two_host_calls, rounds=10),
)
