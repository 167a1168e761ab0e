"""Graphs in the language of Graphviz."""

from __future__ import annotations

import json
from collections.abc import Iterator

from graphc.compiler.ir import Graph
from graphc.tools.drawing import colours_of, kind_of
from graphc.tools.inspect.exports.rows import Row, rows_of

__all__ = ["to_dot"]


def to_dot(graph: Graph) -> str:
    r"""Returns a graph in Graphviz's language, bodies of loops and branches as clusters; ``dot -Tsvg`` draws it.

    Args:
      graph: what to write.

    Example:
      >>> import graphc as gx
      >>> print(to_dot(gx.function(lambda x: gx.sin(x)).graph(gx.ones(3))))
      digraph "lambda" {
        node [shape=box, style="rounded,filled", fontname="monospace", fontsize=10];
        "x.in" [label="x\nf32[3]", fillcolor="#ffffff", color="#64748b"];
        "sin" [label="sin\nf32[3]", fillcolor="#dbeafe", color="#2563eb"];
        "return_0" [label="return_0\nf32[3]", fillcolor="#e2e8f0", color="#475569"];
        "x.in" -> "sin";
        "sin" -> "return_0";
      }
    """
    rows = rows_of(graph)
    return "\n".join([f"digraph {json.dumps(graph.name)} {{", *_body(rows), "}"])


def _body(rows: list[Row]) -> Iterator[str]:
    yield '  node [shape=box, style="rounded,filled", fontname="monospace", fontsize=10];'
    scopes: dict[str, list[Row]] = {}
    for row in rows:
        scopes.setdefault(row.scope, []).append(row)
    for scope in list(scopes):  # those that hold nothing but others
        parts = scope.split("/")
        for end in range(1, len(parts)):
            scopes.setdefault("/".join(parts[:end]), [])
    yield from _scope("", scopes, "  ")
    for row in rows:
        for name, _ in dict.fromkeys(row.inputs):
            yield f"  {json.dumps(name)} -> {json.dumps(row.name)};"
        for name in row.controls:
            yield f'  {json.dumps(name)} -> {json.dumps(row.name)} [style=dashed, color="#d97706"];'


def _scope(scope: str, scopes: dict[str, list[Row]], indent: str) -> Iterator[str]:
    for row in scopes.get(scope, ()):
        fill, edge = colours_of(row.op if row.node is None else kind_of(row.node))
        text = "\n".join([row.label.removesuffix(".in"), ", ".join(map(str, row.types))]).strip()
        yield f'{indent}{json.dumps(row.name)} [label={json.dumps(text)}, fillcolor="{fill}", color="{edge}"];'
    for inner in scopes:
        if inner and inner.rpartition("/")[0] == scope:
            yield f"{indent}subgraph {json.dumps(f'cluster_{inner}')} {{"
            yield f'{indent}  label={json.dumps(inner.rpartition("/")[2])}; color="#9333ea"; style=rounded;'
            yield from _scope(inner, scopes, indent + "  ")
            yield f"{indent}}}"
