"""The colours of drawings, by what a box stands for, for light and dark backgrounds."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["KINDS", "Shade", "colours_of", "style_sheet"]


@dataclass(frozen=True)
class Shade:
    """The style of boxes of one kind.

    Attributes:
      name: for the legend.
      fill: on a light background.
      edge: the same, of the outline.
      dark_fill: on a dark background.
      dark_edge: the same, of the outline.
    """

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
