"""Charts for notebooks, as SVG: bars of times, and lanes of what ran when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

_WIDTH = 760.0
_LABEL = 190.0
_CHARACTER = 6.2
"""Approximate width of a character at 11 pixels."""
_LANE_COLOURS = {
    "op": "#7dd3fc",
    "program": "#93c5fd",
    "segment": "#93c5fd",
    "transfer": "#fdba74",
    "host call": "#86efac",
    "control flow": "#d8b4fe",
    "transform": "#d8b4fe",
    "wait": "#cbd5e1",
}
_OTHER = "#e2e8f0"


@dataclass(frozen=True)
class Bar:
    """One of several times that are compared. ``low``: where the middle half begins; so ends it at ``high``."""

    name: str
    value: float
    low: float
    high: float
    text: str


@dataclass(frozen=True)
class TimeSpan:
    """Something that took time. ``kind``: what it was, by which it has its colour."""

    lane: str
    kind: str
    name: str
    start: float
    end: float


def bars(rows: Sequence[Bar]) -> str:
    """Returns bars from 0, with the middle half of each as a line."""
    longest = max((max(row.value, row.high) for row in rows), default=0.0) or 1.0
    texts = max((len(row.text) for row in rows), default=0) * _CHARACTER + 26
    scale = (_WIDTH - _LABEL - texts) / longest
    parts: list[str] = []
    for number, row in enumerate(rows):
        y = number * 24.0
        width = row.value * scale
        parts.append(
            f"<g><title>{escape(row.name)}: {escape(row.text)}</title>"
            f'<text x="{_LABEL - 8:.0f}" y="{y + 16:.1f}" text-anchor="end">{escape(_cut(row.name, 28))}</text>'
            f'<rect class="gx-median" x="{_LABEL:.0f}" y="{y + 4:.1f}" width="{max(width, 1):.1f}" height="16"/>'
            f'<rect class="gx-middle" x="{_LABEL + row.low * scale:.1f}" y="{y + 10:.1f}" '
            f'width="{max((row.high - row.low) * scale, 1):.1f}" height="4"/>'
            f'<text x="{_LABEL + max(width, row.high * scale) + 8:.1f}" y="{y + 16:.1f}">{escape(row.text)}</text></g>'
        )
    return _chart("".join(parts), len(rows) * 24.0 + 4)


def lanes(spans: Sequence[TimeSpan], most: int = 2000) -> str:
    """Returns a lane for each place, with a box for each span; of many spans, the longest are drawn."""
    shown = sorted(sorted(spans, key=lambda span: span.start - span.end)[:most], key=lambda span: span.start)
    names = sorted(dict.fromkeys(span.lane for span in shown), key=lambda lane: (lane[:1] != "/", lane))
    first, last = min((span.start for span in shown), default=0.0), max((span.end for span in shown), default=1.0)
    scale = (_WIDTH - _LABEL - 8) / max(last - first, 1e-9)
    parts: list[str] = []
    y = 4.0
    for lane in names:
        here = [span for span in shown if span.lane == lane]
        ends: list[float] = []
        for span in here:
            row = next((row for row, end in enumerate(ends) if end <= span.start), len(ends))
            ends[row : row + 1] = [span.end]
            parts.append(_span(span, _LABEL + (span.start - first) * scale, y + row * 18, scale))
        parts.append(f'<text x="{_LABEL - 8:.0f}" y="{y + 13:.1f}" text-anchor="end">{escape(_cut(lane, 28))}</text>')
        y += len(ends) * 18 + 6
        parts.append(f'<path class="gx-rule" d="M0,{y - 3:.1f}H{_WIDTH:.0f}"/>')
    for share in (0.0, 0.5, 1.0):
        anchor = ("start", "middle", "end")[int(share * 2)]
        text = _milliseconds(first + (last - first) * share)
        x = _LABEL + (last - first) * share * scale
        parts.append(f'<text class="gx-quiet" x="{x:.1f}" y="{y + 13:.1f}" text-anchor="{anchor}">{text}</text>')
    return _chart("".join(parts), y + 20) + _kinds(shown)


def _span(span: TimeSpan, x: float, y: float, scale: float) -> str:
    width = max((span.end - span.start) * scale, 1.0)
    label = ""
    if width > 24:
        text = _cut(span.name, int((width - 6) / _CHARACTER))
        label = f'<text class="gx-inside" x="{x + 3:.1f}" y="{y + 12:.1f}">{escape(text)}</text>'
    caption = f"{span.name} ({span.kind}): {_milliseconds(span.end - span.start)} from {_milliseconds(span.start)}"
    return (
        f'<g><title>{escape(caption)}</title><rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="16" rx="2" '
        f'fill="{_LANE_COLOURS.get(span.kind, _OTHER)}"/>{label}</g>'
    )


def _kinds(spans: Sequence[TimeSpan]) -> str:
    items = " ".join(
        f'<svg width="12" height="10" aria-hidden="true"><rect width="12" height="10" rx="2" '
        f'fill="{_LANE_COLOURS.get(kind, _OTHER)}"/></svg> {escape(kind)}&#160;&#160;'
        for kind in dict.fromkeys(span.kind for span in spans)
    )
    return f'<div class="gx-caption">{items}</div>'


def _chart(content: str, height: float) -> str:
    return (
        f'<svg class="gx-chart" viewBox="0 0 {_WIDTH:.0f} {height:.0f}" width="{_WIDTH:.0f}" height="{height:.0f}" '
        f'role="img">{content}</svg>'
    )


def _milliseconds(seconds: float) -> str:
    """Returns three digits, or all before the point: 1150 ms, not 1.15e+03 ms."""
    value = seconds * 1e3
    return f"{value:.0f} ms" if value >= 100 else f"{value:.3g} ms"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: max(most - 1, 0)]}…"
