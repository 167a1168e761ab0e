"""What a step on two processes costs, and the barrier before it; ``graphc launch`` runs it in both."""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import jax
import numpy as np

import graphc as gx
from benchmarks.sharded import Network, by_hand
from graphc.distribute.processes import current_job

_RNG = np.random.default_rng(0)


def steps(rounds: int, size: int, rows: int) -> dict[str, Any]:
    """Times a step, which waits for its result, against JAX by hand, in turns."""
    weights = [_RNG.normal(size=(size, size)).astype(np.float32) / size**0.5 for _ in range(3)]
    x = _RNG.normal(size=(rows, size)).astype(np.float32)
    compiled, kernels, state, given = by_hand(weights, x, gx.distribute.process_count())
    parallel = gx.distribute.DataParallel()
    times: tuple[list[float], list[float]] = [], []
    with parallel.scope():
        network, batch = Network(weights), parallel.shard(x)
        for place in range(rounds + 3):
            start = time.perf_counter()
            ours = network.step(batch).wait()
            middle = time.perf_counter()
            theirs, kernels, state = compiled(kernels, state, given)
            theirs.block_until_ready()
            jax.block_until_ready(kernels)
            end = time.perf_counter()
            np.testing.assert_allclose(ours.numpy(), theirs, rtol=1e-3)
            if place >= 3:
                times[0].append(middle - start)
                times[1].append(end - middle)
    return {"measured": statistics.median(times[0]), "baseline": statistics.median(times[1])}


def barriers(rounds: int) -> dict[str, Any]:
    """Times a barrier, with as much to compare as before a step."""
    job = current_job()
    assert job is not None
    facts = {"the types of the arguments": "f32[512,512]", "the graph": "0" * 16, "the layout": "0" * 16}
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        job.enter("step 1 ('step')", facts)
        times.append(time.perf_counter() - start)
    return {"measured": statistics.median(times)}


if __name__ == "__main__":
    gx.distribute.initialize()
    quick = sys.argv[2] == "quick"
    if sys.argv[1] == "steps":
        found = steps(3, 32, 32) if quick else steps(100, 512, 512)
    else:
        found = barriers(20 if quick else 1000)
    if gx.distribute.process_index() == 0:
        Path(sys.argv[3]).write_text(json.dumps(found), encoding="utf-8")
