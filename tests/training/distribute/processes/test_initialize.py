"""Joining a job: what is refused, and a process that is alone."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import jax
import numpy as np
import pytest

import graphc as gx
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.training.distribute.processes.carriers import ProcessRank, free_port
from graphc.training.distribute.processes.job import FAILED_WITH_ANOTHER, _start_jax

PLACE = {"GRAPHC_PROCESSES": "2", "GRAPHC_PROCESS_ID": "0", "GRAPHC_AUTHKEY": "k", "GRAPHC_COORDINATOR": "127.0.0.1:1"}


def test_a_process_that_is_alone_goes_on_as_it_is() -> None:
    gx.distribute.initialize()
    gx.distribute.initialize()
    assert (gx.distribute.process_index(), gx.distribute.process_count()) == (0, 1)
    assert list(gx.distribute.synchronized(iter("abc"))) == ["a", "b", "c"]
    rows = gx.distribute.DataParallel().from_local({"x": np.arange(6.0)})["x"]
    assert rows.tolist() == [0, 1, 2, 3, 4, 5]
    with pytest.raises(InvalidArgumentError, match=r"from_local: there is no axis 1 in an array of shape \(6,\)"):
        gx.distribute.DataParallel().from_local(np.arange(6.0), axis=1)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"timeout": 0}, "gx.distribute.initialize: expected a positive, finite number of seconds or None, got 0"),
        ({"check_every": -1}, "gx.distribute.initialize: check_every must be an int from 0, got -1"),
        ({"check_every": True}, "check_every must be an int from 0, got True"),
    ],
)
def test_wrong_options_are_refused(options: dict[str, int], said: str) -> None:
    with pytest.raises(InvalidArgumentError, match=said) as caught:
        gx.distribute.initialize(**options)
    assert "test_initialize.py" in str(caught.value)


def test_a_wrong_timeout_in_the_environment_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHC_PROCESS_TIMEOUT", "soon")
    with pytest.raises(InvalidArgumentError, match="GRAPHC_PROCESS_TIMEOUT must be a number of seconds, got 'soon'"):
        gx.distribute.initialize()


def test_processes_that_know_nothing_of_each_other_do_not_train_by_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jax.distributed, "is_initialized", lambda: True)
    for make in (gx.distribute.DataParallel, lambda: gx.distribute.Sharding({"data": 1})):
        with pytest.raises(FailedPreconditionError, match=r"each would train by itself; call gx\.distribute"):
            make()
    for name, value in PLACE.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(FailedPreconditionError, match=r"is initialized already; call gx\.distribute\.init"):
        gx.distribute.initialize()


def test_joining_comes_before_tensors() -> None:
    gx.ones(1).wait()
    with pytest.raises(
        FailedPreconditionError, match=r"initialize must come first: JAX has its devices already"
    ) as caught:
        _start_jax(
            SimpleNamespace(count=2, rank=0, timeout=1.0), ProcessRank(0, 2, "127.0.0.1", 1, b"k"), "127.0.0.1:1"
        )
    assert "test_initialize.py" in str(caught.value)


PROGRAM = """
import os, time
import graphc as gx
if os.environ["SLURM_PROCID"] == "1" and LATE:
    time.sleep(60)
gx.distribute.initialize()
parallel = gx.distribute.DataParallel()
step = parallel.function(lambda x: gx.distribute.all_sum(gx.sum(x)))
while True:
    value = step(gx.ones(2)).item()
    print(gx.distribute.process_index(), value, flush=True)
"""


def under_slurm(folder: Path, program: str, timeout: int) -> list[subprocess.Popen[str]]:
    """Starts a program twice, as ``srun`` does: there is nobody who looks after the processes."""
    file = folder / "train.py"
    file.write_text(program, encoding="utf-8")
    shared = {
        "SLURM_JOB_ID": "7", "SLURM_STEP_NODELIST": "node[1-2]", "SLURM_STEP_NUM_TASKS": "2", "GRAPHC_AUTHKEY": "k",
        "GRAPHC_COORDINATOR": f"127.0.0.1:{free_port('127.0.0.1')}", "GRAPHC_PROCESS_TIMEOUT": str(timeout),
    }  # fmt: skip
    return [
        subprocess.Popen(
            [sys.executable, str(file)], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, **shared, "SLURM_PROCID": str(rank), "SLURM_LOCALID": "0"},
        )
        for rank in range(2)
    ]  # fmt: skip


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
@pytest.mark.timeout(60)
def test_a_rank_that_dies_ends_the_others_by_itself(tmp_path: Path) -> None:
    processes = under_slurm(tmp_path, PROGRAM.replace("LATE", "False"), timeout=20)
    try:
        assert processes[1].stdout is not None
        next(line for line in processes[1].stdout if line == "1 2.0\n")
        os.kill(processes[1].pid, signal.SIGKILL)
        _, said = processes[0].communicate(timeout=30)
        assert processes[0].returncode == FAILED_WITH_ANOTHER, said
        assert re.search(r"rank 1 \(.*\) has died: its connection is closed; it was last at train.py:\d+", said), said
    finally:
        end(processes)


@pytest.mark.slow
@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
@pytest.mark.timeout(60)
def test_who_does_not_come_is_named_within_seconds(tmp_path: Path) -> None:
    processes = under_slurm(tmp_path, PROGRAM.replace("LATE", "True"), timeout=6)
    try:
        _, said = processes[0].communicate(timeout=30)
        assert "still waiting for rank 1 of 2 after 5 s; rank 0 is on " in said
        assert "DeadlineExceededError: rank 1 of 2 has not come within 6 s (rank 0 is on " in said
    finally:
        end(processes)


def end(processes: list[subprocess.Popen[str]]) -> None:
    for process in processes:
        process.kill()
        process.communicate()
