"""The graphc command: what it prints, writes and returns."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

import graphc as gx
from graphc.cli import main
from graphc.cli.command import devices_table
from graphc.compiler.devices import Device

SOURCE = """
import graphc as gx

calls = 0
weights = []

def step(x):
    for _ in range(10):
        x = x * 0.5 + 1
    return x

def same(x):
    return step(x)

def counting(x):
    global calls
    calls += 1
    return x * calls

def lazy(x):
    if not weights:
        weights.append(gx.Variable(gx.ones((2,)), name="lazy"))
    return x * weights[0]

def failing(x):
    return x / [1][2]

def refused(x):
    return x + x.numpy()

def example_args():
    return gx.asarray([1.0, 2.0])
"""


@pytest.fixture(autouse=True)
def _imports_as_before() -> Iterator[None]:
    path, modules = list(sys.path), dict(sys.modules)
    yield
    assert sys.path == path
    for name in set(sys.modules) - set(modules):
        if name.startswith("graphc_target_"):
            del sys.modules[name]


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "mine.py"
    path.write_text(SOURCE, encoding="utf-8")
    return str(path)


def test_compare_prints_a_table_and_writes_figures(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures, picture = tmp_path / "out" / "found.json", tmp_path / "out" / "found.html"
    options = ["--rounds", "3", "--baseline", "same", "--json", str(figures), "--html", str(picture)]
    assert main(["compare", f"{file}:step", *options]) == 0
    printed = capsys.readouterr().out
    assert "step on" in printed
    found = json.loads(figures.read_text(encoding="utf-8"))
    assert found["equal"] is True
    assert [mode["name"] for mode in found["modes"]] == ["eager", "compiled", "same"]
    assert [len(mode["timing"]["samples"]) for mode in found["modes"]] == [3, 3, 3]
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_compare_of_a_wrong_function_returns_1(file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    figures = tmp_path / "found.json"
    with pytest.warns(gx.errors.SideEffectWarning, match="the assignment to the global 'calls' happens once"):
        assert main(["compare", f"{file}:counting", "--json", str(figures)]) == 1
    assert "NOT EQUAL: compiled, values: result" in capsys.readouterr().out
    assert json.loads(figures.read_text(encoding="utf-8"))["equal"] is False


def test_compare_takes_a_tolerance(file: str) -> None:
    options = ["--rounds", "0", "--atol", "100", "--no-gradients"]
    with pytest.warns(gx.errors.SideEffectWarning, match="'calls'"):
        assert main(["compare", f"{file}:counting", *options]) == 0


def test_explain_prints_each_line_and_writes_files(
    file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    figures, page = tmp_path / "out" / "found.json", tmp_path / "out" / "found.html"
    assert main(["explain", f"{file}:step", "--json", str(figures), "--html", str(page)]) == 0
    printed = capsys.readouterr().out
    assert "for _ in range(10):" in printed
    assert "rolled loop: its 10 iterations do the same work" in printed
    assert "cost" in printed
    assert json.loads(figures.read_text(encoding="utf-8"))["loops"][0]["kind"] == "rolled"
    assert page.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")


def test_explain_without_compiling(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", f"{file}:lazy", "--no-compile", "--args", "gx.ones((2,))"]) == 0
    printed = capsys.readouterr().out
    assert "cost" not in printed
    assert "lazy" in printed


def test_graph_prints_text_that_parses(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", f"{file}:step"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("graph step(%x: f32[2])")
    assert str(gx.ir.parse_graph(text)).strip() == text.strip()


def test_graph_of_a_function_that_makes_variables(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", f"{file}:lazy"]) == 0
    assert "lazy" in capsys.readouterr().out


def test_devices_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["devices"]) == 0
    printed = capsys.readouterr().out
    assert all(f"/device:CPU:{number}" in printed for number in range(8))
    assert printed.split()[:3] == ["device", "model", "process"]
    assert "memory" not in printed  # a CPU does not tell


class Telling:
    """A device that tells of its memory."""

    def __init__(self, device: Device) -> None:
        self.platform, self.device_kind, self.process_index = device.platform, device.device_kind, 0
        self._device = device

    def __eq__(self, other: object) -> bool:
        return other == self._device

    def __hash__(self) -> int:
        return hash(self._device)

    def memory_stats(self) -> dict[str, int]:
        return {"bytes_limit": 1 << 30}


def test_memory_is_listed_where_a_device_tells() -> None:
    first, second = gx.devices()[:2]
    table = devices_table([cast("Device", Telling(first)), second])
    assert [list(column.cells) for column in table.columns] == [
        ["/device:CPU:0", "/device:CPU:1"],
        ["cpu", "cpu"],
        ["0", "0"],
        ["1 GiB", ""],
    ]


@pytest.mark.parametrize(
    ("name", "messages"),
    [
        (
            "gone",
            ["graphc: ", "mine.py has no gone; it has counting, example_args, failing, lazy, refused, same, step"],
        ),
        ("failing", ["graphc: IndexError: list index out of range", 'mine.py", line 26, in failing', "--traceback"]),
        ("refused", ["graphc: numpy() needs a value", "mine.py", "return x + x.numpy()"]),
    ],
)
def test_failures_are_told_without_a_traceback(
    file: str, name: str, messages: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["compare", f"{file}:{name}"]) == 2
    printed = capsys.readouterr().err
    for message in messages:
        assert message in printed
    assert "Traceback" not in printed


def test_the_traceback_is_shown_on_demand(file: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--traceback", "compare", f"{file}:failing"]) == 2
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_an_error_in_the_file_names_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "broken.py"
    path.write_text("x = 1\ny = 1 / 0\n", encoding="utf-8")
    assert main(["graph", f"{path}:f"]) == 2
    printed = capsys.readouterr().err
    assert "ZeroDivisionError: division by zero" in printed
    assert "line 2" in printed


@pytest.mark.parametrize("arguments", [[], ["unknown"], ["compare"], ["compare", "f.py:f", "--rounds", "many"]])
def test_a_wrong_use_of_the_command_exits_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    assert caught.value.code == 2
    assert "usage: graphc" in capsys.readouterr().err


@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
def test_the_command_is_a_module_too(file: str) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "graphc", "graph", f"{file}:step"], capture_output=True, text=True, check=False
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith("graph step")
