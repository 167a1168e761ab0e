"""Pictures as SVG, whose looks are classes of a style sheet."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import pairwise

from graphc.tools.drawing.picture import (
    HEADER,
    LINE_HEIGHT,
    OPENS,
    PADDING,
    Box,
    Link,
    Picture,
    Point,
    frame_size,
    inner_places,
)

# The colours of drawings, by what a box stands for, for light and dark backgrounds.


@dataclass(frozen=True)
class Shade:
    """The style of boxes of one kind."""

    name: str
    fill: str
    edge: str
    dark_fill: str
    dark_edge: str


KINDS = {
    "input": Shade("input", "#ffffff", "#64748b", "#1e293b", "#94a3b8"),
    "output": Shade("output", "#e2e8f0", "#475569", "#334155", "#cbd5e1"),
    "compute": Shade("operation", "#dbeafe", "#2563eb", "#172f5c", "#60a5fa"),
    "constant": Shade("constant", "#f1f5f9", "#94a3b8", "#273244", "#64748b"),
    "state": Shade("Variable", "#fef3c7", "#b45309", "#46330c", "#fbbf24"),
    "flow": Shade("loop or branch", "#f3e8ff", "#9333ea", "#2c1a47", "#c084fc"),
    "body": Shade("body", "#faf7ff", "#d8b4fe", "#211a33", "#6d4c9a"),
    "host": Shade("host call", "#dcfce7", "#15803d", "#123a22", "#4ade80"),
    "collective": Shade("collective", "#fee2e2", "#dc2626", "#4a1717", "#f87171"),
    "group": Shade("group", "#f8fafc", "#475569", "#1e293b", "#94a3b8"),
    "reference": Shade("from further up", "#ffffff", "#94a3b8", "#0f172a", "#64748b"),
}

_LIGHT = {
    "paper": "#ffffff",
    "ink": "#0f172a",
    "muted": "#526077",
    "line": "#8291a7",
    "order": "#d97706",
    "hot": "#ea580c",
    "rule": "#d5dce6",
    "panel": "#f5f7fa",
    "said": "#f1f6fd",
    "link": "#1d4ed8",
}
_DARK = {
    "paper": "#0f172a",
    "ink": "#e8eef6",
    "muted": "#a3b1c6",
    "line": "#64748b",
    "order": "#f59e0b",
    "hot": "#fb923c",
    "rule": "#334155",
    "panel": "#172033",
    "said": "#16223b",
    "link": "#93c5fd",
}


def colours_of(kind: str) -> tuple[str, str]:
    """Returns the colours of a kind of box, and of its outline, on a light background."""
    return KINDS[kind].fill, KINDS[kind].edge


def style_sheet() -> str:
    """Returns the colours as custom properties of CSS, for both backgrounds; printed pages are light."""
    light = {**_LIGHT, **{f"{kind}-fill": shade.fill for kind, shade in KINDS.items()}}
    light |= {f"{kind}-edge": shade.edge for kind, shade in KINDS.items()}
    dark = {**_DARK, **{f"{kind}-fill": shade.dark_fill for kind, shade in KINDS.items()}}
    dark |= {f"{kind}-edge": shade.dark_edge for kind, shade in KINDS.items()}
    boxes = "".join(f".k-{kind}{{fill:var(--gx-{kind}-fill);stroke:var(--gx-{kind}-edge)}}" for kind in KINDS)
    night = f"@media screen and (prefers-color-scheme: dark){{:root{{{_properties(dark)}}}}}"
    return f":root{{{_properties(light)}}}{night}{boxes}"


def _properties(colours: dict[str, str]) -> str:
    return "".join(f"--gx-{name}:{colour};" for name, colour in colours.items())


MARGIN = 12.0


@cache
def asset(name: str) -> str:
    """Returns the text of a file of ``graphc/tools/drawing/assets``."""
    return files("graphc.tools.drawing").joinpath("assets", name).read_text(encoding="utf-8")


_NO_XML = re.compile("[\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f]")


def escape(text: str) -> str:
    """Returns a text as XML holds it; of control characters it has none."""
    return html.escape(_NO_XML.sub("\N{REPLACEMENT CHARACTER}", text))


def svg_element(picture: Picture) -> str:
    """Returns a picture as an element of a page, which brings the style sheet."""
    width, height = picture.width + 2 * MARGIN, picture.height + 2 * MARGIN
    content = "".join(_picture(picture, MARGIN, MARGIN))
    return (
        f'<svg class="gx-graph" viewBox="0 0 {_number(width)} {_number(height)}" width="{_number(width)}" '
        f'height="{_number(height)}" role="img" aria-label="{escape(f"graph {picture.title}")}">'
        f'<g class="gx-view">{content}</g></svg>'
    )


def svg_document(picture: Picture) -> str:
    """Returns a picture as a file of its own, in light and dark colours."""
    style = f"<style>{style_sheet()}{asset('graph.css')}</style>"
    element = svg_element(picture).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
    head, rest = element.split(">", 1)
    paper = '<rect class="gx-paper" width="100%" height="100%"/>'
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{head}>{style}{paper}{rest}\n'


def legend(pictures: Sequence[Picture]) -> str:
    """Returns a list of the kinds of boxes that pictures have, with their colours."""
    there = {box.kind for picture in pictures for box in _boxes(picture)}
    items = "".join(
        f'<li><svg width="18" height="12" aria-hidden="true"><rect class="k-{kind}" x="1" y="1" width="16" height="10" '
        f'rx="3"/></svg>{escape(shade.name)}</li>'
        for kind, shade in KINDS.items()
        if kind in there
    )
    return f'<ul class="gx-legend">{items}</ul>'


def _boxes(picture: Picture) -> Iterator[Box]:
    for box in picture.boxes:
        yield box
        for inner in box.inner:
            yield from _boxes(inner)


def _picture(picture: Picture, x: float, y: float) -> Iterator[str]:
    for link in picture.links:
        yield from _link(link, x, y)
    for box in picture.boxes:
        yield from _box(box, x, y)


def _box(box: Box, x: float, y: float) -> Iterator[str]:
    left, top = x + box.x, y + box.y
    names = f"gx-box gx-{box.kind}" + (" gx-opens" if box.opens else "")
    opens = f' data-opens="{escape(" ".join(map(token, box.opens)))}"' if box.opens else ""
    attribute = f' data-place="{escape(box.place)}"' if box.place else ""
    yield f'<g class="{names}" data-key="{escape(box.key)}"{opens}{attribute}>'
    if box.details:
        yield f"<title>{escape(box.details)}</title>"
    radius = box.height / 2 if box.is_pill else 5
    yield (
        f'<rect class="k-{box.kind}" x="{_number(left)}" y="{_number(top)}" width="{_number(box.width)}" '
        f'height="{_number(box.height)}" rx="{_number(radius)}"/>'
    )
    if box.is_pill:
        line = "".join(f" <tspan>{escape(line)}</tspan>" for line in box.lines)
        yield _text(
            f"<tspan class='gx-name'>{escape(box.title)}</tspan>{line}", left + box.width / 2, top + 14, "gx-mid"
        )
    else:
        if box.heat > 0.005:
            yield (
                f'<rect class="gx-heat" x="{_number(left)}" y="{_number(top + box.height - 4)}" '
                f'width="{_number(max(box.width * box.heat, 4))}" height="4" rx="2"/>'
            )
        mark = OPENS if box.opens else ""
        yield _text(escape(box.title + mark), left + PADDING, top + HEADER - 4, "gx-title")
        for number, line in enumerate(box.lines):
            yield _text(escape(line), left + PADDING, top + HEADER + number * LINE_HEIGHT + 10, "gx-line")
        yield from _inner(box, left, top)
    yield "</g>"


def _inner(box: Box, left: float, top: float) -> Iterator[str]:
    for inner, (x, y) in zip(box.inner, inner_places(box), strict=True):
        width, height = frame_size(inner)
        yield (
            f'<rect class="k-body" x="{_number(left + x)}" y="{_number(top + y)}" width="{_number(width)}" '
            f'height="{_number(height)}" rx="5"/>'
        )
        yield _text(escape(inner.title), left + x + PADDING, top + y + 14, "gx-frame")
        yield from _picture(inner, left + x + (width - inner.width) / 2, top + y + LINE_HEIGHT + 2 * PADDING)


def _link(link: Link, x: float, y: float) -> Iterator[str]:
    points = [(x + point[0], y + point[1]) for point in link.points]
    kind = "gx-link gx-control" if link.control else "gx-link"
    yield f'<g class="{kind}"><title>{escape(link.details)}</title><path d="{_curve(points)}"/>{_arrow(points[-1])}</g>'


def _curve(points: Sequence[Point]) -> str:
    """Returns a smooth line: straight down within a rank, bent between ranks."""
    parts = [f"M{_point(points[0])}"]
    for number, (start, end) in enumerate(pairwise(points)):
        if number % 2 == 0:
            parts.append(f"L{_point(end)}")
        else:
            middle = (start[1] + end[1]) / 2
            parts.append(f"C{_point((start[0], middle))} {_point((end[0], middle))} {_point(end)}")
    return "".join(parts)


def _arrow(tip: Point) -> str:
    x, y = tip
    return f'<path class="gx-tip" d="M{_point((x - 3.5, y - 6))}L{_point((x + 3.5, y - 6))}L{_point(tip)}Z"/>'


def _text(content: str, x: float, y: float, kind: str) -> str:
    return f'<text class="{kind}" x="{_number(x)}" y="{_number(y)}">{content}</text>'


def token(key: str) -> str:
    """Returns a key as one word, for lists of keys."""
    return key.replace(" ", "\N{NO-BREAK SPACE}")


def _point(point: Point) -> str:
    return f"{_number(point[0])},{_number(point[1])}"


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
