"""Python dispatches steps while a device computes: measured by a profile of six steps."""

from __future__ import annotations

import time
from pathlib import Path

import graphc as gx
from docs.figures.svg import Picture

__all__ = ["write"]

_STEPS = 6
_ATTEMPTS = 7


def write(path: Path) -> None:
    """Measures and draws it."""
    dispatched, computed = _measure()
    end = max(stop for _, stop in [*dispatched, *computed])
    picture = Picture(
        860, 190, "Six steps: Python dispatches them in a moment, the device computes them one after another"
    )
    left, width = 90, 740

    def place(seconds: float) -> float:
        return left + width * seconds / end

    picture.text(left - 12, 62, "Python", "end bold")
    picture.text(left - 12, 116, "device", "end bold")
    for number in range(5):
        seconds = end * number / 4
        picture.rule(place(seconds), 30, place(seconds), 140)
        picture.text(place(seconds), 158, f"{1000 * seconds:.0f} ms", "small middle")
    done = dispatched[-1][1]
    picture.box(place(done), 40, place(end) - place(done), 36, "grey", 3)
    picture.text((place(done) + place(end)) / 2, 63, "waits, at y.wait()", "middle small")
    for begin, stop in dispatched:
        picture.box(place(begin), 40, max(place(stop) - place(begin), 1.5), 36, "green", 1)
    for number, (begin, stop) in enumerate(computed, 1):
        picture.box(place(begin), 94, place(stop) - place(begin), 36, "blue", 3)
        picture.text((place(begin) + place(stop)) / 2, 117, f"step {number}", "middle small")
    picture.text(left, 20, f"{_STEPS} calls of a compiled step, dispatched in {1000 * done:.1f} ms", "bold")
    picture.text(
        left, 182, f"gx.profile on a CPU, the fastest of {_ATTEMPTS} attempts; Python's bars are its calls", "small"
    )
    picture.write(path)


def _measure() -> tuple[list[tuple[float, float]], list[tuple[float, float]]]:
    """Returns when Python was busy with each call, and when the device was, in seconds since the first call."""

    @gx.function
    def step(x: gx.Tensor) -> gx.Tensor:
        for _ in range(8):
            x = gx.tanh(x @ x)
        return x

    y = step(gx.eye(600)).wait()
    best: tuple[list[tuple[float, float]], list[tuple[float, float]]] = ([], [])
    for _ in range(_ATTEMPTS):  # the one that was least disturbed, as the caption says
        with gx.profile() as timeline:
            origin, calls = time.perf_counter(), list[tuple[float, float]]()
            for _ in range(_STEPS):
                begin = time.perf_counter() - origin
                y = step(y)
                calls.append((begin, time.perf_counter() - origin))
            y.wait()
        runs = [event for event in timeline.events if event.kind == "program"]
        first = min(event.start for event in runs) - calls[0][1]
        found = calls, [(event.start - first, event.end - first) for event in sorted(runs, key=lambda e: e.start)]
        if not best[1] or found[1][-1][1] < best[1][-1][1]:
            best = found
    return best
