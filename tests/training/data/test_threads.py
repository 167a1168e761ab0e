"""Threads of pipelines: in order, bounded, and gone afterwards."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.training.data import Dataset


def ours() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name.startswith("graphc-data")]


@pytest.fixture(autouse=True)
def no_threads_are_left() -> Iterator[None]:
    yield
    gc.collect()
    assert not ours()


def test_calls_overlap_in_order_and_are_bounded() -> None:
    both, most, running = threading.Barrier(2, timeout=60), [0], [0]
    lock = threading.Lock()

    def paired(x: Any) -> Any:
        x = np.asarray(x)  # nothing that graphc compiles
        with lock:
            running[0] += 1
            most[0] = max(most[0], running[0])
        both.wait()  # breaks unless two calls run at once
        with lock:
            running[0] -= 1
        return x * 2

    dataset = Dataset.range(8).map(paired, num_parallel_calls=2)
    assert [int(x) for x in dataset.as_numpy_iterator()] == [x * 2 for x in range(8)]
    assert most[0] == 2


def test_elements_come_as_they_are_done() -> None:
    taken = threading.Event()

    def waits(x: Any) -> Any:
        x = np.asarray(x)
        if int(x) == 0:
            assert taken.wait(60)
        return x

    dataset = Dataset.range(4).map(waits, num_parallel_calls=2, deterministic=False)
    iterator = dataset.as_numpy_iterator()
    first = int(next(iterator))
    taken.set()
    assert first != 0
    position = iterator.state()
    rest = [int(x) for x in iterator]
    assert sorted([first, *rest]) == [0, 1, 2, 3]
    resumed = dataset.as_numpy_iterator()
    resumed.restore(position)
    assert sorted(int(x) for x in resumed) == sorted(rest)


@pytest.mark.parametrize("kind", ["map", "prefetch", "interleave"])
def test_threads_end(kind: str) -> None:
    def careful(x: Any) -> Any:
        if int(x) == 50:
            raise KeyError("fifty")
        return np.asarray(x)

    base = Dataset.range(100)
    dataset: Any = {
        "map": lambda: base.map(careful, num_parallel_calls=2),
        "prefetch": lambda: base.map(careful).prefetch(3),
        "interleave": lambda: base.interleave(
            lambda x: Dataset.from_tensors(x).map(careful), cycle_length=3, num_parallel_calls=3
        ),
    }[kind]()
    assert len(list(dataset.take(40))) == 40
    assert not ours()  # at the end
    iterator = dataset.as_numpy_iterator()
    next(iterator)
    assert ours()
    iterator.close()
    assert not ours()
    iterator = dataset.as_numpy_iterator()
    next(iterator)
    del iterator
    gc.collect()
    assert not ours()  # when nobody holds it
    with pytest.raises(KeyError, match="fifty"):
        list(dataset)


@pytest.mark.parametrize("kind", ["map", "map in any order", "prefetch", "interleave"])
def test_a_deadline_ends_the_wait_and_loses_no_element(kind: str) -> None:
    released, ended, begun = threading.Event(), list[bool](), threading.Semaphore(0)

    def stuck(x: Any) -> Any:
        if threading.current_thread() is not threading.main_thread():  # which may call it for its types
            begun.release()
            ended.append(released.wait(60.0))
        return np.asarray(x)

    base = Dataset.range(1)
    dataset: Any = {
        "map": lambda: base.map(stuck, num_parallel_calls=2),
        "map in any order": lambda: base.map(stuck, num_parallel_calls=2, deterministic=False),
        "prefetch": lambda: base.map(stuck).prefetch(2),
        "interleave": lambda: base.interleave(
            lambda x: Dataset.from_tensors(x).map(stuck), cycle_length=2, num_parallel_calls=2
        ),
    }[kind]()
    iterator, other = dataset.as_numpy_iterator(), dataset.as_numpy_iterator()
    for reader in (iterator, other):
        with gx.deadline(0.01), pytest.raises(gx.errors.DeadlineExceededError, match="element of a dataset"):
            next(reader)
    for _ in range(2):
        assert begun.acquire(timeout=60.0)
    other.close()  # does not wait for the call
    threads = ours()
    released.set()
    assert [int(x) for x in iterator] == [0]
    for thread in threads:
        thread.join(60.0)
    assert ended == [True, True]


def test_an_exception_comes_where_its_element_would() -> None:
    def careful(x: Any) -> Any:
        if int(x) == 2:
            raise KeyError("two")
        return np.asarray(x)

    for dataset in (Dataset.range(5).map(careful, num_parallel_calls=4), Dataset.range(5).map(careful).prefetch(4)):
        assert [int(x) for x in dataset.ignore_errors().as_numpy_iterator()] == [0, 1, 3, 4]
        iterator = dataset.as_numpy_iterator()
        assert [int(next(iterator)), int(next(iterator))] == [0, 1]
        with pytest.raises(KeyError, match="two") as caught:
            next(iterator)
        assert "map(careful) of a dataset, element 2" in caught.value.__notes__[0]
        assert not ours()
        assert [int(x) for x in iterator] == [3, 4]


def test_a_prefetch_is_bounded_and_starts_with_the_first_element() -> None:
    read: list[int] = []

    def noted(x: Any) -> Any:
        read.append(int(x))
        return np.asarray(x)

    iterator = iter(Dataset.range(100).map(noted).prefetch(2))
    assert not read
    next(iterator)
    iterator.close()
    assert 1 <= len(read) <= 4


def test_prefetch_brings_elements_to_a_device() -> None:
    element, text = next(iter(Dataset.from_tensor_slices(([1.0], ["a"])).prefetch(1, to="cpu:1")))
    assert element.device.endswith("CPU:1")
    assert text.item() == "a"
    parallel = gx.distribute.DataParallel(["cpu:0", "cpu:1"])
    for batch, _ in Dataset.from_tensor_slices((np.ones((8, 2)), ["a"] * 8)).batch(4).prefetch(1, to=parallel):
        assert batch.device.endswith("CPU:0, /device:CPU:1")


@pytest.mark.timeout(120)
@pytest.mark.parametrize("size", [None, 3])
def test_threads_share_an_iterator(size: int | None) -> None:
    dataset = Dataset.range(100)
    iterator = iter(dataset if size is None else dataset.prefetch(size))
    start, found, ended = threading.Barrier(4, timeout=60), list[int](), list[int]()

    def take(number: int) -> None:
        start.wait()
        found.extend(int(x) for x in iterator)
        ended.append(number)

    threads = [threading.Thread(target=take, args=(number,), daemon=True) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert sorted(ended) == list(range(4))
    assert sorted(found) == list(range(100))


_BUSY = """
import time
import graphc as gx

def numbers():
    yield 0
    print("first", flush=True)
    time.sleep(600)
    yield 1

iterator = iter(gx.data.from_python(numbers, gx.TensorSpec((), gx.int32)).prefetch(2))
print(int(next(iterator)))
"""


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
def test_a_busy_generator_does_not_keep_a_program_from_its_end() -> None:
    done = subprocess.run([sys.executable, "-c", _BUSY], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "0" in done.stdout


def test_a_loop_that_is_left_ends_its_threads_at_once() -> None:
    def traced_while_it_runs(_: Any) -> Any:
        return Dataset.range(100).map(lambda x: np.asarray(x) + 1)  # what refuses this refers to many frames

    gc.collect()
    gc.disable()
    try:
        for _ in Dataset.range(2).interleave(traced_while_it_runs, cycle_length=2, num_parallel_calls=2):
            assert ours()
            break
        assert not ours()
    finally:
        gc.enable()


class Handshake:
    """Brings batch k + 1 to a device when step k has begun, and lets that end when the batch is there."""

    def __init__(self, count: int) -> None:
        self.begun, self.there = ([threading.Event() for _ in range(count + 1)] for _ in range(2))

    def shard(self, batch: Any) -> Any:
        number = int(batch[0])
        assert not number or self.begun[number - 1].wait(60)
        placed = jax.device_put(batch, jax.devices()[1])
        self.there[number].set()
        return placed

    def step(self, batch: Any) -> Any:
        number = int(batch.numpy()[0])
        self.begun[number].set()
        assert number + 1 == len(self.begun) - 1 or self.there[number + 1].wait(60)
        return np.float32(number)


def test_the_next_batch_is_brought_to_the_device_while_the_step_runs() -> None:
    count = 2  # of later steps a busy machine learns late that the one before is done, and so when they began
    handshake = Handshake(count)
    step = gx.function(lambda batch: gx.pyfunc(handshake.step, "float32", batch))
    batches = Dataset.range(count).map(lambda k: gx.reshape(k, (1,))).prefetch(1, to=handshake)
    with gx.profile() as timeline:
        for batch in batches:
            step(batch).wait()
    moves = [event for event in timeline.events if event.kind == "transfer" and event.name == "a batch to Handshake"]
    steps = [event for event in timeline.events if event.kind == "program"]
    assert [event.track for event in moves] == ["graphc-data"] * count
    assert len(steps) == count
    assert steps[0].overlaps(moves[1])
    assert moves[0].end <= steps[0].start
