"""graphc graph."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphc.cli import main

SOURCE = """
import graphc as gx

w = gx.Variable(gx.ones((2, 2)), name="w")

def step(x):
    y = gx.sin(x) + gx.sin(x)
    gx.exp(x)
    return y @ w

def example_args():
    return gx.ones((2, 2))
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
def target(tmp_path: Path) -> str:
    (tmp_path / "mine.py").write_text(SOURCE, encoding="utf-8")
    return f"{tmp_path / 'mine.py'}:step"


def test_a_graph_is_printed_in_each_form(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    starts = {"text": "graph step", "dot": "digraph", "stablehlo": "module @jit_step", "jaxpr": "{ lambda"}
    for form, start in starts.items():
        assert main(["graph", target, "--to", form]) == 0
        assert capsys.readouterr().out.startswith(start)
    assert main(["graph", target, "--no-lines"]) == 0
    assert "loc(" not in capsys.readouterr().out
    for name in ("graph.svg", "graph.html", "graph.dot", "new/graph.txt"):
        assert main(["graph", target, "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 0


def test_what_cannot_be_written_is_said(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", target, "--to", "svg"]) == 2
    assert "say where to with -o" in capsys.readouterr().err
    assert main(["graph", target, "--to", "svg", "-o", str(tmp_path / "graph.png")]) == 2
    assert "must end in .svg" in capsys.readouterr().err
