"""What ``graphc demo`` shows, in order: the devices, a loop, a network; then the table and the files."""

from __future__ import annotations

import importlib.util
import json
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import graphc as gx
from graphc.cli.demo.digits import MODES, Run, load_digits, train_in_turns
from graphc.cli.demo.loops import carried, carried_in_jax, independent
from graphc.core import device_name
from graphc.inspect import Comparison, format_seconds

__all__ = ["run_demo"]

TARGET_ACCURACY = 0.96
STYLE: dict[str, Any] = {"box": box.SIMPLE_HEAD, "pad_edge": False, "padding": (0, 1, 0, 0)}


def run_demo(folder: Path, *, quick: bool = False) -> None:
    """Runs the demonstration.

    Args:
      folder: where files are written.
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
    console.rule("1. devices", align="left")
    show_devices(console)
    console.rule("2. a thousand times y = x + 1, eager and compiled", align="left")
    loops = compare_loops(console, size=200 if quick else 2000, times=100 if quick else 1000)
    console.rule("3. a network that reads handwritten digits, in four modes", align="left")
    runs = train(console, epochs=20 if quick else 40)
    console.rule("what was found", align="left")
    files = write_files(folder, loops, runs)
    console.print(loop_table(loops), training_table(runs))
    for path, what in files.items():
        console.print(f"{path}  {what}", highlight=False, soft_wrap=True)
    check_accuracy(runs)


def show_devices(console: Console) -> None:
    """Prints the devices that take part."""
    used = gx.distribute.DataParallel().devices
    console.print(f"{len(used)} x {jax.devices()[0].device_kind}: {used[0]} to {used[-1]}", highlight=False)
    if jax.default_backend() == "cpu" and len(used) > 1:
        console.print(
            "These are simulated: they share the processors of this machine, and show that a data-parallel program is "
            "right, not that it is fast. GRAPHC_CPU_DEVICES says how many there are."
        )


def compare_loops(console: Console, size: int, times: int) -> list[Comparison]:
    """Compares the two loops eagerly and compiled."""
    x = gx.random.uniform((size, size))
    found: list[Comparison] = []
    for loop, baselines in ((independent, {}), (carried, {"jax by hand": carried_in_jax})):
        with console.status(f"{loop.__name__}: {times} times over {size} x {size} numbers"):
            # A tape would keep a thousand results of 16 MB; the gradients are compared on a part that is small enough.
            part = gx.compare(loop, x[:32, :32], times, rounds=0, show=False)
            whole = gx.compare(loop, x, times, baselines=baselines, rounds=5, gradients=False, show=False)
        gradients = part.mode("compiled").gradients
        console.print(whole.table())
        equal = gradients is not None and gradients.equal
        console.print(f"gradients, on a 32 x 32 part of x: {'equal' if equal else 'NOT EQUAL'}\n")
        found.append(whole)
    return found


def train(console: Console, epochs: int) -> tuple[Run, ...]:
    """Trains in all modes, with a progress bar for each."""
    columns = TextColumn("{task.description:20}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[state]}")
    runs: tuple[Run, ...] = ()
    with Progress(*columns, TimeElapsedColumn(), console=console) as progress:
        tasks = {mode: progress.add_task(mode, total=epochs, state="") for mode in MODES}
        for runs in train_in_turns(load_digits(), epochs):
            for run in runs:
                state = f"loss {run.losses[-1]:.4f}  accuracy {run.accuracies[-1]:.3f}" if run.losses else ""
                progress.update(tasks[run.mode], completed=len(run.losses), state=state)
    return runs


def check_accuracy(runs: Sequence[Run]) -> None:
    """Makes sure that every mode learned to read.

    Raises:
      FailedPreconditionError: one did not.
    """
    low = {run.mode: run.accuracies[-1] for run in runs if run.accuracies[-1] < TARGET_ACCURACY}
    if low:
        raise gx.errors.FailedPreconditionError(f"a test accuracy of {TARGET_ACCURACY} was expected, but found: {low}")


def loop_table(loops: Sequence[Comparison]) -> Table:
    """The loops in short."""
    table = Table("loop", "equal", "eager", "compiled", "speed", **STYLE)
    for loop in loops:
        eager, compiled, speedup = loop.mode("eager").timing, loop.mode("compiled").timing, loop.speedup()
        times = ["", ""] if eager is None or compiled is None else map(format_seconds, (eager.median, compiled.median))
        equal, speed = "yes" if loop.equal else "NO", "" if speedup is None else f"{speedup:.3g}x"
        table.add_row(loop.function, equal, *times, speed)
    return table


def training_table(runs: Sequence[Run]) -> Table:
    """The training in short: medians over the epochs after the first."""
    table = Table(**STYLE)
    table.add_column("training")
    for column in ("devices", "first epoch", "an epoch", "speed", "loss", "accuracy"):
        table.add_column(column, justify="right")
    for run in runs:
        median, eager = statistics.median(run.seconds[1:]), statistics.median(runs[0].seconds[1:])
        table.add_row(
            run.mode,
            str(run.devices),
            format_seconds(run.seconds[0]),
            format_seconds(median),
            f"{eager / median:.3g}x",
            f"{run.losses[-1]:.5f}",
            f"{run.accuracies[-1]:.4f}",
        )
    return table


def write_files(folder: Path, loops: Sequence[Comparison], runs: Sequence[Run]) -> dict[Path, str]:
    """Writes figures and pictures; returns what was written."""
    files: dict[Path, str] = {}
    for loop in loops:
        if loop.equal:
            files[loop.plot(folder / f"loop_{loop.function}.png")] = f"the times of the loop {loop.function!r}"
    files[draw_learning_curve(runs, folder / "learning_curve.png")] = "loss and accuracy of the network"
    results: dict[str, Any] = {
        "devices": [device_name(device) for device in gx.devices()],
        "loops": [loop.to_dict() for loop in loops],
        "training": [vars(run) for run in runs],
    }
    path = folder / "results.json"
    path.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    files[path] = "every figure"
    return files


def draw_learning_curve(runs: Sequence[Run], path: Path) -> Path:
    """Draws loss and accuracy over the epochs. The modes compute the same, so their lines lie on each other."""
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(9.0, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for position, run in enumerate(runs):
        epochs = range(1, len(run.losses) + 1)
        style: dict[str, Any] = {"linewidth": 7.0 - 1.8 * position, "alpha": 0.7, "label": run.mode}
        left.plot(epochs, run.losses, **style)
        right.plot(epochs, run.accuracies, **style)
    left.set(title="training loss", xlabel="epoch", yscale="log")
    right.set(title="test accuracy", xlabel="epoch", ylim=(0.85, 1.0))
    right.axhline(TARGET_ACCURACY, color="0.5", linestyle=":")
    left.legend()
    figure.savefig(path, dpi=150)
    return path
