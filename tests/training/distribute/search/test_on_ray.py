"""``search`` by Ray Tune: real processes, where it is installed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import graphc as gx
from graphc.training.distribute import search

PROGRAM = """
import json
import ray
ray.init(
    address="local", num_cpus=2, include_dashboard=False, _node_ip_address="127.0.0.1", log_to_driver=False,
    object_store_memory=80_000_000,
)
import graphc as gx

def train(config):
    if config["level"] == 3:
        raise ValueError("too deep")
    for step in range(9):
        yield {"loss": float(gx.asarray(config["level"]) / (step + 1)), "other": 2.0}

found = gx.distribute.search(
    train, {"level": [1.0, 2.0, 3, 4.0]}, stop=gx.distribute.Halving(1, 2), max_steps=5, backend="ray"
)
print(json.dumps(found.to_dict()))
"""


@pytest.mark.slow
@pytest.mark.multiprocess
def test_trials_run_in_processes_of_ray_and_are_stopped_there(tmp_path: Path) -> None:
    pytest.importorskip("ray.tune", exc_type=ImportError)
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    environment = {**os.environ, "HOME": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[3])}
    command = [sys.executable, str(tmp_path / "program.py")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, timeout=240)
    assert ran.returncode == 0, ran.stderr
    trials = json.loads(ran.stdout.splitlines()[-1])["trials"]
    assert [trial["config"]["level"] for trial in trials] == [1, 2, 3, 4]
    assert trials[0]["values"] == pytest.approx([1, 1 / 2, 1 / 3, 1 / 4, 1 / 5])
    assert (trials[0]["status"], trials[0]["metrics"]["other"]) == ("done", 2)
    assert (trials[2]["status"], trials[2]["error"]) == ("failed", "ValueError: too deep")
    assert all(trial["status"] in ("done", "stopped") for trial in trials if trial["number"] != 2)


def test_without_ray_tune_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def train(config: dict[str, Any]) -> float:
        return 1.0

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(gx.errors.NotFoundError, match=r"backend='ray' needs Ray Tune .*: pip install 'ray\[tune\]'"):
        search(train, {"a": [1]}, backend="ray")
