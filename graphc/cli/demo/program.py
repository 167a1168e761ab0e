"""The program of ``graphc demo``: the devices, two loops, a network; then the tables and the files."""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import jax
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table

import graphc as gx
from graphc.cli.demo.digits import MODES, Run, load_digits, train_in_turns
from graphc.cli.demo.loops import BY_HAND, LOOPS, SAME_LINES
from graphc.cli.demo.spread import Spread, in_processes, on_devices
from graphc.costs import format_seconds
from graphc.devices import device_name
from graphc.inspect import Comparison, ModeReport

__all__ = ["run_demo"]

TARGET_ACCURACY = 0.96
SAME_LOSS = 1e-4
STYLE: dict[str, Any] = {"box": box.SIMPLE_HEAD, "pad_edge": False, "padding": (0, 1, 0, 0)}


def run_demo(folder: Path, *, quick: bool = False) -> None:
    """Runs the demonstration.

    Args:
      folder: the folder for the written files.
      quick: whether to take smaller sizes, for a look of some seconds.

    Raises:
      FailedPreconditionError: scikit-learn or matplotlib is missing, or the network does not learn.
    """
    missing = [name for name in ("sklearn", "matplotlib") if importlib.util.find_spec(name) is None]
    if missing:
        raise gx.errors.FailedPreconditionError(
            f"the demo needs {' and '.join(missing)}, which is not installed: pip install 'graphc[demo]'"
        )
    console = Console()
    folder.mkdir(parents=True, exist_ok=True)
    console.print()  # apart from what the installation printed before
    console.rule("1. devices", align="left")
    show_devices(console)
    times = 100 if quick else 1000
    console.rule(f"2. two loops of {times} additions: eager, compiled, and in JAX", align="left")
    loops = compare_loops(console, size=200 if quick else 2000, times=times)
    console.rule("3. a network that reads handwritten digits, in four modes", align="left")
    runs = train(console, epochs=20 if quick else 40)
    console.rule("4. the same training on more devices, and in two processes", align="left")
    spread = train_apart(console)
    console.rule("what was found", align="left")
    files = write_files(folder, loops, runs, spread)
    console.print(loop_table(loops), training_table(runs), spread_table(spread))
    for note in training_notes(runs):
        console.print(f"{note}\n", highlight=False)
    for path, what in files.items():
        console.print(f"{path}  {what}", highlight=False, soft_wrap=True)
    check_accuracy(runs)
    check_losses(spread)


def show_devices(console: Console) -> None:
    """Prints the devices that take part."""
    used = gx.distribute.DataParallel().devices
    console.print(f"{len(used)} x {jax.devices()[0].device_kind}: {used[0]} to {used[-1]}", highlight=False)
    if are_simulated(len(used)):
        console.print(f"{about_simulation(len(used))} GRAPHC_CPU_DEVICES says how many there are.", highlight=False)
    console.print()


def are_simulated(count: int) -> bool:
    """Returns True if so many devices of the default platform are parts of one CPU."""
    return jax.default_backend() == "cpu" and count > 1


def about_simulation(count: int) -> str:
    """Returns what the times on simulated devices mean."""
    return (
        f"{count} simulated devices share {os.cpu_count()} cores: they show that a data-parallel program is right, not "
        "that it is fast."
    )


def compare_loops(console: Console, size: int, times: int) -> list[Comparison]:
    """Compares the two loops: eager, compiled, and in JAX, by the same lines and by hand."""
    x = gx.random.uniform((size, size))
    found: list[Comparison] = []
    for name, loop in LOOPS.items():
        console.print(
            f"{name}: {loop.formula}, {times} times, on {size} x {size} numbers: {loop.meaning}.", highlight=False
        )
        with console.status("measuring"):
            # A tape would keep a thousand results of 16 MB; the gradients are compared on a part that is small enough.
            part = gx.compare(loop.function, x[:32, :32], times, rounds=0, show=False)
            whole = gx.compare(
                loop.function, x, times, baselines=loop.baselines, rounds=5, seconds=10, gradients=False, show=False
            )
        gradients = part.mode("compiled").gradients
        console.print(whole.table())
        console.print(f"why: {loop.reason}.", highlight=False)
        equal = gradients is not None and gradients.equal
        console.print(f"gradients, on a 32 x 32 part of x: {'equal' if equal else 'NOT EQUAL'}\n")
        found.append(whole)
    return found


def train(console: Console, epochs: int) -> tuple[Run, ...]:
    """Trains in all modes, an epoch of each in turn, with a progress bar for each."""
    columns = TextColumn("{task.description:18}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[state]}")
    runs: tuple[Run, ...] = ()
    with Progress(*columns, console=console) as progress:
        tasks = {mode: progress.add_task(mode, total=epochs, state="") for mode in MODES}
        for runs in train_in_turns(load_digits(), epochs):
            for run in runs:
                progress.update(tasks[run.mode], completed=len(run.losses), state=state_of(run))
    console.print()
    return runs


def train_apart(console: Console) -> list[Spread]:
    """Trains for an epoch on more and more devices, then in two processes."""
    found: list[Spread] = []
    with console.status("training"):
        for spread in (*on_devices(), in_processes()):
            found.append(spread)
            last = f"{spread.where:12} loss {spread.losses[0]:.5f} to {spread.losses[-1]:.5f}"
            console.print(f"{last}, {format_seconds(spread.seconds)} with compiling", highlight=False)
    console.print()
    return found


def check_losses(spread: Sequence[Spread]) -> None:
    """Makes sure that devices and processes change no loss.

    Raises:
      FailedPreconditionError: some do.
    """
    apart = {one.where: one.difference(spread[0]) for one in spread if one.difference(spread[0]) > SAME_LOSS}
    if apart:
        raise gx.errors.FailedPreconditionError(f"the losses differ from those of one device: {apart}")


def spread_table(spread: Sequence[Spread]) -> Table:
    """Returns the trainings apart in short."""
    table = Table("an epoch on", **STYLE)
    for column in ("steps", "first loss", "last loss", "difference"):
        table.add_column(column, justify="right")
    for one in spread:
        losses = f"{one.losses[0]:.5f}", f"{one.losses[-1]:.5f}"
        table.add_row(one.where, str(len(one.losses)), *losses, f"{one.difference(spread[0]):.0e}")
    return table


def state_of(run: Run) -> str:
    """Returns how far a training has come, and how much time its own epochs took."""
    if not run.losses:
        return ""
    return f"loss {run.losses[-1]:.4f}  accuracy {run.accuracies[-1]:.3f}  {format_seconds(sum(run.seconds)):>7}"


def check_accuracy(runs: Sequence[Run]) -> None:
    """Makes sure that every mode learned to read.

    Raises:
      FailedPreconditionError: one did not.
    """
    low = {run.mode: run.accuracies[-1] for run in runs if run.accuracies[-1] < TARGET_ACCURACY}
    if low:
        raise gx.errors.FailedPreconditionError(f"a test accuracy of {TARGET_ACCURACY} was expected, but found: {low}")


def loop_table(loops: Sequence[Comparison]) -> Table:
    """Returns the loops in short; the speed is that of compiled over eager code."""
    modes = "eager", "compiled", SAME_LINES, BY_HAND
    table = Table("loop", "a round", "equal", **STYLE)
    for column in (*modes, "speed"):
        table.add_column(column, justify="right")
    for loop in loops:
        speedup = loop.speedup()
        table.add_row(
            loop.function,
            LOOPS[loop.function].formula,
            "yes" if loop.equal else "NO",
            *(median_of(loop.mode(mode)) for mode in modes),
            "" if speedup is None else f"{speedup:.3g}x",
        )
    return table


def median_of(mode: ModeReport) -> str:
    """Returns the median time of a mode, for a table."""
    return "" if mode.timing is None else format_seconds(mode.timing.median)


def training_table(runs: Sequence[Run]) -> Table:
    """Returns the training in short: medians over the epochs after the first."""
    table = Table(**STYLE)
    table.add_column("training")
    for column in ("devices", "first epoch", "an epoch", "speed", "loss", "accuracy"):
        table.add_column(column, justify="right")
    for run in runs:
        median, eager = statistics.median(run.seconds[1:]), statistics.median(runs[0].seconds[1:])
        table.add_row(
            f"{run.mode} *" if are_simulated(run.devices) else run.mode,
            str(run.devices),
            format_seconds(run.seconds[0]),
            format_seconds(median),
            f"{eager / median:.3g}x",
            f"{run.losses[-1]:.5f}",
            f"{run.accuracies[-1]:.4f}",
        )
    return table


def training_notes(runs: Sequence[Run]) -> list[str]:
    """Returns what a reader of the training table must know, a line for each mode that it marks."""
    return [f"* {run.mode}: {about_simulation(run.devices)}" for run in runs if are_simulated(run.devices)]


def write_files(
    folder: Path, loops: Sequence[Comparison], runs: Sequence[Run], spread: Sequence[Spread]
) -> dict[Path, str]:
    """Writes figures and pictures; returns what was written."""
    files: dict[Path, str] = {}
    for loop in loops:
        if loop.equal:
            title = f"the loop {loop.function!r}: {LOOPS[loop.function].formula}, again and again"
            picture = folder / f"loop_{loop.function}.png"
            loop.plot(picture, title=title)
            files[picture] = f"the times of {loop.function!r}"
    files[draw_learning_curve(runs, folder / "learning_curve.png")] = "loss and accuracy of the network"
    results: dict[str, Any] = {
        "devices": [device_name(device) for device in gx.devices()],
        "loops": [loop.to_dict() for loop in loops],
        "training": [vars(run) for run in runs],
        "spread": [asdict(one) for one in spread],
    }
    path = folder / "results.json"
    path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    files[path] = "every figure"
    return files


def draw_learning_curve(runs: Sequence[Run], path: Path) -> Path:
    """Draws loss and accuracy over the epochs.

    The modes compute the same, so their curves lie on each other: the first is a line, and the others are points on it,
    each at epochs of its own.
    """
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(10.0, 4.4), layout="constrained")
    left, right = figure.subplots(1, 2)
    others = len(runs) - 1
    for position, (run, marker) in enumerate(zip(runs, " s^D", strict=True)):
        epochs = range(1, len(run.losses) + 1)
        style: dict[str, Any] = {"label": run.mode, "linewidth": 1.8, "color": "0.45"}
        if position:
            style = {"label": run.mode, "linestyle": "none", "marker": marker, "markersize": 6}
            style["markevery"] = (position - 1, others)
        left.plot(epochs, run.losses, **style)
        right.plot(epochs, run.accuracies, **style)
    figure.suptitle("Digits: the same training in four modes, whose points lie on one line")
    left.set(title="training", xlabel="epoch", ylabel="mean loss of the epoch (log scale)", yscale="log")
    right.set(title="test", xlabel="epoch", ylabel="accuracy on the test digits", ylim=(0.85, 1.0))
    right.axhline(TARGET_ACCURACY, color="0.4", linestyle=":")
    right.annotate(
        f"{TARGET_ACCURACY}: what the demo asks for",
        (1.0, TARGET_ACCURACY),
        xycoords=right.get_yaxis_transform(),
        xytext=(-4, -4),
        textcoords="offset points",
        ha="right",
        va="top",
        color="0.3",
    )
    left.legend()
    figure.savefig(path, dpi=150)
    return path
