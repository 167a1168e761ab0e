"""Graphs as files and in notebooks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ir import Graph, Node, print_graph
from graphc.tools.drawing.charts import TimeSpan, lanes
from graphc.tools.drawing.picture import Picture
from graphc.tools.drawing.svg import asset, legend, style_sheet, svg_document, svg_element, token
from graphc.tools.drawing.viewing import LIMIT, Note, views

# Pages of their own: one file with its style and script, which loads nothing.

_HINT = "Click a box to see what it is. Drag to move; zoom with the buttons, the keys + - 0, or Ctrl and the wheel."
_HIDDEN = ' hidden="hidden"'
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


def page(title: str, body: str) -> str:
    """Returns a page."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8"/>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1"/>\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}"/>\n'
        f"<title>{escape(title)}</title>\n"
        f"<style>\n{style_sheet()}\n{asset('graph.css')}{asset('page.css')}</style>\n</head>\n"
        f"<body>\n{body}\n<script>\n//<![CDATA[\n{asset('page.js')}//]]>\n</script>\n</body>\n</html>\n"
    )


def explorer(pictures: Sequence[Picture]) -> str:
    """Returns pictures of a graph as a piece of a page in which one can move, zoom and look inside boxes."""
    figures = "".join(
        f'<figure class="gx-figure" data-key="{escape(token(picture.key))}" data-title="{escape(picture.title)}"'
        f"{_HIDDEN if number else ''}>{svg_element(picture)}</figure>\n"
        for number, picture in enumerate(pictures)
    )
    return (
        '<div class="gx-explorer"><div class="gx-bar"><nav class="gx-crumbs" aria-label="Which part is shown"></nav>'
        '<span><input type="search" placeholder="Find a node" aria-label="Find a node"/> '
        '<button data-do="out" title="Smaller">&#8722;</button> <button data-do="in" title="Larger">+</button> '
        '<button data-do="fit">Fit</button></span></div>'
        f'<div class="gx-stage" tabindex="0">{figures}</div>'
        f'<div class="gx-details" aria-live="polite">{_HINT}</div></div>{legend(pictures)}'
    )


def graph_page(title: str, text: str, pictures: Sequence[Picture]) -> str:
    """Returns a page that shows a graph and its text."""
    body = (
        f"<h1>{escape(title)}</h1>{explorer(pictures)}"
        f'<details><summary>The graph as text</summary><pre class="gx-text">{escape(text)}</pre></details>'
    )
    return page(title, body)


def shown(content: str) -> str:
    """Returns a piece of HTML with the style that it needs in a notebook, whose own looks stay as they are."""
    style = f"{style_sheet().replace(':root', '.gx-shown')}{asset('graph.css')}{asset('notebook.css')}"
    return f'<div class="gx-shown"><style>{style}</style>{content}</div>'


def draw_graph(
    graph: Graph, path: str | os.PathLike[str], *, limit: int | None = LIMIT, notes: Mapping[Node, Note] | None = None
) -> Path:
    """Draws a graph into a file; see :meth:`graphc.compiler.ir.Graph.draw`."""
    file = Path(path)
    ending = file.suffix.lower()
    if ending not in (".svg", ".html"):
        problem = (
            f"{str(path)!r}: a drawing of a graph is a file that ends in .svg or .html; browsers turn it into others"
        )
        raise InvalidArgumentError(problem).here()
    pictures = views(graph, limit=limit, notes=notes)
    file.parent.mkdir(parents=True, exist_ok=True)
    if ending == ".svg":
        file.write_text(svg_document(pictures[0]), encoding="utf-8")
    else:
        file.write_text(graph_page(graph.name, print_graph(graph), pictures), encoding="utf-8")
    return file


def notebook_graph(graph: Graph) -> str:
    """Returns a graph as a notebook shows it: the drawing, and the text behind a click."""
    picture = views(graph)[0]
    text = escape(print_graph(graph, locations=False))
    return shown(
        f'<div class="gx-scroll">{svg_element(picture)}</div>'
        f"<details><summary>{escape(graph.name)} as text</summary><pre>{text}</pre></details>"
    )


def notebook_timeline(events: Sequence[Any]) -> str:
    """Returns the events of a timeline as a notebook shows them: a lane for each device and thread."""
    spans = [TimeSpan(event.track, event.kind, event.name, event.start, event.end) for event in events]
    count = f"{len(spans)} event{'s' if len(spans) != 1 else ''}"
    return shown(f"{lanes(spans)}<div class='gx-caption'>{count}</div>")
