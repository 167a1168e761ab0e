"""Checkpoints over the end of a process, and of several processes."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

import graphc as gx
from tests.training.train import resumed

FOLDER = Path(__file__).parent


def started(program: str, *arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, str(FOLDER / program), *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
def test_a_killed_training_goes_on_with_the_very_numbers(tmp_path: Path) -> None:
    expected_losses, *expected = resumed.train(str(tmp_path / "whole"))
    first = started("resumed.py", tmp_path / "killed", 13)
    first.communicate(timeout=120)
    assert first.returncode == -signal.SIGKILL
    assert 10 in gx.train.Checkpoint(tmp_path / "killed", v=gx.Variable(0.0)).steps
    second = started("resumed.py", tmp_path / "killed")
    output, errors = second.communicate(timeout=120)
    assert second.returncode == 0, errors
    losses, *weights = eval(output)
    assert 6 <= len(losses) <= 10  # from step 10, or from 14 if that was written in time
    assert losses == expected_losses[-len(losses) :]
    assert weights == expected


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
def test_what_two_processes_save_one_restores(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("localhost", 0))
        address = f"localhost:{probe.getsockname()[1]}"
    processes = [started("processes.py", address, rank, tmp_path) for rank in range(2)]
    outputs = [process.communicate(timeout=120) for process in processes]
    assert [process.returncode for process in processes] == [0, 0], outputs
    numbers = np.arange(12, dtype=np.float32).reshape(6, 2)
    assert [output.splitlines()[-1] for output, _ in outputs] == [
        f"{numbers[:3].tolist()} [7.0]",
        f"{numbers[3:].tolist()} [7.0]",
    ]
    split, own = gx.Variable(np.zeros((6, 2), np.float32)), gx.Variable([0.0])
    assert gx.train.Checkpoint(tmp_path, split=split, own=own).restore() == 1
    assert split.numpy().tolist() == numbers.tolist()
    assert own.numpy().tolist() == [7.0]
    first, second = sorted(tmp_path.glob("step-1/*.safetensors"))
    assert sorted(load_file(first)) == ["global_generator", "own", "split[0:3, 0:2]"]
    assert sorted(load_file(second)) == ["split[3:6, 0:2]"]
