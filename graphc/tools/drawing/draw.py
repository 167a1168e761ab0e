"""Graphs as files and in notebooks."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.compiler.ir import Graph, Node, print_graph
from graphc.tools.drawing.charts import Span, lanes
from graphc.tools.drawing.picture import (
    HEADER,
    LINE_HEIGHT,
    OPENS,
    PADDING,
    Box,
    Link,
    Picture,
    frame_size,
    inner_places,
)
from graphc.tools.drawing.svg import KINDS, MARGIN, asset, legend, style_sheet, svg_document, svg_element, token
from graphc.tools.drawing.viewing import LIMIT, Note, views

__all__ = [
    "draw_graph",
    "draw_raster",
    "explorer",
    "graph_page",
    "notebook_graph",
    "notebook_timeline",
    "page",
    "shown",
]

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


# Pictures drawn by matplotlib, for the formats that it writes: PNG, PDF and others.

_DOTS = 160
"""The dots per inch of a picture; of larger ones fewer, so that no side has more than :data:`_MOST`."""
_MOST = 12_000
_PIXEL = 1 / 96
"""A pixel in inches, as CSS has it."""
_FONT = "DejaVu Sans Mono"
_POINTS = 11 * 0.75
_INK, _MUTED, _LINE, _ORDER, _HOT = "#0f172a", "#526077", "#8291a7", "#d97706", "#ea580c"


def draw_raster(picture: Picture, path: Path) -> None:
    """Draws a picture into a file whose ending says the format."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise FailedPreconditionError("drawing needs matplotlib: pip install 'graphc[viz]'") from None
    width, height = picture.width + 2 * MARGIN, picture.height + 2 * MARGIN
    figure: Any = Figure(figsize=(width * _PIXEL, height * _PIXEL))
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set_xlim(0, width)
    axes.set_ylim(height, 0)
    axes.set_axis_off()
    _picture(axes, picture, MARGIN, MARGIN, 1)
    figure.savefig(path, dpi=min(_DOTS, _MOST / (max(width, height) * _PIXEL)))


def _picture(axes: Any, picture: Picture, x: float, y: float, depth: int) -> None:
    for link in picture.links:
        _link(axes, link, x, y, depth)
    for box in picture.boxes:
        _box(axes, box, x + box.x, y + box.y, depth)


def _box(axes: Any, box: Box, x: float, y: float, depth: int) -> None:
    _rectangle(axes, box.kind, (x, y), (box.width, box.height), depth, round_ends=box.is_pill)
    how: dict[str, Any] = {"fontsize": _POINTS, "family": _FONT, "zorder": depth + 0.5, "parse_math": False}
    if box.is_pill:
        text = " ".join([box.title, *box.lines])
        axes.text(x + box.width / 2, y + 14, text, ha="center", va="baseline", color=_INK, **how)
        return
    if box.heat > 0.005:
        size = (max(box.width * box.heat, 4), 4)
        axes.add_patch(_patches().Rectangle((x, y + box.height - 4), *size, color=_HOT, zorder=depth + 0.3))
    title = box.title + OPENS * bool(box.opens)
    axes.text(x + PADDING, y + HEADER - 4, title, va="baseline", color=_INK, weight="bold", **how)
    for number, line in enumerate(box.lines):
        point = (x + PADDING, y + HEADER + number * LINE_HEIGHT + 10)
        axes.text(*point, line, va="baseline", color=_MUTED, **how)
    for inner, (left, top) in zip(box.inner, inner_places(box), strict=True):
        size = frame_size(inner)
        _rectangle(axes, "body", (x + left, y + top), size, depth + 1)
        point = (x + left + PADDING, y + top + 14)
        axes.text(*point, inner.title, va="baseline", color=_MUTED, style="italic", **{**how, "zorder": depth + 1.5})
        _picture(axes, inner, x + left + (size[0] - inner.width) / 2, y + top + LINE_HEIGHT + 2 * PADDING, depth + 2)


def _rectangle(
    axes: Any, kind: str, corner: tuple[float, float], size: tuple[float, float], depth: int, round_ends: bool = False
) -> None:
    shade = KINDS[kind]
    style = f"round,pad=0,rounding_size={size[1] / 2 if round_ends else 5}"
    dashes = "--" if kind == "reference" else "-"
    axes.add_patch(
        _patches().FancyBboxPatch(
            corner, *size, boxstyle=style, facecolor=shade.fill, edgecolor=shade.edge, linewidth=0.9,
            linestyle=dashes, zorder=depth,
        )
    )  # fmt: skip


def _link(axes: Any, link: Link, x: float, y: float, depth: int) -> None:
    from matplotlib.path import Path as Line

    points = [(x + point[0], y + point[1]) for point in link.points]
    corners, codes = [points[0]], [Line.MOVETO]
    for number, (start, end) in enumerate(pairwise(points)):
        if number % 2 == 0:
            corners.append(end)
            codes.append(Line.LINETO)
        else:
            middle = (start[1] + end[1]) / 2
            corners += [(start[0], middle), (end[0], middle), end]
            codes += [Line.CURVE4] * 3
    colour = _ORDER if link.control else _LINE
    how = {"edgecolor": colour, "linewidth": 1.0, "linestyle": "--" if link.control else "-", "zorder": depth - 0.2}
    axes.add_patch(_patches().PathPatch(Line(corners, codes), facecolor="none", **how))
    tip = points[-1]
    arrow = [(tip[0] - 3.5, tip[1] - 6), (tip[0] + 3.5, tip[1] - 6), tip]
    axes.add_patch(_patches().Polygon(arrow, facecolor=colour, edgecolor="none", zorder=depth - 0.1))


def _patches() -> Any:
    from matplotlib import patches

    return patches


_RASTER = (".png", ".pdf", ".jpg", ".jpeg")


def draw_graph(
    graph: Graph, path: str | os.PathLike[str], *, limit: int | None = LIMIT, notes: Mapping[Node, Note] | None = None
) -> Path:
    """Draws a graph into a file; see :meth:`graphc.compiler.ir.Graph.draw`.

    Args:
      limit: how many nodes one picture shows at most; None for all.
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


def notebook_timeline(events: Sequence[Any]) -> str:
    """Returns the events of a timeline as a notebook shows them: a lane for each device and thread."""
    spans = [Span(event.track, event.kind, event.name, event.start, event.end) for event in events]
    count = f"{len(spans)} event{'s' if len(spans) != 1 else ''}"
    return shown(f"{lanes(spans)}<div class='gx-caption'>{count}</div>")
