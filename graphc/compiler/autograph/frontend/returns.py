"""Lists a function's returns, for the error of a function whose paths return different things."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Iterator, Sequence

from graphc.compiler.base import Location

__all__ = ["where_it_returns"]

_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef


def where_it_returns(location: Location | None) -> str:
    """Returns the lines on which the function around a line returns, in words; empty where its source is not there."""
    if location is None:
        return ""
    try:
        tree = ast.parse("".join(linecache.getlines(location.file)))
    except SyntaxError:
        return ""
    around = [node for node in ast.walk(tree) if isinstance(node, _FUNCTIONS) and _holds(node, location.line)]
    if not around:
        return ""
    function = max(around, key=lambda node: node.lineno)
    lines = sorted({node.lineno for node in _own_returns(function.body)})
    ways = [f"returns at line{'s' * (len(lines) > 1)} {' and '.join(map(str, lines))}"] if lines else []
    if not _always_ends(function.body):
        ways.append(f"ends without a return after line {function.end_lineno}")
    return f"; {function.name} {' and '.join(ways)}" if ways else ""


def _holds(node: ast.FunctionDef | ast.AsyncFunctionDef, line: int) -> bool:
    return node.lineno <= line <= (node.end_lineno or node.lineno)


def _own_returns(body: Sequence[ast.AST]) -> Iterator[ast.Return]:
    """Yields the ``return`` statements of a function, without those of functions inside it."""
    for node in body:
        if isinstance(node, ast.Return):
            yield node
        elif not isinstance(node, _FUNCTIONS | ast.ClassDef | ast.Lambda):
            yield from _own_returns(list(ast.iter_child_nodes(node)))


def _always_ends(body: Sequence[ast.stmt]) -> bool:
    """Returns True if a block certainly returns or raises, as far as its last statement tells."""
    last = body[-1]
    if isinstance(last, ast.If):
        return bool(last.orelse) and _always_ends(last.body) and _always_ends(last.orelse)
    if isinstance(last, ast.With | ast.AsyncWith):
        return _always_ends(last.body)
    if isinstance(last, ast.While):
        return isinstance(last.test, ast.Constant) and bool(last.test.value)
    return isinstance(last, ast.Return | ast.Raise)
