"""``python -m benchmarks.walks``: the files, functions and calls of graphc that small programs pass.

Short walks are what a reader follows. Each program runs once before, in another shape, so that imports and other work
that is done once do not count. ``tests/architecture.py`` holds the budget of files.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import numpy as np

import graphc as gx

__all__ = ["WALKS", "Count", "counted"]

_HOME = os.path.dirname(str(gx.__file__))


class Count:
    """Counts the calls into graphc inside a ``with`` block, of this thread and of those that it starts."""

    def __init__(self) -> None:
        self.calls, self.changes = 0, 0
        self.functions, self.files = set[CodeType](), set[str]()
        self._last = ""

    def __enter__(self) -> Count:
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        return self

    def __exit__(self, *error: object) -> None:
        sys.setprofile(None)
        threading.setprofile(None)

    def _see(self, frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith((_HOME, "<graphc")):
            self.calls += 1
            self.functions.add(frame.f_code)
            self.files.add(file)
            self.changes += file != self._last
            self._last = file


def _straight() -> Any:
    return gx.function(lambda x: gx.sum(gx.tanh(x) * 2.0))


def _rolled() -> Any:
    @gx.function
    def run(x: Any) -> Any:
        for _ in range(100):
            x = gx.sin(x) + 1.0
        return x

    return run


def _walk(begin: Callable[[int], Callable[[], Any]], *, hot: bool = False) -> Callable[[int], Count]:
    def walk(size: int) -> Count:
        step = begin(size)
        for _ in range(3 if hot else 0):
            step()
        with Count() as count:
            step()
        return count

    return walk


def _call(make: Callable[[], Any]) -> Callable[[int], Callable[[], Any]]:
    def begin(size: int) -> Callable[[], Any]:
        function, x = make(), gx.ones((size,))
        return lambda: function(x)

    return begin


def _add(size: int) -> Callable[[], Any]:
    a, b = gx.ones((size,)), gx.ones((size,))
    return lambda: a + b


def _session(size: int) -> Callable[[], Any]:
    graph = gx.Graph()
    with graph.as_default():
        queue = gx.queues.FIFOQueue(10, ["float32"], shapes=[(size,)])
        put, got = queue.enqueue([gx.ones((size,))]), queue.dequeue() * 2.0
    session = gx.Session(graph=graph)
    return lambda: (session.run(put), session.run(got))


def _dataset(size: int) -> Callable[[], Any]:
    iterator = iter(gx.data.Dataset.range(1000 * size).map(lambda x: x * 2).batch(size))
    return lambda: next(iterator)


def _parallel(size: int) -> Callable[[], Any]:
    parallel = gx.distribute.DataParallel()
    with parallel.scope():
        w = gx.Variable(np.zeros((size, 1), np.float32))

    @gx.function
    def step(x: Any) -> Any:
        w.assign_sub(gx.mean(x, axis=0)[:, None])
        return gx.sum(w)

    rows = np.ones((8, size), np.float32)
    return lambda: step(parallel.shard(rows))


WALKS: dict[str, Callable[[int], Count]] = {
    "eager a + b, hot": _walk(_add, hot=True),
    "straight line, first call": _walk(_call(_straight)),
    "straight line, hot call": _walk(_call(_straight), hot=True),
    "rolled for, first call": _walk(_call(_rolled)),
    "rolled for, hot call": _walk(_call(_rolled), hot=True),
    "session with a queue, first": _walk(_session),
    "session with a queue, hot": _walk(_session, hot=True),
    "dataset next, first": _walk(_dataset),
    "dataset next, hot": _walk(_dataset, hot=True),
    "data-parallel step, first": _walk(_parallel),
    "data-parallel step, hot": _walk(_parallel, hot=True),
}


def counted(name: str) -> Count:
    """Returns what a walk passes the second time that a program of its kind runs."""
    WALKS[name](3)
    return WALKS[name](5)


def main() -> None:
    """Prints a row for each walk whose name has one of the arguments."""
    print(f"{'walk':30} {'files':>6} {'functions':>10} {'calls':>7} {'changes of file':>16}")
    for name in WALKS:
        if not sys.argv[1:] or any(word in name for word in sys.argv[1:]):
            count = counted(name)
            print(f"{name:30} {len(count.files):6} {len(count.functions):10} {count.calls:7} {count.changes:16}")


if __name__ == "__main__":
    main()
