"""The notebooks of the tutorials: ``python -m docs.notebooks`` runs them and keeps what they show.

A notebook runs cell by cell in this process, without a kernel: what a cell prints, and what its last expression shows,
become its outputs.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import linecache
import os
import sys
import types
from pathlib import Path
from typing import Any

os.environ.setdefault("GRAPHC_CPU_DEVICES", "8")
os.environ.setdefault("COLUMNS", "76")  # of tables, so that a page shows them whole

__all__ = ["FOLDER", "execute", "paths", "read", "write"]

FOLDER = Path(__file__).parent / "tutorials" / "notebooks"


def paths() -> list[Path]:
    """Returns all notebooks."""
    return sorted(FOLDER.glob("*.ipynb"))


def read(path: Path) -> dict[str, Any]:
    """Returns a notebook."""
    return json.loads(path.read_text(encoding="utf-8"))


def write(path: Path, notebook: dict[str, Any]) -> None:
    """Writes a notebook as Jupyter does."""
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")


def execute(notebook: dict[str, Any]) -> dict[str, Any]:
    """Runs the code cells in order, and returns the notebook with their outputs.

    Raises:
      Exception: what a cell raises.
    """
    module = types.ModuleType("__main__")
    cells = [dict(cell) for cell in notebook["cells"]]
    for count, cell in enumerate((cell for cell in cells if cell["cell_type"] == "code"), 1):
        cell["execution_count"] = count
        cell["outputs"] = _run("".join(cell["source"]), f"Cell In[{count}]", count, module.__dict__)
    return {**notebook, "cells": cells}


def _run(source: str, name: str, count: int, names: dict[str, Any]) -> list[dict[str, Any]]:
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)  # graphc reads it there
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), name, "exec"), names)
        if last is not None:
            value = eval(compile(ast.Expression(last.value), name, "eval"), names)
    outputs: list[dict[str, Any]] = []
    if printed.getvalue():
        outputs.append({"name": "stdout", "output_type": "stream", "text": _lines(printed.getvalue())})
    if value is not None:
        data = {"text/plain": _lines(repr(value))}
        if (html := getattr(value, "_repr_html_", None)) is not None and (shown := html()) is not None:
            data["text/html"] = _lines(shown)
        outputs.append({"data": data, "execution_count": count, "metadata": {}, "output_type": "execute_result"})
    return outputs


def _lines(text: str) -> list[str]:
    return [line.rstrip() + "\n" if line.endswith("\n") else line.rstrip() for line in text.splitlines(keepends=True)]


def main(names: list[str]) -> None:
    """Runs the named notebooks, or all."""
    for path in paths():
        if not names or path.stem in names:
            write(path, execute(read(path)))


if __name__ == "__main__":
    main(sys.argv[1:])
