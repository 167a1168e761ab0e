"""The page of the demonstration: one file, which loads nothing, for light and dark screens."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from graphc.cli.demo.scenes import Scene
from graphc.cli.demo.spread import Spread
from graphc.cli.demo.versus import Race
from graphc.compiler.runtime.costs import format_seconds

__all__ = ["demo_page"]

_STYLE = """
:root{--paper:#fff;--ink:#0f172a;--quiet:#526077;--panel:#f5f7fa;--rule:#d5dce6;--ours:#2563eb;--theirs:#94a3b8}
@media(prefers-color-scheme:dark){:root{--paper:#0f172a;--ink:#e8eef6;--quiet:#a3b1c6;--panel:#172033;--rule:#334155;
--ours:#60a5fa;--theirs:#64748b}}
body{margin:0 auto;max-width:62rem;padding:1.5rem;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,sans-serif}
h1{font-size:1.7rem}h2{font-size:1.2rem;margin:2.2rem 0 .4rem}h3{font-size:1rem;margin:1rem 0 .3rem}
p{margin:.4rem 0}.quiet{color:var(--quiet)}
pre{background:var(--panel);border:1px solid var(--rule);border-radius:6px;padding:.7rem .9rem;overflow-x:auto;
font:13px/1.45 ui-monospace,monospace}
section details{margin:.5rem 0}summary{cursor:pointer;font-weight:600}
.scroll{overflow-x:auto}table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.3rem .8rem .3rem 0;text-align:right;border-bottom:1px solid var(--rule)}
th:first-child,td:first-child{text-align:left}
.bar{fill:var(--ours)}.bar.theirs{fill:var(--theirs)}.own text{fill:var(--ink);font:12px system-ui,sans-serif}
.curve{fill:none;stroke:var(--ours);stroke-width:2}.point{fill:none;stroke:var(--ink)}.axis{fill:none;stroke:var(--rule)}
"""


def demo_page(scenes: Sequence[Scene], races: Sequence[Race], spread: Sequence[Spread], notes: Sequence[str]) -> str:
    """Returns the page.

    Args:
      scenes: the programs, with what came of them.
      races: the same programs by hand.
      spread: the trainings on several devices.
      notes: on what all this was measured.
    """
    parts = [_scene(number, scene) for number, scene in enumerate(scenes, 1)]
    parts.append(
        f"<section><h2>Against JAX written by hand</h2><div class=scroll>{_table(races)}</div>{_bars(races)}"
        '<p class="quiet">The first call traces and compiles. Later calls: the fastest of several, in turns.</p>'
        "</section>"
    )
    where = ", ".join(escape(one.where) for one in spread)
    parts.append(
        f"<section><h2>The same training on {where}</h2>{_curve(spread)}"
        f"<p>The largest relative difference of a loss is {max(one.difference(spread[0]) for one in spread):.0e}.</p>"
        "</section>"
    )
    about = "".join(f'<p class="quiet">{escape(note)}</p>' for note in notes)
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="color-scheme" content="light dark">'
        '<meta name="viewport" content="width=device-width,initial-scale=1"><title>graphc at work</title>'
        f"<style>{_STYLE}</style></head>\n<body><h1>graphc at work</h1>"
        f"<p>Ordinary Python, compiled: each program below has just run.</p>{about}\n{''.join(parts)}\n</body></html>\n"
    )


def _scene(number: int, scene: Scene) -> str:
    told = "".join(f"<p>{escape(line)}</p>" for line in scene.lines)
    pictures = "".join(
        f"<details open><summary>{escape(title)}</summary><div class=scroll>{html}</div></details>"
        for title, html in scene.html.items()
    )
    return (
        f"<section><h2>{number}. {escape(scene.title)}</h2><pre>{escape(scene.source.strip())}</pre>{told}{pictures}"
        "</section>\n"
    )


def _table(races: Sequence[Race]) -> str:
    rows = "".join(
        f"<tr><td>{escape(one.program)}</td><td>{escape(one.by_hand)}</td><td>{'yes' if one.equal else 'NO'}</td>"
        + "".join(
            f"<td>{format_seconds(ours)}</td><td>{format_seconds(theirs)}</td><td>{ours / theirs:.2f}</td>"
            for ours, theirs in (one.first, one.later)
        )
        + "</tr>"
        for one in races
    )
    heads = ("program", "in JAX", "equal", "first call", "JAX's", "ratio", "later calls", "JAX's", "ratio")
    return f"<table><tr>{''.join(f'<th>{head}</th>' for head in heads)}</tr>{rows}</table>"


def _bars(races: Sequence[Race]) -> str:
    """Draws the times of later calls, each pair by its longer one."""
    parts: list[str] = []
    for number, one in enumerate(races):
        y = 20 + number * 44
        parts.append(f'<text x="0" y="{y + 17}">{escape(one.program)}</text>')
        for line, (seconds, name) in enumerate(zip(one.later, ("graphc", "JAX by hand"), strict=True)):
            width = 380 * seconds / max(one.later)
            parts.append(
                f'<rect class="bar{" theirs" if line else ""}" x="200" y="{y + line * 16}" width="{width:.0f}" '
                f'height="13" rx="2"/><text x="{208 + width:.0f}" y="{y + 11 + line * 16}">'
                f"{format_seconds(seconds)} {name}</text>"
            )
    height = 30 + len(races) * 44
    return f'<div class=scroll><svg class="own" width="760" height="{height}" role="img">{"".join(parts)}</svg></div>'


def _curve(spread: Sequence[Spread]) -> str:
    """Draws the losses of the first training as a line, and those of the others as points on it."""
    top, count = max(spread[0].losses), len(spread[0].losses)

    def points(losses: Sequence[float]) -> list[tuple[float, float]]:
        return [(40 + 680 * i / max(count - 1, 1), 190 - 170 * loss / top) for i, loss in enumerate(losses)]

    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points(spread[0].losses))
    dots = "".join(
        f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{escape(one.where)}</title></circle>'
        for number, one in enumerate(spread[1:])
        for x, y in points(one.losses)[number :: len(spread) - 1]
    )
    return (
        f'<div class=scroll><svg class="own" width="760" height="220" role="img">'
        '<path class="axis" d="M40,20V190H720"/>'
        f'<text x="0" y="24">{top:.2f}</text><text x="14" y="194">0</text><text x="40" y="212">the loss of each step: '
        f"on one device (line), and on the others (points)</text>"
        f'<polyline class="curve" points="{line}"/>{dots}</svg></div>'
    )
