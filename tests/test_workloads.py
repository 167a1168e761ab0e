"""The workloads compute what the expert's programs do, and the suite tells what it finds; no time is looked at."""

from __future__ import annotations

import dataclasses
import json
import os
import random
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.workloads.measuring import Measured, check
from benchmarks.workloads.suite import WORKLOADS
from benchmarks.workloads.workload import Workload, expert_side, graphc_side
from tests.draws import SEED

_SEED = os.environ[SEED]
_DRAWN = WORKLOADS if _SEED == "all" else random.Random(_SEED).sample(WORKLOADS, 6)
_BY_NAME = {workload.name: workload for workload in WORKLOADS}


@pytest.mark.parametrize("workload", _DRAWN, ids=lambda workload: workload.name)
def test_results_are_those_of_the_expert(workload: Workload) -> None:
    given = workload.draw(workload.tiny)
    check(workload, graphc_side(workload, given), expert_side(workload, given))


def test_names_are_unique() -> None:
    assert len(_BY_NAME) == len(WORKLOADS) >= 60


def test_results_that_differ_are_refused() -> None:
    workload = _BY_NAME["sieve"]
    wrong = dataclasses.replace(workload, expert=lambda n: workload.expert(n) + 1)
    with pytest.raises(AssertionError, match="sieve"):
        check(wrong, graphc_side(wrong, [20]), expert_side(wrong, [20]))


@pytest.mark.multiprocess
def test_suite_measures_in_a_process(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "numbers.json"
    main(["--workloads", "--quick", "--only", "histogram", "--json", str(path), "--markdown"])
    (found,) = json.loads(path.read_text())["workloads"]
    assert found["name"] == "histogram"
    assert not found["failure"]
    assert found["run"] > 0
    assert found["first"] is not None
    assert found["memory"] is not None
    assert found["loops"][1] == 1
    assert "| histogram |" in capsys.readouterr().out


@pytest.mark.multiprocess
def test_workload_that_takes_too_long_is_ended() -> None:
    (found,) = main(["--workloads", "--quick", "--only", "histogram", "--limit", "0.01", "--json", os.devnull])
    assert isinstance(found, Measured)
    assert found.missed == ["not done after 0.01 s"]


def test_what_exceeds_a_bar_is_told() -> None:
    found = Measured("loop", run=1.3, first=(0.2, 0.1), memory=(10 * 2**20, 2**20), loops=(0, 1), unrolled=("why",))
    assert found.missed == ["run", "first", "memory", "loops"]
    fine = Measured("loop", run=1.1, first=(0.14, 0.1), memory=(60_000, 100), loops=(2, 1), unrolled=("short",))
    assert fine.missed == []


def test_unknown_workload_is_refused_with_the_names(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--workloads", "--only", "nothing"])
    assert "edit_distance" in capsys.readouterr().err
