"""The demonstration: what its parts compute, what it writes, what it needs."""

from __future__ import annotations

import importlib.util
import io
import json
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import graphc as gx
from graphc.cli import main
from graphc.cli.demo.digits import MODES, Classifier, Run, load_digits, train_in_turns
from graphc.cli.demo.program import check_accuracy, compare_loops, training_table, write_files


@pytest.fixture(scope="module")
def runs() -> tuple[Run, ...]:
    return list(train_in_turns(load_digits(), epochs=2))[-1]


def test_all_modes_learn_the_same(runs: tuple[Run, ...]) -> None:
    assert [run.mode for run in runs] == list(MODES)
    assert [run.devices for run in runs] == [1, 1, 1, 8]
    for run in runs:
        np.testing.assert_allclose(run.losses, runs[0].losses, rtol=1e-3)
        assert run.losses[1] < 0.7 * run.losses[0]
        assert run.accuracies[-1] == pytest.approx(runs[0].accuracies[-1], abs=0.01)
        assert len(run.seconds) == 2


def test_the_loops_are_equal_and_what_was_found_is_written(runs: tuple[Run, ...], tmp_path: Path) -> None:
    console = Console(file=io.StringIO())
    loops = compare_loops(console, size=8, times=20)
    assert [loop.function for loop in loops] == ["independent", "carried"]
    assert all(loop.equal for loop in loops)
    assert [loop.mode("eager").launches for loop in loops] == [20, 20]
    assert [loop.mode("compiled").launches for loop in loops] == [1, 1]
    files = write_files(tmp_path, loops, runs)
    assert [path.name for path in files] == [
        "loop_independent.png",
        "loop_carried.png",
        "learning_curve.png",
        "results.json",
    ]
    assert all(path.stat().st_size > 0 for path in files)
    found = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert found.keys() == {"devices", "loops", "training"}
    assert len(training_table(runs).rows) == 4
    with pytest.raises(gx.errors.FailedPreconditionError, match=r"a test accuracy of 0.96 was expected, but found"):
        check_accuracy(runs)


def test_the_classifier_is_as_good_as_its_guesses() -> None:
    model = Classifier()
    x = gx.zeros((4, 64))
    guess = gx.argmax(model.network(x), axis=1)
    assert model.accuracy(x, guess) == 1.0


@pytest.mark.parametrize("name", ["sklearn", "matplotlib"])
def test_what_is_missing_is_named(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda module: None if module == name else find(module))
    assert main(["demo", "--out", str(tmp_path)]) == 2
    assert f"the demo needs {name}, which is not installed: pip install 'graphc[demo]'" in capsys.readouterr().err


@pytest.mark.slow
def test_the_whole_demonstration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--quick", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    for part in ("1. devices", "2. a thousand times", "3. a network", "data-parallel", "results.json"):
        assert part in printed
