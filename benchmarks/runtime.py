"""What the runtime costs that runs a function over several devices, or apart from the host."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from functools import partial
from typing import Any

import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Reading, Row, batch

__all__ = ["ROWS"]

_STEP_SECONDS = 60e-6
_HOST_SECONDS = 0.1
_OVERLAPS = {
    "inputs": "chains with an input on each",
    "shared": "chains with one input",
    "variable": "chains that read one Variable",
    "producer": "chains that read a result of the first",
    "crossing": "chains that cross",
    "rounds": "a for loop of chains that end together",
    "driven": "a while loop of such chains",
    "gradient": "the gradient of chains with one input",
}


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


def _overlap(case: str, quick: bool) -> Reading:
    size = 50 if quick else 500

    def read() -> tuple[float, float, str]:
        command = [sys.executable, "-m", "benchmarks.overlap", case, str(size)]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300)
        less, both = json.loads(done.stdout)
        return less * 1e3, max(both, 1e-6) * 1e3, f"overlap {both / less:.2f}"

    return Reading(("the device that works less", "while both work"), "ms", read)


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
    *(
        Row(f"runtime-overlap-{case}", f"two devices at once: {what}", 1.25, partial(_overlap, case), rounds=1)
        for case, what in _OVERLAPS.items()
    ),
    Row("runtime-hosts", "two independent host calls of 100 ms", 1.2, _two_host_calls, rounds=10),
)
