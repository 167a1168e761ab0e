"""The demonstration: what its parts compute, what it writes, what it needs."""

from __future__ import annotations

import importlib.util
import io
import json
import os
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

import graphc as gx
from graphc.cli import main
from graphc.cli.demo.digits import MODES, Classifier, Run, load_digits, train_in_turns
from graphc.cli.demo.loops import LOOPS
from graphc.cli.demo.program import (
    check_accuracy,
    check_losses,
    compare_loops,
    loop_table,
    spread_table,
    state_of,
    training_notes,
    training_table,
    write_files,
)
from graphc.cli.demo.spread import Spread, in_processes, on_devices


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
    output = io.StringIO()
    loops = compare_loops(Console(file=output), size=8, times=20)
    assert [loop.function for loop in loops] == ["carried", "independent"]
    assert all(loop.equal for loop in loops)
    assert [loop.mode("eager").launches for loop in loops] == [20, 20]
    assert [loop.mode("compiled").launches for loop in loops] == [1, 1]
    assert [[mode.name for mode in loop.modes] for loop in loops] == [["eager", "compiled", "jax.jit", "fori_loop"]] * 2
    printed = " ".join(output.getvalue().split())
    for name, loop in LOOPS.items():
        assert f"{name}: {loop.formula}, 20 times, on 8 x 8 numbers: {loop.meaning}." in printed
        assert f"why: {loop.reason}." in printed
    spread = [Spread("1 device", [2.0, 1.0], 0.5), Spread("2 processes", [2.0, 1.1], 0.5)]
    files = write_files(tmp_path, loops, runs, spread)
    assert [path.name for path in files] == [
        "loop_carried.png",
        "loop_independent.png",
        "learning_curve.png",
        "results.json",
    ]
    assert all(path.stat().st_size > 0 for path in files)
    found = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert found.keys() == {"devices", "loops", "training", "spread"}
    assert len(loop_table(loops).rows) == 2
    assert len(training_table(runs).rows) == 4
    with pytest.raises(gx.errors.FailedPreconditionError, match=r"a test accuracy of 0.96 was expected, but found"):
        check_accuracy(runs)
    assert list(spread_table(spread).columns[4].cells) == ["0e+00", "1e-01"]
    with pytest.raises(
        gx.errors.FailedPreconditionError, match=r"differ from those of one device: \{'2 processes': 0.1"
    ):
        check_losses(spread)


@pytest.mark.drawn(3)
@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
def test_devices_and_processes_train_the_same() -> None:
    one, two, *_ = on_devices()
    assert (one.where, two.where) == ("1 device", "2 devices")
    assert len(one.losses) == 23  # of 64 digits each, and the last of fewer
    assert one.losses[-1] < 0.7 * one.losses[0]
    for other in (two, in_processes()):
        assert other.difference(one) < 1e-4


def test_simulated_devices_are_explained_where_their_times_stand(runs: tuple[Run, ...]) -> None:
    cells = [list(column.cells) for column in training_table(runs).columns]
    assert cells[0] == ["eager", "compiled per step", "compiled per epoch", "data-parallel *"]
    assert training_notes(runs) == [
        f"* data-parallel: 8 simulated devices share {os.cpu_count()} cores: they show that a data-parallel program is "
        "right, not that it is fast."
    ]
    assert training_notes(runs[:3]) == []


def test_a_progress_bar_tells_the_time_of_its_own_mode() -> None:
    assert state_of(Run("eager", 1)) == ""
    assert state_of(Run("eager", 1, [0.5], [0.9], [0.25, 1.0])) == "loss 0.5000  accuracy 0.900   1.25 s"


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
    assert printed.startswith("\n1. devices")
    for part in (
        "1. devices",
        "2. two loops of 100 additions",
        "3. a network",
        "data-parallel",
        "2 processes",
        "results.json",
    ):
        assert part in printed
