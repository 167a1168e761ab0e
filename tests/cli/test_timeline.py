"""``graphc timeline``: what it prints and draws of a trace."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

import graphc as gx
from graphc.cli import main
from graphc.cli.timeline import print_timeline
from graphc.compiler.runtime import Event, Timeline

LEFT = Event("chain[a]", "segment", "/device:CPU:1", 0.010, 0.030, "two")
RIGHT = Event("other", "segment", "/device:CPU:2", 0.020, 0.050, "two")
WAIT = Event("tensor", "wait", "MainThread", 0.0301, 0.050)


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    timeline = Timeline()
    timeline.events = (LEFT, RIGHT, WAIT)
    path = tmp_path / "trace.json"
    timeline.save(path)
    return path


def test_a_row_for_each_event_with_its_time_and_a_bar(trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["timeline", str(trace)]) == 0
    head, _, *rows = (line.split() for line in capsys.readouterr().out.splitlines() if line.strip())
    assert head == ["where", "kind", "name", "function", "or", "line", "start", "ms", "ms", "40.000", "ms"]
    assert rows == [
        ["/device:CPU:1", "segment", "chain[a]", "two", "10.000", "20.000", "█" * 16],
        ["/device:CPU:2", "segment", "other", "two", "20.000", "30.000", "█" * 24],
        ["MainThread", "wait", "tensor", "30.100", "19.900", "█" * 16],
    ]


def test_bars_that_overlap_stand_below_each_other() -> None:
    console = Console(file=(file := io.StringIO()), width=20)
    print_timeline([RIGHT, LEFT, Event("instant", "other", "MainThread", 0.05, 0.05)], console)
    lines = [line for line in file.getvalue().splitlines() if "█" in line]
    assert [line.index("█") - lines[0].index("█") for line in lines] == [0, 8, 31]
    assert [line.count("█") for line in lines] == [16, 24, 1]


def test_a_real_profile_is_shown_and_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    @gx.function
    def placed(x: gx.Tensor) -> gx.Tensor:
        with gx.device("cpu:1"):
            y = x + 1
        return gx.pyfunc(lambda value: value * 2, gx.TensorSpec((), "float32"), y) + x

    path, picture = tmp_path / "trace.json", tmp_path / "out" / "trace.html"
    with gx.profile(path):
        placed(gx.asarray(1.0)).numpy()
    assert main(["timeline", str(path), "--html", str(picture)]) == 0
    printed = capsys.readouterr().out
    for word in ("/device:CPU:0", "/device:CPU:1", "segment", "transfer", "host call", "placed"):
        assert word in printed
    assert "<svg" in picture.read_text(encoding="utf-8")


def test_a_trace_without_events_is_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, picture = tmp_path / "trace.json", tmp_path / "trace.html"
    with gx.profile(path):
        pass
    assert main(["timeline", str(path), "--html", str(picture)]) == 0
    assert capsys.readouterr().out.split()[:2] == ["where", "kind"]
    assert picture.exists()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file or directory"),
        ("no json", "not a trace written by gx.profile"),
        (json.dumps({"traceEvents": [{"ph": "X"}]}), "not a trace written by gx.profile"),
    ],
)
def test_a_file_that_is_no_trace_is_refused(
    tmp_path: Path, content: str | None, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "trace.json"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    assert main(["timeline", str(path)]) == 2
    printed = capsys.readouterr().err
    assert printed.startswith(f"graphc: {path}: ")
    assert message in printed
