"""Drawings as files, and in notebooks."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import graphc as gx
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ir import Graph


@pytest.fixture(scope="module")
def graph() -> Graph:
    def step(x: Any) -> Any:
        for _ in range(50):
            x = gx.tanh(x) @ x
        return x if gx.sum(x) < 3 else -x

    return gx.function(step).graph(gx.ones((2, 2)))


def loads_nothing(text: str) -> bool:
    """Whether a page or picture needs nothing but itself."""
    references = re.findall(r"(?:src|href|url)\s*[=(]\s*['\"]?([^'\")\s>]+)", text)
    addresses = set(re.findall(r"https?://[^\s\"'<]+", text)) - {"http://www.w3.org/2000/svg"}
    return not addresses and all(reference.startswith("#") for reference in references) and "@import" not in text


def test_svg_is_well_formed_and_has_every_node(graph: Graph, tmp_path: Path) -> None:
    path = graph.draw(tmp_path / "new" / "graph.svg")
    text = path.read_text(encoding="utf-8")
    assert loads_nothing(text)
    root = ElementTree.fromstring(text)
    keys = {element.get("data-key") for element in root.iter()} - {None}
    assert keys >= {node.name for node in graph.nodes}
    assert "prefers-color-scheme: dark" in text


def test_html_is_one_page_with_the_text(graph: Graph, tmp_path: Path) -> None:
    text = graph.draw(tmp_path / "graph.html").read_text(encoding="utf-8")
    assert loads_nothing(text)
    ElementTree.fromstring(text.replace("<!DOCTYPE html>\n", ""))
    assert "graph step(%x: f32[2,2])" in text
    assert "Content-Security-Policy" in text


def test_another_ending_is_refused(graph: Graph, tmp_path: Path) -> None:
    with pytest.raises(InvalidArgumentError, match=r"graph\.gif'.*\.svg or \.html"):
        graph.draw(tmp_path / "graph.gif")


def test_names_that_mean_something_in_html_are_escaped(tmp_path: Path) -> None:
    v = gx.Variable(1.0, name="<b>&'\"")
    graph = gx.function(lambda x: x + v).graph(gx.ones(2))
    for name in ("graph.svg", "graph.html"):
        text = graph.draw(tmp_path / name).read_text(encoding="utf-8")
        assert "<b>" not in text
        ElementTree.fromstring(text.replace("<!DOCTYPE html>\n", ""))


def test_a_notebook_shows_the_drawing_and_the_text(graph: Graph) -> None:
    shown: Any = graph._repr_html_()
    assert loads_nothing(shown)
    assert "<svg" in shown
    assert "graph step" in shown
    assert ":root" not in shown  # the notebook's own looks stay


def test_names_with_characters_that_xml_has_not(tmp_path: Path) -> None:
    odd = gx.Variable(1.0, name="a\x0bb<c>")
    gx.function(lambda x: x * odd).graph(gx.ones(2)).draw(tmp_path / "odd.svg")
    assert "a\N{REPLACEMENT CHARACTER}b<c>" in "".join(ElementTree.parse(tmp_path / "odd.svg").getroot().itertext())
