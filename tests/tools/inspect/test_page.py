"""The page of an explanation: what it says, and that a browser shows it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import graphc as gx
from graphc.compiler.base.errors import NotFoundError
from graphc.tools.inspect import Explanation
from tests.tools.drawing.browser import chromium, needs_chromium
from tests.tools.drawing.test_draw import loads_nothing

V = gx.Variable(gx.ones((4, 4)), name="weights")
SCALE = gx.asarray(2.0)


@gx.function
def step(x: Any, flag: bool) -> Any:
    """Does a bit of everything <that> & the page shows."""
    unused = gx.exp(x)
    for _ in range(50):
        x = gx.tanh(x @ gx.tanh(V)) * (SCALE + 1)
    for i in range(2):
        x = x + i
    if flag:
        x = x + 1
    if gx.sum(x) > 3:
        gx.print("large", x)
    while gx.sum(x) > 1:
        x = x / 2
    with gx.device("cpu:0"):
        x = -x
    V.assign_add(x)
    del unused
    return x


X = gx.ones((4, 4))


@pytest.fixture(scope="module")
def found() -> Explanation:
    step.trace(gx.ones((4, 4)), False)
    return gx.explain(step, X, True)


@pytest.fixture(scope="module")
def html(found: Explanation) -> str:
    return found.html()


def test_the_page_is_whole_and_loads_nothing(html: str) -> None:
    assert loads_nothing(html)
    ElementTree.fromstring(html.replace("<!DOCTYPE html>\n", ""))


def test_every_line_of_the_function_is_there(html: str) -> None:
    root = ElementTree.fromstring(html.replace("<!DOCTYPE html>\n", ""))
    table = next(table for table in root.iter("table") if table.get("class") == "gx-source")
    rows = ["".join(row[1].itertext()) for row in table.iter("tr") if row[0].tag == "td"]
    source = Path(__file__).read_text(encoding="utf-8").splitlines()
    first = source.index("@gx.function")
    assert rows == source[first : first + len(rows)]
    assert rows[-1] == "    return x"
    tags = {tag.text for tag in root.iter("span") if (tag.get("class") or "").startswith("gx-tag")}
    wanted = {"compiled", "removed", "rolled", "unrolled", "branch", "host", "while loop", "pinned"}
    assert tags >= {*wanted, "decided when traced"}
    assert "it has fewer than 5 iterations" in html


def test_every_node_is_there(found: Explanation, html: str) -> None:
    root = ElementTree.fromstring(html.replace("<!DOCTYPE html>\n", ""))
    keys = {element.get("data-key") for element in root.iter()}
    assert keys >= {node.name for node in found.graph.nodes}
    assert "scan/body/matmul" in keys


def test_costs_memory_traces_and_variables_are_told(found: Explanation, html: str) -> None:
    assert ">6.4 kFLOP<" in html  # 50 products of 4x4 matrices
    assert "at most at once" in html
    assert "Traces" in html
    assert "flag" in found.traces[1]
    assert "weights" in html
    assert "read and written" in html


def test_collectives_and_retraces_of_many_devices(tmp_path: Path) -> None:
    spread = gx.distribute.DataParallel(gx.devices()[:2])
    total = spread.function(lambda x: gx.sum(x))
    html = gx.explain(total, gx.ones((8, 2))).html()
    assert "Collectives" in html
    assert "all-reduce" in html


def test_measured_times_come_from_a_profile(tmp_path: Path) -> None:
    @gx.function
    def product(x: Any) -> Any:
        for _ in range(20):
            x = gx.tanh(x @ x)
        return x

    x = gx.ones((64, 64))
    product(x).wait()
    with gx.profile(jax_profiler=tmp_path):
        product(x).wait()
    found = gx.explain(product, x, profile=tmp_path)
    assert found.node_times["scan"] >= found.node_times["scan/body/matmul"] > 0
    assert "measured" in found.html()
    with pytest.raises(NotFoundError, match=r"xplane\.pb.*gx\.profile\(jax_profiler=folder\)"):
        gx.explain(product, x, profile=tmp_path / "none")


@pytest.mark.multiprocess
@needs_chromium
def test_a_browser_shows_the_page(html: str, tmp_path: Path) -> None:
    script = """
      <script>addEventListener("load", () => {
        const stage = document.querySelector(".gx-stage");
        const view = document.querySelector(".gx-figure:not([hidden]) .gx-view");
        const before = view.style.transform;
        document.querySelector('[data-do="in"]').click();
        const box = document.querySelector('[data-key="scan/body/matmul"]');
        box.dispatchEvent(new MouseEvent("click", { bubbles: true }));
        const report = {
          zooms: before !== view.style.transform,
          details: document.querySelector(".gx-details").textContent,
          chosen: document.querySelectorAll("tr.gx-chosen").length,
          wide: document.documentElement.scrollWidth <= innerWidth,
          tall: stage.clientHeight > 200,
        };
        document.body.dataset.report = JSON.stringify(report);
      });</script></body>"""
    page = tmp_path / "page.html"
    page.write_text(html.replace("</body>", script), encoding="utf-8")
    printed, logged = chromium(page, tmp_path / "browser", "--dump-dom", "--window-size=420,900")
    report = re.search(r'data-report="([^"]*)"', printed)
    assert report is not None, logged
    text = report[1].replace("&quot;", '"')
    assert '"zooms":true' in text
    assert "%matmul" in text
    assert '"chosen":1' in text
    assert '"wide":true' in text  # a narrow window has nothing to scroll sideways
    assert '"tall":true' in text
    assert not re.search(r"Uncaught|Refused to|CONSOLE:.*[Ee]rror", logged), logged
