"""Input pipelines, against plain Python, a hand-written ``lax.scan``, and what was measured of tf.data (2.21).

TensorFlow's figures are the best of five on a machine of two cores where other work ran, microseconds for an element.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import graphc as gx
from benchmarks.harness import Contender, Duel, Reading, Row, arrays

__all__ = ["ROWS"]

_TENSORFLOW = {"range": 16.8, "shuffle": 5.1, "python": 66.0}
_FIRST_ELEMENT = 20.0  # milliseconds


def _seconds(make: Callable[[], Iterable[Any]], elements: int, rounds: int = 5) -> float:
    """The best time of an element, in microseconds."""
    times: list[float] = []
    for _ in range(rounds):
        start = time.perf_counter()
        for _ in make():
            pass
        times.append(time.perf_counter() - start)
    return min(times) / elements * 1e6


def _against_tensorflow(name: str, prepare: Callable[[bool], tuple[Any, int]]) -> Callable[[bool], Reading]:
    def row(quick: bool) -> Reading:
        dataset, elements = prepare(quick)

        def read() -> tuple[float, float, str]:
            found = _seconds(lambda: dataset, elements, 1 if quick else 5)
            return found, _TENSORFLOW[name], f"{1e6 / found:,.0f} elements a second"

        return Reading(("graphc", "TensorFlow, as measured"), "µs", read)

    return row


def _range(quick: bool) -> tuple[Any, int]:
    count = 1000 if quick else 2_000_000
    return gx.data.Dataset.range(count).map(lambda x: x + 1).batch(128), count


def _plain(count: int) -> Iterator[Any]:
    batch: list[int] = []
    for number in (x + 1 for x in range(count)):
        batch.append(number)
        if len(batch) == 128:
            yield np.array(batch, np.int32)
            batch = []
    if batch:
        yield np.array(batch, np.int32)


def _generators(quick: bool) -> Duel:
    dataset, count = _range(quick)

    def run(batches: Iterable[Any]) -> Callable[[], None]:
        def sample() -> None:
            for _ in batches:
                pass

        return sample

    return Duel(
        Contender("graphc", lambda: run(dataset), count),
        Contender("generators", lambda: run(_plain(count)), count),
        lambda: [(next(iter(dataset)).numpy(), next(_plain(128)))],
    )


@cache
def _images(count: int) -> tuple[Any, Any]:
    return np.random.default_rng(0).random((count, 28, 28), np.float32), np.arange(count)


def _shuffled(quick: bool) -> tuple[Any, int]:
    count = 256 if quick else 60_000
    return gx.data.Dataset.from_tensor_slices(_images(count)).shuffle(10_000).batch(128), count


def _in_python(x: Any) -> Any:
    return hash(int(np.asarray(x))) % 7


def _python_map(quick: bool) -> tuple[Any, int]:
    count = 256 if quick else 20_000
    return gx.data.Dataset.range(count).map(_in_python).batch(128), count


def _first(quick: bool) -> Reading:
    del quick

    def read() -> tuple[float, float, str]:
        times: list[float] = []
        for _ in range(5):
            dataset = gx.data.Dataset.from_tensor_slices(_images(2000)).shuffle(1000).batch(128)
            start = time.perf_counter()
            next(iter(dataset))
            times.append((time.perf_counter() - start) * 1e3)
        return min(times), _FIRST_ELEMENT, "a shuffled batch of images"

    return Reading(("graphc", "the bar"), "ms", read)


def _epoch(quick: bool) -> Duel:
    count = 256 if quick else 20_000
    images, labels = _images(count)
    rows, weights = jnp.asarray(images.reshape(count, 784)), jnp.zeros((784, 10))
    classes = jnp.asarray(labels % 10)
    dataset = gx.data.Dataset.from_tensor_slices((images.reshape(count, 784), labels % 10)).batch(64, True)
    order = jnp.arange(count // 64 * 64).reshape(-1, 64)

    def loss(w: Any, x: Any, y: Any) -> Any:
        return jnp.mean((x @ w - jax.nn.one_hot(y, 10)) ** 2)

    @jax.jit
    def by_hand(w: Any, rows: Any, classes: Any) -> Any:
        def step(w: Any, chosen: Any) -> Any:
            return w - 0.1 * jax.grad(loss)(w, rows[chosen], classes[chosen]), None

        return jax.lax.scan(step, w, order)[0]

    @gx.function
    def epoch(w: Any) -> Any:
        for x, y in dataset:
            with gx.GradientTape() as tape:
                tape.watch(w)
                found = gx.mean((x @ w - gx.nn.one_hot(y, 10)) ** 2)
            w = w - 0.1 * tape.gradient(found, w)
        return w

    start = gx.asarray(weights)
    return Duel(
        Contender("graphc", lambda: lambda: epoch(start).wait()),
        Contender("lax.scan", lambda: lambda: by_hand(weights, rows, classes).block_until_ready()),
        lambda: [(epoch(start).numpy(), np.asarray(by_hand(weights, rows, classes)))],
    )


def _fed(quick: bool) -> Duel:
    steps = 2 if quick else 100

    def slow(x: Any) -> Any:
        x = np.asarray(x)
        time.sleep(0.004)
        return x

    def fed() -> None:
        for _ in gx.data.Dataset.range(steps).map(slow).prefetch(2):
            time.sleep(0.005)

    def alone() -> None:
        for _ in range(steps):
            time.sleep(0.005)

    return Duel(Contender("fed", lambda: fed, steps), Contender("alone", lambda: alone, steps), list)


def _small_batches(quick: bool, shuffled: bool = False) -> Duel:
    """Batches of eight rows as tensors, against NumPy's slices and one ``device_put`` of JAX each."""
    batches = 10 if quick else 400
    rows = np.random.default_rng(0).normal(size=(8 * batches, 4)).astype(np.float32)
    numbers = np.arange(8 * batches, dtype=np.int32)
    dataset = gx.data.Dataset.from_tensor_slices((rows, numbers))
    dataset = (dataset.shuffle(8 * batches, seed=0) if shuffled else dataset).batch(8)
    random = np.random.default_rng(0)

    def by_hand() -> Iterator[Any]:
        order = random.permutation(len(rows))
        for start in range(0, len(rows), 8):
            chosen: Any = order[start : start + 8] if shuffled else slice(start, start + 8)
            yield jax.device_put((rows[chosen], numbers[chosen]))

    def run(make: Callable[[], Iterable[Any]]) -> Callable[[], None]:
        def sample() -> None:
            *_, last = make()
            jax.block_until_ready(arrays(last))

        return sample

    def check() -> list[tuple[Any, Any]]:
        sums = [sum(np.asarray(x).sum() + np.asarray(y).sum() for x, y in made) for made in (dataset, by_hand())]
        return [(np.float32(sums[0]), np.float32(sums[1]))]

    return Duel(
        Contender("graphc", lambda: run(lambda: dataset), batches),
        Contender("NumPy and device_put", lambda: run(by_hand), batches),
        check,
    )


ROWS = (
    Row("data-small", "a batch of 8 small rows of arrays in memory", 1.0, _small_batches),
    Row(
        "data-small-shuffled", "the same, shuffled", 1.0, lambda quick: _small_batches(quick, shuffled=True),
    ),
    Row("data-range", "an element of range(n).map(x + 1).batch(128)", 0.05, _against_tensorflow("range", _range), 1),
    Row("data-generators", "the same, against plain generators", 1.0, _generators, rounds=5),
    Row(
        "data-shuffle", "a row of 28x28 floats, shuffled among 10,000 and batched", 1 / 3,
        _against_tensorflow("shuffle", _shuffled), 1,
    ),
    Row(
        "data-python", "an element of a map that Python must run, against numpy_function", 1.0,
        _against_tensorflow("python", _python_map), 1,
    ),
    Row("data-first", "the first element", 1.0, _first, 1),
    Row("data-epoch", "an epoch over arrays in memory, inside the program", 1.05, _epoch, rounds=20),
    Row("data-fed", "a step of 5 ms that is fed by a pipeline of 4 ms", 1.05, _fed, rounds=3),
)  # fmt: skip
