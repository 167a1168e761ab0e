"""Queues between threads, against additions of JAX's and against themselves.

TensorFlow cannot be installed beside graphc everywhere, and its times say little on another machine. Side by side on
one machine its eager queue took at least 4.0 eager additions of JAX's for an enqueue and a dequeue of a scalar, and 9.9
for those of 128 rows of two numbers at once (TensorFlow 2.21, jax 0.10.2, the fastest of many samples in turn). So the
bars are in additions: a quarter of the first, half of the second.
"""

from __future__ import annotations

import operator
import threading
from collections.abc import Callable
from typing import cast

import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Row, batch

__all__ = ["ROWS"]

_SCALAR_BAR = 0.25 * 4.0
_ROWS_BAR = 0.5 * 9.9


def _against_additions(call: Callable[[], gx.Tensor], expected: np.ndarray, quick: bool) -> Duel:
    calls, a = 10 if quick else 50, jnp.ones((4, 4))
    return Duel(
        Contender("graphc", batch(call, (), calls), calls),
        Contender("jax.numpy, a + a", batch(operator.add, (a, a), calls), calls),
        lambda: [(call(), expected)],
    )


def _scalar(quick: bool) -> Duel:
    queue, x = gx.queues.FIFOQueue(10, "float32", [[]]), gx.asarray(1.0)

    def pair() -> gx.Tensor:
        queue.enqueue(x)
        return queue.dequeue()

    return _against_additions(pair, np.float32(1), quick)


def _moving(rows: int) -> Callable[[], gx.Tensor]:
    """Enqueues and dequeues rows at once; they come back cut in another place than where they were put together."""
    queue, x = gx.queues.FIFOQueue(10_000, "float32", [[2]]), gx.ones((rows, 2))
    queue.enqueue(x[0])

    def move() -> gx.Tensor:
        queue.enqueue_many(x)
        return queue.dequeue_many(rows)

    return move


def _rows(quick: bool) -> Duel:
    return _against_additions(_moving(128), np.ones((128, 2)), quick)


def _many_rows(quick: bool) -> Duel:
    calls = 3 if quick else 20
    many, few = _moving(1024), _moving(8)
    return Duel(
        Contender("1,024 rows", batch(many, (), calls), calls),
        Contender("8 rows", batch(few, (), calls), calls),
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
    Row("queue-scalar", "enqueue and dequeue of a scalar", _SCALAR_BAR, _scalar),
    Row("queue-rows", "enqueue_many and dequeue_many of 128 rows", _ROWS_BAR, _rows),
    Row("queue-many", "the same of 1,024 rows", 1.25, _many_rows),
    Row("queue-threads", "8 producers and 8 consumers, 1,000,000 elements", 2.0, _threads, rounds=3),
)
