"""Queries answered by replicas, against the bare compiled function."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Reading, Row, batch
from graphc.serve import Replicas

__all__ = ["ROWS", "latencies", "model"]

_THREADS = 8


def model(quick: bool) -> tuple[Any, list[Any]]:
    """A compiled network, and queries of one row each."""
    width, count = (16, 8) if quick else (1024, 256)
    gx.random.seed(0)
    model = gx.layers.Sequential([gx.layers.Dense(width, "relu"), gx.layers.Dense(width, "relu"), gx.layers.Dense(10)])
    x = np.random.default_rng(0).normal(size=(count, 1, 64)).astype(np.float32)
    model(x[0])
    return gx.function(model.__call__), list(x)


def _served(predict: Any, x: Any, delay: float, most: int = 32) -> Replicas:
    replicas = Replicas(predict, gx.devices()[:1], max_batch=most, max_delay_ms=delay)
    replicas.warm_up(x)
    return replicas


def _batched(quick: bool) -> Duel:
    """All queries are there at once."""
    predict, queries = model(quick)
    replicas = _served(predict, queries[0], 2)

    def together() -> list[Any]:
        answers = [replicas.submit(x) for x in queries]
        return [answer.result() for answer in answers]

    def one_by_one() -> list[Any]:
        return [predict(x).numpy() for x in queries]

    return Duel(
        Contender("Replicas", batch(together, (), 1), len(queries)),
        Contender("the function, one by one", batch(one_by_one, (), 1), len(queries)),
        lambda: [(together(), one_by_one())],
    )


def _single(quick: bool) -> Duel:
    """One query at a time: what threads and queues cost."""
    predict, queries = model(quick)
    replicas, x = _served(predict, queries[0], 0, 1), queries[0]
    return Duel(
        Contender("Replicas", batch(lambda: replicas(x), (), 10), 10),
        Contender("the function", batch(lambda: predict(x).numpy(), (), 10), 10),
        lambda: [(replicas(x), predict(x))],
    )


def latencies(
    client: Callable[[], AbstractContextManager[Callable[[Any], Any]]], queries: list[Any]
) -> tuple[list[float], float]:
    """The seconds of each query of clients that ask one after the other, on a thread each, and of all together."""
    found: list[float] = []
    together = threading.Barrier(_THREADS + 1)

    def run() -> None:
        mine: list[float] = []
        with client() as call:
            together.wait()
            for x in queries:
                start = time.perf_counter()
                call(x)
                mine.append(time.perf_counter() - start)
        found.extend(mine)

    threads = [threading.Thread(target=run) for _ in range(_THREADS)]
    for thread in threads:
        thread.start()
    together.wait()
    start = time.perf_counter()
    for thread in threads:
        thread.join()
    return found, time.perf_counter() - start


def _p99(quick: bool) -> Reading:
    predict, queries = model(quick)
    replicas = _served(predict, queries[0], 0)

    def read() -> tuple[float, float, str]:
        served, seconds = latencies(lambda: nullcontext(replicas), queries)
        bare, alone = latencies(lambda: nullcontext(lambda x: predict(x).numpy()), queries)
        count = _THREADS * len(queries)
        rates = f"{count / seconds:,.0f} queries a second, against {count / alone:,.0f}"
        return *(float(np.percentile(each, 99)) * 1e3 for each in (served, bare)), rates

    return Reading(("Replicas", "the function"), "ms", read)


ROWS = (
    Row("serve-batched", "256 queries of a row to an MLP 64-1024-1024-10, asked at once", 1.0, _batched, rounds=20),
    Row("serve-single", "the same, one query at a time, not batched", 3.0, _single, rounds=50),
    Row("serve-p99", "99 % latency of 8 threads that ask one query after the other", 3.0, _p99, rounds=1),
)
