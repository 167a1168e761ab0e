"""Maps in processes: the same elements in order, the user's exceptions, killed processes, and nothing left behind."""

from __future__ import annotations

import multiprocessing
import os
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import AbortedError, InvalidArgumentError, InvalidTypeError
from graphc.training.data.workers import WorkerPool, packed

pytestmark = pytest.mark.multiprocess


def heavy(number: Any) -> Any:
    """Gives arrays that go through shared memory, larger and larger ones."""
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


def left() -> tuple[set[str], list[Any], list[str]]:
    """What of processes, threads and shared memory there is."""
    threads = [thread.name for thread in threading.enumerate() if thread.name.startswith("graphc-data")]
    memory = {path.name for path in Path("/dev/shm").glob("psm_*")} if Path("/dev/shm").exists() else set[str]()
    return memory, multiprocessing.active_children(), threads


def test_elements_come_in_order_and_are_resumed_and_nothing_is_left() -> None:
    before = left()
    dataset = gx.data.Dataset.range(12).map(heavy, workers=2)
    iterator = dataset.as_numpy_iterator()
    found = [next(iterator) for _ in range(7)]
    assert len(left()[1]) == len(before[1]) + 2
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


@pytest.mark.parametrize(
    ("function", "kind", "problem", "notes"),
    [
        (
            failing,
            KeyError,
            "five is wrong",
            r"in worker process \d of map\(failing\):\n(.|\n)*test_workers.py\", line ",
        ),
        (killing, AbortedError, r"worker process \d of map\(killing\) \(pid \d+\) was killed by SIGKILL", "element 5"),
    ],
)
def test_what_goes_wrong_in_a_process_is_told_here(function: Any, kind: Any, problem: str, notes: str) -> None:
    before = left()
    iterator = gx.data.Dataset.range(12).map(function, workers=2).as_numpy_iterator()
    assert [int(next(iterator)) for _ in range(5)] == [0, 2, 4, 6, 8]
    with pytest.raises(kind, match=problem) as found:
        next(iterator)
    assert re.search(notes, "\n".join(found.value.__notes__))
    iterator.close()
    assert left() == before


def test_shared_memory_has_no_name_so_that_nothing_is_left_whoever_ends_first() -> None:
    before = left()
    iterator = gx.data.Dataset.range(6).map(heavy, workers=2).as_numpy_iterator()
    assert [next(iterator)["x"][0, 0] for _ in range(6)] == list(range(6))
    assert left()[0] == before[0]
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
    waiting = pool.submit((np.int32(2),))
    while not future.running():
        threading.Event().wait(0.01)
    pool.close(0.001)
    assert isinstance(future.exception(), AbortedError)
    assert waiting.cancelled()
    assert left() == before


def test_what_cannot_be_sent_or_counted() -> None:
    lock = threading.Lock()
    with pytest.raises(InvalidTypeError, match="map: workers= sends the function to other processes, but it cannot be"):
        gx.data.Dataset.range(3).map(lambda x: (lock, x), workers=2)
    with pytest.raises(InvalidArgumentError, match="map: workers must be at least 1, got 0"):
        gx.data.Dataset.range(3).map(failing, workers=0)


SLOW = """
import time


def sleeping(number):
    time.sleep(600 if number else 0)
    return number
"""

PROGRAM = """
import sys

import graphc as gx
from slow import sleeping

if __name__ == "__main__":
    iterator = iter(gx.data.Dataset.range(8).map(sleeping, workers=2))
    print(next(iterator).item(), flush=True)
    try:
        with gx.deadline(0.2):
            next(iterator)
    except gx.errors.DeadlineExceededError:
        print("late", flush=True)
    {end}
"""


@pytest.mark.parametrize(("end", "code"), [("pass", 0), ("sys.exit(3)", 3), ("raise ValueError", 1)])
def test_a_program_ends_while_a_process_still_computes(end: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.format(end=end), encoding="utf-8")
    ended = subprocess.run([sys.executable, str(file)], capture_output=True, text=True, timeout=120)
    assert (ended.stdout, ended.returncode) == ("0\nlate\n", code), ended.stderr
