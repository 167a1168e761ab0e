"""Saved functions: a call of one that was loaded, and the first call in a process whose programs are on disk."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

import graphc as gx
from benchmarks.harness import Contender, Duel, Reading, Row, batch

__all__ = ["ROWS"]

_FIRST_CALL = """
import sys, time
import graphc as gx

saved, x = gx.load(sys.argv[1]), gx.ones((int(sys.argv[2]), 64)).wait()
start = time.perf_counter()
saved(x).wait()
print(time.perf_counter() - start)
"""


def _model(width: int, depth: int) -> Any:
    layers = [gx.layers.Dense(width, "relu") for _ in range(depth)]
    model = gx.layers.Sequential([*layers, gx.layers.Dense(10)])
    model(gx.ones((1, 64)))
    return model


def _call(quick: bool) -> Duel:
    model, x = _model(32, 2), gx.ones((4 if quick else 64, 64))
    folder = tempfile.mkdtemp(prefix="graphc-bench-")
    gx.save(model, folder, gx.TensorSpec((None, 64)))
    loaded, compiled = gx.load(folder)["__call__"], gx.function(model)

    def check() -> Iterator[tuple[Any, Any]]:
        yield loaded(x), compiled(x)

    count = 2 if quick else 20

    def side(label: str, f: Any) -> Contender:
        return Contender(label, batch(f, (x,), count), count)

    return Duel(side("loaded", loaded), side("compiled from its source", compiled), check)


def _first_call(quick: bool) -> Reading:
    folder, cache = (tempfile.mkdtemp(prefix="graphc-bench-") for _ in range(2))
    gx.save(_model(32, 2) if quick else _model(512, 12), folder, gx.TensorSpec((None, 64)))

    def seconds(setting: str) -> float:
        environment = {name: value for name, value in os.environ.items() if not name.startswith("JAX_COMPILATION")}
        environment |= {"GRAPHC_COMPILATION_CACHE": setting, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
        command = [sys.executable, "-c", _FIRST_CALL, folder, "8"]
        done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300, env=environment)
        return float(done.stdout)

    def read() -> tuple[float, float, str]:
        first = seconds(cache)
        pairs = [(seconds(cache), seconds("0")) for _ in range(1 if quick else 5)]
        warm, cold = (sorted(times)[len(times) // 2] for times in zip(*pairs, strict=True))
        return warm * 1e3, cold * 1e3, f"the call that fills the cache takes {first * 1e3:.0f} ms"

    return Reading(("programs on disk", "compiled anew"), "ms", read)


ROWS = (
    Row("saved-call", "call of a function that was loaded", 1.1, _call),
    Row("saved-first-call", "first call in a new process, 12 layers", 0.7, _first_call, rounds=1),
)
