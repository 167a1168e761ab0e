"""The figures in docs/ are drawn by their scripts, show what there is, and stand on a page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from docs.figures import architecture, loop, scaling
from docs.figures.__main__ import FIGURES, FOLDER

PAGES = [page.read_text(encoding="utf-8") for page in FOLDER.parent.rglob("*.md")]


PICTURES = {path.stem for path in FOLDER.glob("*.png")}  # of pages, which a browser takes


@pytest.mark.parametrize("name", sorted(set(FIGURES) - PICTURES))
def test_a_figure_is_drawn_and_shown(name: str) -> None:
    text = (FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert root.attrib["aria-label"]  # for those who do not see it
    assert "prefers-color-scheme: dark" in text
    assert len(text) < 40_000
    assert any(re.search(rf"!\[[^\]]+\]\([./]*figures/{name}\.svg\)", page) for page in PAGES)


def test_there_are_no_other_figures() -> None:
    assert {path.stem for path in FOLDER.glob("*.svg")} | PICTURES == set(FIGURES)


def test_what_is_not_measured_is_up_to_date(tmp_path: Path) -> None:
    architecture.write(tmp_path / "architecture.svg")
    drawn, again = ((folder / "architecture.svg").read_text(encoding="utf-8") for folder in (FOLDER, tmp_path))
    assert drawn == again, "run python -m docs.figures architecture"


def test_the_loop_is_that_of_the_tutorial(tmp_path: Path) -> None:
    loop.write(tmp_path / "loop.svg")
    for folder in (FOLDER, tmp_path):
        drawn = (folder / "loop.svg").read_text(encoding="utf-8")
        assert all(f">{text}<" in drawn for text in ("scan", "20 iterations", "roll", "roll_1", "divide", "shift=-1"))


def test_the_scaling_figure_says_what_a_device_holds() -> None:
    drawn = Path(FOLDER / "scaling.svg").read_text(encoding="utf-8")
    for _, rules, *_ in scaling.RULES:
        assert f">{scaling.held(8, rules) / 2**20:.0f} MiB<" in drawn
