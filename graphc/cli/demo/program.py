"""The program of ``graphc demo``: small programs, a network on many devices; then the page."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from html import escape
from pathlib import Path
from typing import Any, cast

import jax
from rich.console import Console

import graphc as gx
from graphc.cli.demo.scenes import SCENES, Scene, play
from graphc.cli.demo.spread import Spread, in_processes, on_devices
from graphc.compiler.runtime.costs import format_seconds
from graphc.tools.drawing import page

# The page of the demonstration: one file, which loads nothing, for light and dark screens.


def demo_page(scenes: Sequence[Scene], spread: Sequence[Spread], notes: Sequence[str]) -> str:
    """Returns the page."""
    parts = [_scene(number, scene) for number, scene in enumerate(scenes, 1)]
    where = ", ".join(escape(one.where) for one in spread)
    parts.append(
        f"<section><h2>The same training on {where}</h2>{_curve(spread)}"
        f"<p>The largest relative difference of a loss is {max(one.difference(spread[0]) for one in spread):.0e}.</p>"
        "</section>"
    )
    about = "".join(f'<p class="gx-lead">{escape(note)}</p>' for note in notes)
    lead = "<p>Ordinary Python, compiled: each program below has just run.</p>"
    return page("graphc at work", f"<h1>graphc at work</h1>{lead}{about}{''.join(parts)}")


def _scene(number: int, scene: Scene) -> str:
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in scene.lines)
    pictures = "".join(
        f"<details open='open'><summary>{escape(title)}</summary><div class='gx-wide'>{html}</div></details>"
        for title, html in scene.html.items()
    )
    source = f"<pre class='gx-text'>{escape(scene.source.strip())}</pre>"
    return f"<section><h2>{number}. {escape(scene.title)}</h2>{source}{paragraphs}{pictures}</section>\n"


def _curve(spread: Sequence[Spread]) -> str:
    """Draws the losses of the first training as a line, and those of the others as points on it."""
    top, count = max(spread[0].losses), len(spread[0].losses)

    def points(losses: Sequence[float]) -> list[tuple[float, float]]:
        return [(40 + 680 * i / max(count - 1, 1), 190 - 170 * loss / top) for i, loss in enumerate(losses)]

    line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points(spread[0].losses))
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4"><title>{escape(one.where)}</title></circle>'
        for number, one in enumerate(spread[1:])
        for x, y in points(one.losses)[number :: len(spread) - 1]
    )
    return (
        f'<div class="gx-wide"><svg class="gx-chart" viewBox="0 0 760 220" role="img">'
        '<path class="gx-rule" d="M40,20V190H720"/>'
        f'<text x="0" y="24">{top:.2f}</text><text x="14" y="194">0</text><text x="40" y="212">the loss of each step: '
        f"on one device (line), and on the others (points)</text>"
        f'<polyline fill="none" stroke="var(--gx-compute-edge)" points="{line}"/>'
        f'<g fill="none" stroke="currentColor">{dots}</g></svg></div>'
    )


SAME_LOSS = 1e-4


def run_demo(folder: Path) -> None:
    """Runs the demonstration."""
    if importlib.util.find_spec("sklearn") is None:
        raise gx.errors.FailedPreconditionError(
            "the demo needs sklearn, which is not installed: pip install 'graphc[demo]'"
        )
    console = Console(highlight=False, soft_wrap=True)
    folder.mkdir(parents=True, exist_ok=True)
    console.print()  # apart from what the installation printed before
    console.rule("1. ordinary Python, compiled", align="left")
    scenes = play_all(console)
    console.rule("2. a network that reads digits, on more devices and in two processes", align="left")
    notes = about_machine()
    console.print(*notes, sep="\n")
    spread = train_apart(console)
    path = write_files(folder, scenes, spread, notes)
    console.rule("everything, with its pictures", align="left")
    console.print(f"{path}  open it in a browser: {path.resolve().as_uri()}")
    check_losses(spread)


def play_all(console: Console) -> list[Scene]:
    """Plays the scenes, and prints three lines for each."""
    scenes: list[Scene] = []
    for number, title in enumerate(SCENES, 1):
        scenes.append(scene := play(title))
        console.print(f"[bold]{number}. {scene.title}[/bold]")
        for line in scene.lines:
            console.print(f"   {line}", markup=False)
    console.print()
    return scenes


def about_machine() -> list[str]:
    """Returns on what the demonstration runs, and what its times mean there."""
    devices: Any = cast("Any", jax.devices)()
    notes = [f"{len(devices)} x {devices[0].device_kind}; jax {jax.__version__}."]
    if jax.default_backend() == "cpu" and len(devices) > 1:
        notes.append(
            f"{len(devices)} simulated devices share {os.cpu_count()} cores: they show that a data-parallel program is "
            "right, not that it is fast."
        )
    return notes


def train_apart(console: Console) -> list[Spread]:
    """Trains for an epoch on more and more devices, then in two processes."""
    spreads: list[Spread] = []
    with console.status("training"):
        for spread in (*on_devices(), in_processes()):
            spreads.append(spread)
            console.print(
                f"   {spread.where:12} loss {spread.losses[0]:.5f} to {spread.losses[-1]:.5f}, differs by "
                f"{spread.difference(spreads[0]):.0e}; {format_seconds(spread.seconds)} with compiling"
            )
    console.print()
    return spreads


def write_files(folder: Path, scenes: Sequence[Scene], spread: Sequence[Spread], notes: Sequence[str]) -> Path:
    """Writes the page and all figures; returns the page."""
    results = {
        "scenes": [{"title": scene.title, "lines": scene.lines} for scene in scenes],
        "spread": [asdict(one) for one in spread],
        "notes": notes,
    }
    (folder / "results.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    path = folder / "index.html"
    path.write_text(demo_page(scenes, spread, notes), encoding="utf-8")
    return path


def check_losses(spread: Sequence[Spread]) -> None:
    """Makes sure that devices and processes change no loss."""
    apart = {one.where: one.difference(spread[0]) for one in spread if one.difference(spread[0]) > SAME_LOSS}
    if apart:
        raise gx.errors.FailedPreconditionError(f"the losses differ from those of one device: {apart}")
