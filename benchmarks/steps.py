"""What each further step of a program over two simulated devices costs; a process of its own, which has two devices."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from typing import Any

os.environ["GRAPHC_CPU_DEVICES"] = "2"

import graphc as gx

_FEW, _MANY = 4, 44


def back_and_forth(hops: int) -> Any:
    """A function whose ops lie on the two devices in turn."""

    @gx.function
    def program(x: Any) -> Any:
        for hop in range(hops):
            with gx.device(f"cpu:{hop % 2}"):
                x = x + 1.0
        return x

    return program


def main(rounds: int) -> None:
    """Prints the seconds of each further step, of which a transfer is one and an op is one, for each round."""
    x = gx.ones((4, 4))
    programs = [back_and_forth(hops) for hops in (_FEW, _MANY)]
    steps = [len(program.trace(x).plan.steps) for program in programs]
    assert steps[1] - steps[0] == 2 * (_MANY - _FEW)
    for program, hops in zip(programs, (_FEW, _MANY), strict=True):
        assert program(x).numpy().tolist() == [[1.0 + hops] * 4] * 4
    times: tuple[list[float], list[float]] = [], []
    for _ in range(rounds):
        for program, taken in zip(programs, times, strict=True):
            start = time.perf_counter()
            program(x).wait()
            taken.append(time.perf_counter() - start)
    further = steps[1] - steps[0]
    median = statistics.median(many - few for few, many in zip(*times, strict=True)) / further
    print(json.dumps({"median": median, "fastest": (min(times[1]) - min(times[0])) / further}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
