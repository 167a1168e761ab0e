"""A small SVG writer: a picture has its own paper, and colours for light and dark surroundings."""

from __future__ import annotations

from html import escape
from pathlib import Path

__all__ = ["COLOURS", "Picture"]

COLOURS = ("blue", "violet", "green", "amber", "grey")
"""The classes of filled shapes."""

_STYLE = """\
:root { --paper: #ffffff; --ink: #0f172a; --muted: #526077; --line: #8291a7; --rule: #d5dce6;
  --blue: #dbeafe; --blue-edge: #2563eb; --violet: #f3e8ff; --violet-edge: #9333ea; --green: #dcfce7;
  --green-edge: #15803d; --amber: #fef3c7; --amber-edge: #b45309; --grey: #f1f5f9; --grey-edge: #64748b; }
@media (prefers-color-scheme: dark) { :root { --paper: #0f172a; --ink: #e8eef6; --muted: #a3b1c6; --line: #7a8ba3;
  --rule: #2b3a52; --blue: #172f5c; --blue-edge: #60a5fa; --violet: #2c1a47; --violet-edge: #c084fc;
  --green: #123a22; --green-edge: #4ade80; --amber: #46330c; --amber-edge: #fbbf24; --grey: #1e293b;
  --grey-edge: #94a3b8; } }
text { font-family: system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; font-size: 14px; fill: var(--ink); }
.small { font-size: 12px; fill: var(--muted); } .bold { font-weight: 600; }
.code { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: 12px; }
.middle { text-anchor: middle; } .end { text-anchor: end; }
.line { stroke: var(--line); fill: none; stroke-width: 1.5; } .rule { stroke: var(--rule); fill: none; }
.head { fill: var(--line); }
"""


class Picture:
    """Shapes and texts, to be written as one SVG file.

    Args:
      width: in pixels, at which texts have 14.
      height: in pixels.
      label: what the picture shows, for those who do not see it.
    """

    def __init__(self, width: float, height: float, label: str) -> None:
        self.width, self.height, self.label = width, height, label
        self._parts: list[str] = []

    def box(self, x: float, y: float, width: float, height: float, colour: str = "grey", radius: float = 6) -> None:
        """Draws a filled rectangle."""
        self._parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{radius:g}" '
            f'style="fill:var(--{colour});stroke:var(--{colour}-edge)"/>'
        )

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        """Writes a line of text; ``kind`` names classes: small, bold, code, middle, end."""
        self._parts.append(f'<text x="{x:g}" y="{y:g}" class="{kind}">{escape(text)}</text>')

    def rule(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draws a thin line of a grid."""
        self._parts.append(f'<path class="rule" d="M{x1:g} {y1:g}L{x2:g} {y2:g}"/>')

    def line(self, points: list[tuple[float, float]], colour: str = "", *, dots: bool = False) -> None:
        """Draws a line through points, with a dot at each if asked."""
        path = "L".join(f"{x:g} {y:g}" for x, y in points)
        style = f' style="stroke:var(--{colour}-edge);stroke-width:2.5"' if colour else ""
        self._parts.append(f'<path class="line"{style} d="M{path}"/>')
        for x, y in points if dots else []:
            self._parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="4" style="fill:var(--{colour or "grey"}-edge)"/>')

    def arrow(self, x1: float, y1: float, x2: float, y2: float) -> None:
        """Draws an arrow along one axis, from the first point to the second."""
        self.line([(x1, y1), (x2, y2)])
        dx, dy = (x2 > x1) - (x2 < x1), (y2 > y1) - (y2 < y1)
        left, right = (x2 - 8 * dx - 4 * dy, y2 - 8 * dy - 4 * dx), (x2 - 8 * dx + 4 * dy, y2 - 8 * dy + 4 * dx)
        self._parts.append(
            f'<path class="head" d="M{x2:g} {y2:g}L{left[0]:g} {left[1]:g}L{right[0]:g} {right[1]:g}Z"/>'
        )

    def write(self, path: Path) -> None:
        """Writes the file."""
        path.write_text(self.document(), encoding="utf-8")

    def document(self) -> str:
        """Returns the file's text."""
        body = "\n".join(self._parts)
        size = f'width="{self.width:g}" height="{self.height:g}" viewBox="0 0 {self.width:g} {self.height:g}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label="{escape(self.label)}">\n'
            f'<style>{_STYLE}</style>\n<rect width="100%" height="100%" rx="8" style="fill:var(--paper)"/>\n'
            f"{body}\n</svg>\n"
        )
