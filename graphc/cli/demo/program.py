"""The program of ``graphc demo``: small programs, their times against JAX, a network on many devices; then the page."""

from __future__ import annotations

import importlib.util
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import jax
from rich import box
from rich.console import Console
from rich.table import Table

import graphc as gx
from graphc.cli.demo.page import demo_page
from graphc.cli.demo.scenes import SCENES, Scene, play
from graphc.cli.demo.spread import Spread, in_processes, on_devices
from graphc.cli.demo.versus import Race, race
from graphc.compiler.runtime.costs import format_seconds

__all__ = ["run_demo"]

SAME_LOSS = 1e-4
STYLE: dict[str, Any] = {"box": box.SIMPLE_HEAD, "pad_edge": False, "padding": (0, 1, 0, 0)}


def run_demo(folder: Path, *, quick: bool = False) -> None:
    """Runs the demonstration.

    Args:
      folder: the folder for the written files.
      quick: whether to take smaller sizes, for a look of some seconds.

    Raises:
      FailedPreconditionError: scikit-learn is missing, or results differ from JAX's or from those of one device.
    """
    if importlib.util.find_spec("sklearn") is None:
        raise gx.errors.FailedPreconditionError(
            "the demo needs sklearn, which is not installed: pip install 'graphc[demo]'"
        )
    console = Console(highlight=False, soft_wrap=True)
    folder.mkdir(parents=True, exist_ok=True)
    console.print()  # apart from what the installation printed before
    console.rule("1. ordinary Python, compiled", align="left")
    scenes = play_all(console)
    console.rule("2. the same programs written for JAX by hand", align="left")
    with console.status("measuring"):
        races = list(race(20 if quick else 200, 2 if quick else 7))
    console.print(race_table(races))
    check_results(races)
    console.print("The results are equal. A first call traces and compiles; later calls: the fastest of several.\n")
    console.rule("3. a network that reads digits, on more devices and in two processes", align="left")
    notes = about_machine()
    console.print(*notes, sep="\n")
    spread = train_apart(console)
    page = write_files(folder, scenes, races, spread, notes)
    console.rule("everything, with its pictures", align="left")
    console.print(f"{page}  open it in a browser: {page.resolve().as_uri()}")
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


def race_table(races: Sequence[Race]) -> Table:
    """Returns the times of both sides."""
    table = Table("program", **STYLE)
    for column in ("first call", "JAX", "ratio", "later", "JAX", "ratio"):
        table.add_column(column, justify="right")
    for one in races:
        times = [
            text
            for ours, theirs in (one.first, one.later)
            for text in (format_seconds(ours), format_seconds(theirs), f"{ours / theirs:.2f}")
        ]
        table.add_row(one.program if one.equal else f"{one.program}: NOT EQUAL", *times)
    return table


def train_apart(console: Console) -> list[Spread]:
    """Trains for an epoch on more and more devices, then in two processes."""
    found: list[Spread] = []
    with console.status("training"):
        for spread in (*on_devices(), in_processes()):
            found.append(spread)
            console.print(
                f"   {spread.where:12} loss {spread.losses[0]:.5f} to {spread.losses[-1]:.5f}, differs by "
                f"{spread.difference(found[0]):.0e}; {format_seconds(spread.seconds)} with compiling"
            )
    console.print()
    return found


def write_files(
    folder: Path, scenes: Sequence[Scene], races: Sequence[Race], spread: Sequence[Spread], notes: Sequence[str]
) -> Path:
    """Writes the page and all figures; returns the page."""
    results = {
        "scenes": [{"title": scene.title, "lines": scene.lines} for scene in scenes],
        "races": [asdict(one) for one in races],
        "spread": [asdict(one) for one in spread],
        "notes": notes,
    }
    (folder / "results.json").write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    page = folder / "index.html"
    page.write_text(demo_page(scenes, races, spread, notes), encoding="utf-8")
    return page


def check_results(races: Sequence[Race]) -> None:
    """Makes sure that graphc computes what JAX does.

    Raises:
      FailedPreconditionError: a result differs.
    """
    if other := [one.program for one in races if not one.equal]:
        raise gx.errors.FailedPreconditionError(f"results differ from those of JAX: {', '.join(other)}")


def check_losses(spread: Sequence[Spread]) -> None:
    """Makes sure that devices and processes change no loss.

    Raises:
      FailedPreconditionError: some do.
    """
    apart = {one.where: one.difference(spread[0]) for one in spread if one.difference(spread[0]) > SAME_LOSS}
    if apart:
        raise gx.errors.FailedPreconditionError(f"the losses differ from those of one device: {apart}")
