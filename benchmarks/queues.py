"""Queues between threads, against what was measured of TensorFlow's and against themselves.

TensorFlow cannot be installed beside graphc everywhere. Its figures stand here as they were measured side by side with
its own eager addition, 8.8 microseconds for two scalars on the machine that the bars were set on: an enqueue and a
dequeue of a scalar took 18.8, those of 128 rows of two numbers at once 2.7 times that.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import cast

import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Reading, Row

__all__ = ["ROWS"]

_TENSORFLOW_SCALAR = 18.8
_TENSORFLOW_128_ROWS = 51.0


def _median(call: Callable[[], object], calls: int, rounds: int) -> tuple[float, float]:
    """The median and the least time of a call, in microseconds."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in range(calls):
            call()
        times.append((time.perf_counter() - start) / calls * 1e6)
    return float(np.median(times)), min(times)


def _against_tensorflow(call: Callable[[], object], theirs: float, quick: bool) -> Reading:
    def read() -> tuple[float, float, str]:
        median, least = _median(call, 10 if quick else 500, 3 if quick else 101)
        return median, theirs, f"fastest {least:.1f} µs"

    return Reading(("graphc", "TensorFlow, as measured"), "µs", read)


def _scalar(quick: bool) -> Reading:
    queue, x = gx.queues.FIFOQueue(10, "float32", [[]]), gx.asarray(1.0)

    def pair() -> None:
        queue.enqueue(x)
        queue.dequeue()

    return _against_tensorflow(pair, _TENSORFLOW_SCALAR, quick)


def _moving(rows: int) -> Callable[[], gx.Tensor]:
    """Enqueues and dequeues rows at once; they come back cut in another place than where they were put together."""
    queue, x = gx.queues.FIFOQueue(10_000, "float32", [[2]]), gx.ones((rows, 2))
    queue.enqueue(x[0])

    def move() -> gx.Tensor:
        queue.enqueue_many(x)
        return queue.dequeue_many(rows)

    return move


def _rows(quick: bool) -> Reading:
    return _against_tensorflow(_moving(128), _TENSORFLOW_128_ROWS, quick)


def _many_rows(quick: bool) -> Duel:
    calls = 3 if quick else 20
    many, few = _moving(1024), _moving(8)

    def sample(move: Callable[[], gx.Tensor]) -> Callable[[], None]:
        def run() -> None:
            for _ in range(calls):
                move()

        return run

    return Duel(
        Contender("1,024 rows", lambda: sample(many), calls),
        Contender("8 rows", lambda: sample(few), calls),
        lambda: [(many(), np.ones((1024, 2))), (few(), np.ones((8, 2)))],
    )


def _crowd(workers: int, elements: int) -> list[list[int]]:
    """What consumers got from as many producers, each of which enqueues its share of the numbers in order."""
    queue, each = gx.queues.FIFOQueue(1000, "int32", [[]]), elements // workers
    numbers = [gx.asarray(number) for number in range(1000)]
    places = {id(number.raw): place for place, number in enumerate(numbers)}
    got: list[list[int]] = []

    def produce() -> None:
        for number in range(each):
            queue.enqueue(numbers[number % 1000])

    def consume() -> None:
        mine: list[int] = []
        try:
            while True:
                mine.append(places[id(queue.dequeue().raw)])
        except gx.errors.OutOfRangeError:
            got.append(mine)

    producers = [threading.Thread(target=produce) for _ in range(workers)]
    consumers = [threading.Thread(target=consume) for _ in range(workers)]
    for thread in (*producers, *consumers):
        thread.start()
    for thread in producers:
        thread.join()
    queue.close()
    for thread in consumers:
        thread.join()
    return got


def _threads(quick: bool) -> Duel:
    elements = 4_000 if quick else 1_000_000

    def counted(workers: int) -> np.ndarray:
        return np.bincount([number for mine in _crowd(workers, elements) for number in mine], minlength=1000)

    def expected(workers: int) -> np.ndarray:
        return workers * np.bincount(np.arange(elements // workers) % 1000, minlength=1000)

    def sample(workers: int) -> Callable[[], None]:
        return lambda: cast("None", _crowd(workers, elements))

    return Duel(
        Contender("8 and 8", lambda: sample(8), elements),
        Contender("1 and 1", lambda: sample(1), elements),
        lambda: [(counted(8), expected(8)), (counted(1), expected(1))],
    )


ROWS = (
    Row("queue-scalar", "enqueue and dequeue of a scalar", 0.25, _scalar, rounds=1),
    Row("queue-rows", "enqueue_many and dequeue_many of 128 rows", 0.5, _rows, rounds=1),
    Row("queue-many", "the same of 1,024 rows", 1.25, _many_rows),
    Row("queue-threads", "8 producers and 8 consumers, 1,000,000 elements", 2.0, _threads, rounds=3),
)
