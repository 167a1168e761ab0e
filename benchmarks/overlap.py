"""How much of their work two devices do at the same time; a process of its own, which has two devices."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

os.environ["GRAPHC_CPU_DEVICES"] = "2"

import graphc as gx

_FIRST, _SECOND = "cpu:0", "cpu:1"
_ROUNDS, _CALLS = 20, 5


def work(x: Any, matrix: Any) -> Any:
    """A chain of products."""
    for _ in range(_ROUNDS):
        x = gx.sin(x @ matrix)
    return x


def pair(x: Any, y: Any) -> tuple[Any, Any]:
    """Two chains, one on each device."""
    with gx.device(_FIRST):
        first = work(x, x)
    with gx.device(_SECOND):
        second = work(y, y)
    return first, second


def shared(x: Any, _: Any) -> Any:
    """Two chains that read the same input."""
    return pair(x, x)


def producer(x: Any, _: Any) -> Any:
    """Two chains that read a result of the first device."""
    with gx.device(_FIRST):
        made = gx.sin(x @ x)
    return pair(made, made)


def crossing(x: Any, _: Any) -> Any:
    """Four chains, the last two of which read what the other device made."""
    first, second = pair(x, x)
    return pair(second, first)


def rounds(x: Any, _: Any) -> Any:
    """Two chains in each of four rounds, which end together."""
    for _ in range(4):
        first, second = pair(x, x)
        with gx.device(_FIRST):
            x = (first + second) / 2.0
    return x


def driven(x: Any, count: Any) -> Any:
    """The same rounds, as many as a tensor says."""
    while count > 0:
        first, second = pair(x, x)
        with gx.device(_FIRST):
            x = (first + second) / 2.0
            count = count - 1
    return x


def gradient(x: Any, _: Any) -> Any:
    """The gradient of two chains that read the same input."""

    def loss(x: Any) -> Any:
        first, second = pair(x, x)
        return gx.sum(first) + gx.sum(second)

    return gx.grad(loss)(x)


def _seconds(spans: Sequence[tuple[float, float]]) -> float:
    return sum(end - start for start, end in spans)


def overlap(call: Callable[[], Any]) -> tuple[float, float]:
    """Returns the seconds of the device that works less, and those in which both work."""
    gx.wait_all(call())
    with gx.profile() as timeline:
        for _ in range(_CALLS):
            gx.wait_all(call())
    events = [event for event in timeline.events if event.kind == "segment"]
    tracks = ["/device:CPU:0", "/device:CPU:1"]
    first, second = ([(event.start, event.end) for event in events if event.track == track] for track in tracks)
    both = [(max(a, c), min(b, d)) for a, b in first for c, d in second]
    return min(_seconds(first), _seconds(second)), _seconds([(start, end) for start, end in both if start < end])


def main(case: str, size: int) -> None:
    """Prints the two figures of :func:`overlap` for a case."""
    x = gx.ones((size, size))
    with gx.device(_SECOND):
        y = gx.ones((size, size))
    held, count = gx.Variable(x), gx.asarray(4)
    programs: dict[str, tuple[Callable[..., Any], Any, Any]] = {
        "inputs": (pair, x, y),
        "shared": (shared, x, y),
        "variable": (lambda _, y: shared(held, y), x, y),
        "producer": (producer, x, y),
        "crossing": (crossing, x, y),
        "rounds": (rounds, x, y),
        "driven": (driven, x, count),
        "gradient": (gradient, x, y),
    }
    function, *arguments = programs[case]
    program = gx.function(function)
    print(json.dumps(overlap(lambda: program(*arguments))))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
