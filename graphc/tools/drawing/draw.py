"""Graphs as files and in notebooks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from html import escape
from pathlib import Path

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ir import Graph, Node, print_graph
from graphc.tools.drawing.pages import graph_page, shown
from graphc.tools.drawing.raster import draw_raster
from graphc.tools.drawing.svg import svg_document, svg_element
from graphc.tools.drawing.viewing import LIMIT, Note, views

__all__ = ["draw_graph", "notebook_graph"]

_RASTER = (".png", ".pdf", ".jpg", ".jpeg")


def draw_graph(
    graph: Graph, path: str | os.PathLike[str], *, limit: int | None = LIMIT, notes: Mapping[Node, Note] | None = None
) -> Path:
    """Draws a graph into a file; see :meth:`graphc.compiler.ir.Graph.draw`.

    Args:
      graph: what to draw.
      path: the file; its ending says the format: ``.svg``, ``.html``, ``.png``, ``.pdf`` or ``.jpg``.
      limit: how many nodes one picture shows at most; None for all.
      notes: what else to say of nodes.

    Returns:
      The path.

    Raises:
      InvalidArgumentError: the ending is none of these.
      FailedPreconditionError: matplotlib is not installed, which draws all but SVG and HTML.
    """
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in (".svg", ".html", *_RASTER):
        raise at(
            InvalidArgumentError(
                f"{str(path)!r}: a drawing of a graph is a file that ends in .svg, .html, {', '.join(_RASTER)}"
            ),
            user_location(),
        )
    pictures = views(graph, limit=limit, notes=notes)
    file.parent.mkdir(parents=True, exist_ok=True)
    if ending == ".svg":
        file.write_text(svg_document(pictures[0]), encoding="utf-8")
    elif ending == ".html":
        file.write_text(graph_page(graph.name, print_graph(graph), pictures), encoding="utf-8")
    else:
        draw_raster(pictures[0], file)
    return file


def notebook_graph(graph: Graph) -> str:
    """Returns a graph as a notebook shows it: the drawing, and the text behind a click."""
    picture = views(graph)[0]
    text = escape(print_graph(graph, locations=False))
    return shown(
        f'<div class="gx-scroll">{svg_element(picture)}</div>'
        f"<details><summary>{escape(graph.name)} as text</summary><pre>{text}</pre></details>"
    )
