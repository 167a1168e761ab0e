"""Branches that Python decided when a function was traced, inferred from the lines with ops."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Sequence

from graphc.compiler.base import Location
from graphc.tools.inspect.explanation import LineReport

__all__ = ["decided_branches"]


def decided_branches(lines: Sequence[LineReport]) -> list[tuple[Location, str]]:
    """Returns the ``if`` statements on Python values of which only some branches were traced.

    Args:
      lines: the lines of the user's code with ops or remarks. An ``if`` on a tensor is one of them: it makes an op. For
        a branch without ops it is unknown whether it was taken.

    Returns:
      The line of each statement, with the branch that was taken.
    """
    found: list[tuple[Location, str]] = []
    by_file: dict[str, dict[int, LineReport]] = {}
    for line in lines:
        by_file.setdefault(line.location.file, {})[line.location.line] = line
    for file, known in by_file.items():
        for node in _ifs(file):
            body = [known[number] for number in _span(node.body) if number in known]
            orelse = [known[number] for number in _span(node.orelse) if number in known]
            on_tensor = any(note.startswith("cond") for note in _notes(known.get(node.test.lineno)))
            if on_tensor or not (body or orelse):
                continue
            taken = "sometimes true, sometimes false" if body and orelse else "true" if body else "false"
            location = (body or orelse)[0].location
            found.append((Location(file, node.test.lineno, location.function), taken))
    return found


def _notes(line: LineReport | None) -> list[str]:
    return [] if line is None else line.notes


def _ifs(file: str) -> Iterator[ast.If]:
    try:
        tree = ast.parse("".join(linecache.getlines(file)))
    except SyntaxError:
        return
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            yield from (node for node in ast.walk(function) if isinstance(node, ast.If))


def _span(body: Sequence[ast.stmt]) -> range:
    return range(body[0].lineno, (body[-1].end_lineno or body[-1].lineno) + 1) if body else range(0)
