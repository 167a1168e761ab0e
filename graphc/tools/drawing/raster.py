"""Pictures drawn by matplotlib, for the formats that it writes: PNG, PDF and others."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

from graphc.compiler.base.errors import FailedPreconditionError
from graphc.tools.drawing.palette import KINDS
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
from graphc.tools.drawing.svg import MARGIN

__all__ = ["draw_raster"]

_DOTS = 160
"""The dots per inch of a picture; of larger ones fewer, so that no side has more than :data:`_MOST`."""
_MOST = 12_000
_PIXEL = 1 / 96
"""A pixel in inches, as CSS has it."""
_FONT = "DejaVu Sans Mono"
_POINTS = 11 * 0.75
_INK, _MUTED, _LINE, _ORDER, _HOT = "#0f172a", "#526077", "#8291a7", "#d97706", "#ea580c"


def draw_raster(picture: Picture, path: Path) -> None:
    """Draws a picture into a file whose ending says the format.

    Args:
      picture: the picture to draw, with its layout.
      path: the file.

    Raises:
      FailedPreconditionError: matplotlib is not installed.
    """
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
        place = (x + PADDING, y + HEADER + number * LINE_HEIGHT + 10)
        axes.text(*place, line, va="baseline", color=_MUTED, **how)
    for inner, (left, top) in zip(box.inner, inner_places(box), strict=True):
        size = frame_size(inner)
        _rectangle(axes, "body", (x + left, y + top), size, depth + 1)
        place = (x + left + PADDING, y + top + 14)
        axes.text(*place, inner.title, va="baseline", color=_MUTED, style="italic", **{**how, "zorder": depth + 1.5})
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

    points = [(x + place[0], y + place[1]) for place in link.points]
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
