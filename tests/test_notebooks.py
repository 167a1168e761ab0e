"""The notebooks in docs/ run, and show what they printed when they were run last."""

from __future__ import annotations

from pathlib import Path

import pytest

from docs.notebooks import FOLDER, execute, paths, read


def test_a_notebook_runs_in_order() -> None:
    cell = {"cell_type": "code", "metadata": {}, "source": ["x = 2\n", "print('two')\n", "x + 1"]}
    source = (
        "import graphc as gx\n@gx.function\ndef f(x):\n    while x > 1: x = x / 2\n    return x\nf(gx.ones(())).item()"
    )
    function = {"cell_type": "code", "metadata": {}, "source": source}
    first, second = execute({"cells": [cell, function]})["cells"]
    assert first["outputs"][0]["text"] == ["two\n"]
    assert first["outputs"][1]["data"] == {"text/plain": ["3"]}
    assert second["outputs"][0]["data"] == {"text/plain": ["1.0"]}  # its source was found


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_a_notebook_runs(path: Path) -> None:
    notebook = read(path)
    done = execute(notebook)
    for cell, again in zip(notebook["cells"], done["cells"], strict=True):
        kinds = [[output["output_type"] for output in found.get("outputs", [])] for found in (cell, again)]
        assert kinds[0] == kinds[1], f"run python -m docs.notebooks {path.stem}"


def test_there_are_the_three_that_the_tutorials_name() -> None:
    page = (FOLDER.parent / "index.md").read_text(encoding="utf-8")
    assert all(f"notebooks/{path.name}" in page for path in paths())
    assert len(paths()) == 3
