"""``graphc cluster``: files that describe clusters, and tasks that start and end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from graphc.cli import main
from graphc.cli.cluster import read_cluster, read_resources
from graphc.compiler.base.errors import FileMissingError, InvalidArgumentError
from tests.cluster.conftest import ray_address  # noqa: F401  a fixture

_CLUSTER = {"ps": ["cli:1"], "worker": ["cli:2"]}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cluster.json"
    path.write_text(json.dumps(_CLUSTER))
    return path


@contextmanager
def _command(*arguments: str, address: str) -> Iterator[subprocess.Popen[str]]:
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "RAY_ADDRESS": address, "COLUMNS": "100"}
    command = [sys.executable, "-u", "-m", "graphc", *arguments]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def _until(process: subprocess.Popen[str], text: str) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return line
    raise AssertionError(f"{text!r} was not said")


def test_a_cluster_is_read_by_job(tmp_path: Path) -> None:
    path = tmp_path / "cluster.json"
    path.write_text('{"ps": {"1": "h:1"}, "worker": ["h:2"]}')
    cluster = read_cluster(path)
    assert cluster.as_dict() == {"ps": {1: "h:1"}, "worker": ["h:2"]}
    given = ["worker:num_gpus=1", "worker:memory=1e9"]
    assert read_resources(given, cluster) == {"ps": {}, "worker": {"num_gpus": 1, "memory": 1e9}}
    for wrong in ("chief:num_gpus=1", "worker:num_gpus", "worker"):
        with pytest.raises(InvalidArgumentError, match=f"--resources {wrong}: expected JOB:NAME=AMOUNT, .* ps, worker"):
            read_resources([wrong], cluster)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", r"cluster.json: it is no JSON: .* line 1"),
        ("3", r"cluster.json: expected a dict from names of jobs to addresses"),
        ('{"ps": ["h:1", "h:1"]}', r"cluster.json: two tasks have the address 'h:1'"),
    ],
)
def test_a_file_that_describes_no_cluster_is_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "cluster.json"
    path.write_text(text)
    with pytest.raises(InvalidArgumentError, match=message):
        read_cluster(path)
    with pytest.raises(FileMissingError, match=r"other.json: there is no such file"):
        read_cluster(tmp_path / "other.json")


def test_status_asks_for_the_address_of_ray(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    assert main(["cluster", "status", str(file)]) == 2
    assert "set RAY_ADDRESS to the address of the Ray cluster" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [["cluster", "serve", "FILE", "--job", "ps"], ["serve", "--cluster", "FILE", "--job", "ps", "--task", "0"]],
)
def test_a_task_is_started_by_either_spelling(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    started: list[Any] = []
    monkeypatch.setattr("graphc.cli.command.serve_task", lambda *given: started.append(given[:3]))
    assert main([str(file) if argument == "FILE" else argument for argument in arguments]) == 0
    assert started == [(file, "ps", 0 if "--task" in arguments else None)]
    assert ("write graphc cluster serve" in capsys.readouterr().err) == (arguments[0] == "serve")


@pytest.mark.multiprocess
@pytest.mark.slow
def test_a_cluster_comes_up_shows_itself_and_ends(file: Path, ray_address: str) -> None:  # noqa: F811
    def status() -> tuple[int, str]:
        with _command("cluster", "status", str(file), address=ray_address) as process:
            text = process.communicate(timeout=120)[0]
        return process.returncode, text

    with _command("cluster", "up", str(file), address=ray_address) as process:
        assert f"RAY_ADDRESS={ray_address}" in _until(process, "RAY_ADDRESS")
        assert 'gx.Session("grpc://cli:1")' in _until(process, "gx.Session")
        code, shown = status()
        assert (code, shown.count("running")) == (0, 2)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        assert process.returncode == 0
    code, shown = status()
    assert (code, shown.count("not running")) == (2, 2)


@pytest.mark.multiprocess
@pytest.mark.slow
def test_serve_starts_one_task_on_a_ray_of_its_own_and_leaves_no_process(file: Path) -> None:
    with _command("cluster", "serve", str(file), "--job", "worker", "--task", "0", address="") as process:
        assert "grpc://cli:2 runs" in _until(process, "runs")
        address = _until(process, "RAY_ADDRESS").rpartition("=")[2].strip()
        assert address.startswith("127.0.0.1:")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=120)
        assert process.returncode == 130
    listening = subprocess.run(["pgrep", "-f", f"gcs-address={address}"], capture_output=True, text=True, check=False)
    assert listening.stdout == ""
