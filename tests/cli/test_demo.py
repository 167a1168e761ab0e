"""The demonstration: what its programs show, what it writes, what it needs."""

from __future__ import annotations

import importlib.util
import io
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from rich.console import Console

import graphc as gx
from graphc.cli import main
from graphc.cli.demo.program import Race, check_losses, check_results, play_all, race, race_table, write_files
from graphc.cli.demo.scenes import SCENES, Scene
from graphc.cli.demo.spread import Spread, in_processes, on_devices

SPREAD = [Spread("1 device", [2.0, 1.0], 0.5), Spread("2 processes", [2.0, 1.1], 0.5)]
RACE = Race("a loop", "lax.scan", False, (0.2, 0.1), (2e-3, 1e-3))


@pytest.fixture(scope="module")
def scenes() -> tuple[list[Scene], str]:
    output = io.StringIO()
    return play_all(Console(file=output, width=200)), output.getvalue()


def test_each_scene_shows_what_it_says_in_three_lines(scenes: tuple[list[Scene], str]) -> None:
    played, printed = scenes
    assert len(printed.strip().splitlines()) == 3 * len(SCENES) == 21
    text = {scene.title: " ".join(scene.lines) for scene in played}
    assert [*text] == [*SCENES]
    loop, table, changed, refused, graph, timeline, nan = text.values()
    assert re.search(r"8 rounds for 1,000 numbers.* TracerBoolConversionError", loop)
    assert re.search(r"kitten to sitting: 3; .*200 letters.* the program has \d\d lines", table)
    assert "105.0, rate = 0.10 gives 110.0" in changed
    assert "105.0, and then 105.0 again" in changed
    assert re.search(
        r"f32\[2\].*the shapes \(2,\) and \(3,\) differ.*scenes.py, line \d+, in first_or_all: if", refused
    )
    assert "100 steps in one program" in graph
    assert re.search(r"cpu:0 and cpu:1 .* overlap for \d+%", timeline)
    assert re.search(r"sqrt .* 1 NaN in iteration 3 of its loop scenes.py, line \d+, in shrink: x = gx.sqrt", nan)
    assert [title for scene in played for title in scene.html] == ["The graph", "Explained", "The timeline"]


def test_both_sides_of_each_race_compute_the_same() -> None:
    races = list(race(8, rounds=1))
    assert [one.equal for one in races] == [True] * 4
    assert all(min(*one.first, *one.later) > 0 for one in races)
    assert len(race_table(races).rows) == 4
    check_results(races)
    with pytest.raises(gx.errors.FailedPreconditionError, match="results differ from those of JAX: a loop"):
        check_results([RACE])


class Page(HTMLParser):
    """What a page has, and what it asks of others."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loaded: list[str | None] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [value for name, value in attrs if name in ("src", "href")]


def test_the_page_has_everything_and_loads_nothing(scenes: tuple[list[Scene], str], tmp_path: Path) -> None:
    page = write_files(tmp_path, scenes[0], [RACE], SPREAD, ["8 x <cpu>"])
    text = page.read_text(encoding="utf-8")
    parsed = Page(text)
    assert parsed.loaded == []
    assert "@import" not in text
    assert "prefers-color-scheme:dark" in text
    assert parsed.tags.count("section") == len(SCENES) + 2
    assert parsed.tags.count("svg") >= 4
    for part in ("def square_roots(x", "8 x &lt;cpu&gt;", "<td>lax.scan</td><td>NO</td>", "<td>2.00</td>", "is 1e-01"):
        assert part in text
    found = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    assert found.keys() == {"scenes", "races", "spread", "notes"}
    with pytest.raises(gx.errors.FailedPreconditionError, match=r"differ from those of one device: \{'2 proc.*': 0.1"):
        check_losses(SPREAD)


@pytest.mark.drawn(3)
@pytest.mark.multiprocess
@pytest.mark.usefixtures("warm_python")
def test_devices_and_processes_train_the_same() -> None:
    one, two, *_ = on_devices()
    assert (one.where, two.where) == ("1 device", "2 devices")
    assert len(one.losses) == 29  # of 64 digits each, and the last of fewer
    assert one.losses[-1] < 0.7 * one.losses[0]
    for other in (two, in_processes()):
        assert other.difference(one) < 1e-4


def test_what_is_missing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda module: None if module == "sklearn" else find(module))
    assert main(["demo", "--out", str(tmp_path)]) == 2
    assert "the demo needs sklearn, which is not installed: pip install 'graphc[demo]'" in capsys.readouterr().err


@pytest.mark.slow
def test_the_whole_demonstration(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--quick", "--out", str(tmp_path)]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("\n1. ordinary Python")
    for part in ("7. A NaN", "50 training steps", "2 processes", "index.html"):
        assert part in printed
