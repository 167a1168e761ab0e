"""graphc graph, opt and diff."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import graphc as gx
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

TEXT = """graph f(%x: f32[2]) -> (f32[2]) {
  %sin: f32[2] = sin(%x)
  %again: f32[2] = sin(%x)
  %unused: f32[2] = exp(%x)
  %sum: f32[2] = add(%sin, %again)
  return %sum
}
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


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "f.graph"
    path.write_text(TEXT, encoding="utf-8")
    return path


def test_a_graph_is_printed_in_each_form(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    starts = {"text": "graph step", "dot": "digraph", "stablehlo": "module @jit_step", "jaxpr": "{ lambda"}
    for form, start in starts.items():
        assert main(["graph", target, "--to", form]) == 0
        assert capsys.readouterr().out.startswith(start)
    assert main(["graph", target, "--to", "model-explorer"]) == 0
    assert json.loads(capsys.readouterr().out)["label"] == "step"
    assert main(["graph", target, "--no-lines"]) == 0
    assert "loc(" not in capsys.readouterr().out
    for name in ("graph.svg", "graph.html", "graph.dot", "new/graph.txt"):
        assert main(["graph", target, "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).stat().st_size > 0
    assert main(["graph", target, "--to", "tensorboard", "-o", str(tmp_path / "runs")]) == 0
    assert list((tmp_path / "runs").glob("events*"))


def test_what_cannot_be_written_is_said(target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["graph", target, "--to", "svg"]) == 2
    assert "say where to with -o" in capsys.readouterr().err
    assert main(["graph", target, "--to", "svg", "-o", str(tmp_path / "graph.png")]) == 2
    assert "must end in .svg" in capsys.readouterr().err


def test_opt_shows_what_each_pass_changes(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", str(text), "--pass", "cse", "--pass", "dce", "--pass", "dce"]) == 0
    printed = capsys.readouterr().out
    assert "cse: 4 nodes -> 3" in printed
    assert "-  %again: f32[2] = sin(%x)" in printed
    assert "-  %unused: f32[2] = exp(%x)" in printed
    assert "dce: 3 nodes -> 2\n" in printed
    assert "dce: 2 nodes -> 2, nothing changed" in printed
    assert main(["opt", str(text), "--pass", "cse", "-o", "-"]) == 0
    out = capsys.readouterr().out
    assert len(gx.parse_graph(out).nodes) == 3
    assert main(["opt", str(text), "-o", str(tmp_path / "out.graph")]) == 0  # the passes of gx.function
    assert len(gx.parse_graph((tmp_path / "out.graph").read_text(encoding="utf-8")).nodes) == 2


def test_opt_lists_passes_and_names_them_where_one_is_wrong(text: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["opt", "--list"]) == 0
    listed = capsys.readouterr().out
    assert {"cse", "dce", "fold"} <= {line.split()[0] for line in listed.splitlines()}
    assert "Merges nodes that compute the same value." in listed
    assert main(["opt", str(text), "--pass", "cssse"]) == 2
    assert "there is no pass 'cssse'; there are" in capsys.readouterr().err
    assert main(["opt"]) == 2
    assert "give a file" in capsys.readouterr().err


def test_diff_takes_no_notice_of_names(text: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    other = tmp_path / "g.graph"
    other.write_text(TEXT.replace("%again", "%renamed").replace("graph f", "graph g"), encoding="utf-8")
    assert main(["diff", str(text), str(other)]) == 0
    assert capsys.readouterr().out == ""
    other.write_text(TEXT.replace("exp(", "cos("), encoding="utf-8")
    assert main(["diff", str(text), str(other)]) == 1
    assert "= cos(%x)" in capsys.readouterr().out
    other.write_text("graph", encoding="utf-8")
    assert main(["diff", str(text), str(other)]) == 2
    assert main(["diff", str(text), str(tmp_path / "none")]) == 2
    assert "there is no file" in capsys.readouterr().err
