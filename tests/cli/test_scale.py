"""graphc scale: a step on more and more devices."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from graphc.cli import main
from graphc.cli.scale import Measurement, Scaling

SOURCE = """
import graphc as gx

weight = gx.Variable([1.0, 2.0])

@gx.function
def step(x):
    with gx.GradientTape() as tape:
        loss = gx.mean((x @ weight) ** 2)
    weight.assign_sub(0.1 * tape.gradient(loss, weight))
    return loss

def example_args():
    return gx.reshape(gx.arange(8.0), (4, 2)) / 8
"""


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
def test_a_step_is_timed_on_each_number_of_devices(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "train.py"
    file.write_text(SOURCE, encoding="utf-8")
    figures = tmp_path / "scale.json"
    options = ["--devices", "2,1", "--weak", "--rounds", "2", "--json", str(figures)]
    assert main(["scale", f"{file}:step", *options]) == 0
    found = json.loads(figures.read_text(encoding="utf-8"))
    one, two = found["measurements"]
    assert (one["devices"], two["devices"], found["equal"]) == (1, 2, True)
    assert len(one["losses"]) == 5
    assert one["losses"] == pytest.approx(two["losses"])
    assert one["losses"][0] > one["losses"][-1]
    assert "share the cores" in " ".join(capsys.readouterr().out.split())


def scaling(*seconds: float, weak: bool = False, losses: tuple[float, ...] = (1.0, 1.0, 1.0)) -> Scaling:
    found = [Measurement(2**number, time, [losses[number]], False) for number, time in enumerate(seconds)]
    return Scaling("step", weak, found)


def test_efficiency_is_measured_against_the_fewest_devices() -> None:
    strong = scaling(8.0, 4.0, 4.0)
    assert [strong.efficiency(one) for one in strong.measurements] == [1.0, 1.0, 0.5]
    weak = scaling(8.0, 8.0, 16.0, weak=True)
    assert [weak.efficiency(one) for one in weak.measurements] == [1.0, 1.0, 0.5]


def test_the_note_says_what_the_times_and_losses_mean() -> None:
    assert scaling(8.0, 4.0).note == ""
    assert scaling(0.004, 0.003, 0.003).note.startswith("The step is too small for 4 devices: 2 ms of its 3 ms")
    assert scaling(8.0, 4.0, losses=(1.0, 1.1, 0.0)).note.startswith("The losses differ")
    assert not scaling(8.0, 4.0, losses=(1.0, 1.1, 0.0)).equal
    silent = Scaling("step", False, [Measurement(count, 8.0 / count, [], False) for count in (1, 2)])
    assert silent.note == "There is no loss to compare: have the step return it, as a scalar tensor."
    assert silent.equal is None
    assert [*silent.table().columns[4].cells] == ["none", "none"]


def test_numbers_of_devices_that_are_none_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["scale", "train.py:step", "--devices", "1,x"])
    assert "--devices: expected numbers with commas between them, such as 1,2,4; got '1,x'" in capsys.readouterr().err


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
def test_what_fails_on_some_devices_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scale", "train.py:step", "--devices", "0"]) == 2
    assert "--devices takes numbers from 1, such as 1,2,4,8; got [0]" in capsys.readouterr().err
    assert main(["scale", str(tmp_path / "none.py:step"), "--devices", "1"]) == 2
    assert "on 1 devices: there is no file" in capsys.readouterr().err
    file = tmp_path / "train.py"
    file.write_text(SOURCE, encoding="utf-8")
    assert main(["scale", f"{file}:step", "--measure", "99"]) == 2
    assert "99 devices were asked for, but there are" in capsys.readouterr().err
