"""What a step on two processes costs, and the barrier before it; ``graphc launch`` runs it in both."""

from __future__ import annotations

import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import graphc as gx
from benchmarks.sharded import in_turns
from graphc.training.distribute.processes import current_job


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
        parallel = gx.distribute.DataParallel()
        found = in_turns(parallel, 3, 32, 32) if quick else in_turns(parallel, 100, 512, 512)
    else:
        found = barriers(20 if quick else 1000)
    if gx.distribute.process_index() == 0:
        Path(sys.argv[3]).write_text(json.dumps(found), encoding="utf-8")
