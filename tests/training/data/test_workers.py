"""Maps in processes: the same elements in order, the user's exceptions, killed processes, and none left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import AbortedError, InvalidArgumentError, InvalidTypeError
from graphc.training.data.workers import WorkerPool, packed

pytestmark = pytest.mark.multiprocess


def heavy(number: Any) -> Any:
    x = np.full((1 + int(number) % 4, 40_000), number, np.float32)
    return {"x": x, "pid": os.getpid(), "name": f"n{number}"}


def failing(number: Any) -> Any:
    if number == 5:
        raise KeyError("five is wrong")
    return number * 2


def killing(number: Any) -> Any:
    if number == 5:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * 2


def left() -> list[Any]:
    """The processes that there are."""
    return multiprocessing.active_children()


def test_elements_come_in_order_and_are_resumed_and_nothing_is_left() -> None:
    before = left()
    dataset = gx.data.Dataset.range(12).map(heavy, workers=2)
    iterator = dataset.as_numpy_iterator()
    found = [next(iterator) for _ in range(7)]
    assert len(left()) == len(before) + 2
    state = iterator.state()
    found += list(iterator)
    assert [row["name"] for row in found] == [b"n%d" % k for k in range(12)]
    assert all((row["x"] == k).all() and row["x"].shape == (1 + k % 4, 40_000) for k, row in enumerate(found))
    assert os.getpid() not in {int(row["pid"]) for row in found}
    assert left() == before
    again = dataset.as_numpy_iterator()
    again.restore(state)
    assert next(again)["name"] == b"n7"
    del again, iterator  # in the middle of an iteration
    assert left() == before


def test_an_exception_in_a_process_is_raised_here_with_its_lines() -> None:
    before = left()
    iterator = gx.data.Dataset.range(12).map(failing, workers=2).as_numpy_iterator()
    assert [int(next(iterator)) for _ in range(5)] == [0, 2, 4, 6, 8]
    with pytest.raises(KeyError, match="five is wrong") as found:
        next(iterator)
    assert "element 5" in "\n".join(found.value.__notes__)
    assert "test_workers.py" in str(found.value.__cause__)
    iterator.close()
    assert left() == before


def test_a_process_that_is_killed_is_told_of() -> None:
    before = left()
    iterator = gx.data.Dataset.range(12).map(killing, workers=2).as_numpy_iterator()
    with pytest.raises(AbortedError, match=r"a worker process of map\(killing\) was killed or ended by itself"):
        list(iterator)
    iterator.close()
    assert left() == before


def sleeping(number: Any) -> Any:
    time.sleep(3600)


def sleeping_there(number: Any) -> Any:
    if multiprocessing.parent_process() is not None:
        time.sleep(3600)
    return np.asarray(number)


def test_a_deadline_ends_the_wait_for_a_process() -> None:
    before = left()
    iterator = gx.data.Dataset.range(4).map(sleeping_there, workers=2).as_numpy_iterator()
    with gx.deadline(0.01), pytest.raises(gx.errors.DeadlineExceededError, match=r"map\(sleeping_there\) is running"):
        next(iterator)
    iterator.close()
    assert left() == before


def test_a_call_that_does_not_end_is_broken_off() -> None:
    before = left()
    pool = WorkerPool(packed(sleeping, gx.TensorSpec((), gx.int32), "map"), 1, "sleeping")
    future = pool.submit((np.int32(1),))
    pool.close(0.001)
    assert isinstance(future.exception(timeout=60), AbortedError)
    assert left() == before


def test_what_cannot_be_sent_or_counted() -> None:
    lock = threading.Lock()
    with pytest.raises(InvalidTypeError, match="map: workers= sends the function to other processes, but it cannot be"):
        gx.data.Dataset.range(3).map(lambda x: (lock, x), workers=2)
    with pytest.raises(InvalidArgumentError, match="map: workers must be at least 1, got 0"):
        gx.data.Dataset.range(3).map(failing, workers=0)
