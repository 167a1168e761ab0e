"""Lines of files through five readers, a decoder and a queue that shuffles, against what was measured of TensorFlow's.

It is the pipeline of "Hands-on machine learning", chapter 12: a QueueRunner with five readers fills the queue, and a
Session takes batches of 50 from it. TensorFlow 2.21 took 23 microseconds for a row on a machine of two cores where its
eager addition of two scalars took 11.7.
"""

from __future__ import annotations

import os
import tempfile
import time
from functools import cache

import numpy as np

import graphc as gx
from benchmarks.harness import Reading, Row

__all__ = ["ROWS"]

_TENSORFLOW_ROW = 23.0
_FILES = 5


@cache
def _files(rows: int) -> list[str]:
    """Makes files of lines of two numbers and a label."""
    folder = tempfile.mkdtemp(prefix="graphc-bench-")
    numbers = np.random.default_rng(0).random((_FILES, rows, 2))
    names = [os.path.join(folder, f"{file}.csv") for file in range(_FILES)]
    for name, lines in zip(names, numbers, strict=True):
        with open(name, "w") as file:
            file.write("x1,x2,target\n")
            file.writelines(f"{x:.4f},{y:.4f},{row % 2}\n" for row, (x, y) in enumerate(lines))
    return names


def _read_all(names: list[str]) -> tuple[int, float]:
    """Reads all lines; how many those were, and the seconds that it took."""
    with gx.Graph().as_default():
        files = gx.queues.FIFOQueue(10, gx.string, [[]])
        fill, close = files.enqueue_many([names]), files.close()
        instances = gx.queues.RandomShuffleQueue(1000, 200, ["float32", "int32"], [[2], []])
        enqueues = []
        for _ in range(_FILES):
            _, line = gx.queues.TextLineReader(skip_header_lines=1).read(files)
            x, y, target = gx.strings.decode_csv(line, [[-1.0], [-1.0], [-1]])
            enqueues.append(instances.enqueue([gx.stack([x, y]), target]))
        runner, batch = gx.QueueRunner(instances, enqueues), instances.dequeue_up_to(50)
        with gx.Session() as session:
            session.run(fill)
            session.run(close)
            coord, count = gx.Coordinator(), 0
            start = time.perf_counter()
            threads = runner.create_threads(session, coord, start=True)
            try:
                while True:
                    count += len(session.run(batch)[1])
            except gx.errors.OutOfRangeError:
                seconds = time.perf_counter() - start
            coord.join(threads)
    return count, seconds


def _lines(quick: bool) -> Reading:
    def read() -> tuple[float, float, str]:
        names = _files(40 if quick else 4000)
        times = list[float]()
        for _ in range(1 if quick else 7):
            count, seconds = _read_all(names)
            assert count == _FILES * (40 if quick else 4000)
            times.append(seconds / count * 1e6)
        median = float(np.median(times))
        return median, _TENSORFLOW_ROW, f"{1e6 / median:,.0f} rows a second"

    return Reading(("graphc", "TensorFlow, as measured"), "µs", read)


ROWS = (Row("csv-readers", "a row of a CSV file, by five readers and a shuffling queue", 1.0, _lines, rounds=1),)
