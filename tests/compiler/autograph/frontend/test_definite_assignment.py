"""Which names are bound on every way to where they are read."""

import ast
import textwrap

import pytest

from graphc.compiler.autograph.frontend.dataflow import always_bound
from graphc.compiler.autograph.frontend.scopes import NameTable, scope_of


def found(body: str) -> set[str]:
    node = ast.parse(f"def function(a, b):\n{textwrap.indent(textwrap.dedent(body), '    ')}").body[0]
    assert isinstance(node, ast.FunctionDef)
    return set(always_bound(node.body, scope_of(node, table := NameTable()), table)) - {"a", "b"}


@pytest.mark.parametrize(
    "body",
    [
        "for k in a:\n    if k: y = k; break\nelse:\n    y = 0\nreturn y",
        "while True:\n    if a: y = 1; break\nreturn y",
        "while a:\n    if b: y = 1; break\n    if a: return 3\nelse:\n    y = 2\nreturn y",
        "if a: y = 1\nelif b: return 2\nelse: raise ValueError\nreturn y",
        "if (y := a): pass\nreturn y",
        "try: y = a\nexcept ValueError: y = b\nreturn y",
        "try: z = a\nfinally: y = b\nreturn y",
        "with a as y: pass\nreturn y",
        "match a:\n    case 1: y = 1\n    case y: pass\nreturn y",
        "match a:\n    case [y, *z]: return y, z",
        "for k in a:\n    for l in k:\n        if l: y = l; break\n    else: continue\n    b += y",
        "y = 1",
    ],
)
def test_bound_on_every_way(body: str) -> None:
    assert "y" in found(body)


@pytest.mark.parametrize(
    "body",
    [
        "for k in a:\n    if k: y = k; break\nreturn y",
        "for y in a: pass\nreturn y",
        "while a:\n    y = 1\nreturn y",
        "while True:\n    if a: y = 1; break\n    if b: break\nreturn y",
        "if a: y = 1\nreturn y",
        "if a and (y := b): pass\nreturn y",
        "try: y = a()\nexcept ValueError: pass\nreturn y",
        "try: y = a()\nfinally: b(y)",
        "with suppress(ValueError): y = a()\nreturn y",
        "match a:\n    case 1: y = 1\nreturn y",
        "match a:\n    case [y]: pass\nreturn y",
        "y = 1\ndel y\nreturn y",
        "def inner(): return y\ny = 1\nreturn inner()",
        "y += 1",
        "for k in a:\n    b(y)\n    y = k",
        "for k in a:\n    if k: continue\n    y = k\nelse:\n    return y",
    ],
)
def test_unbound_on_some_way(body: str) -> None:
    assert "y" not in found(body)
