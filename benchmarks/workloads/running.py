"""Measures the workloads, each in a process of its own with a limit, and shows the table."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import fields
from pathlib import Path

from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

from benchmarks.report import machine
from benchmarks.workloads.measuring import BARS, Measured
from benchmarks.workloads.suite import WORKLOADS
from benchmarks.workloads.workload import Workload

__all__ = ["run"]

_ROOT = Path(__file__).parents[2]


def run(
    console: Console, only: Sequence[str], rounds: int, json_file: Path, *, limit: float, quick: bool, as_markdown: bool
) -> list[Measured]:
    """Measures the workloads whose names begin as ``only`` says, all if it is empty, and prints the table.

    Args:
      console: where to.
      only: beginnings of names.
      rounds: samples of each side, at most.
      json_file: where the numbers are written.
      limit: seconds that a workload may take, first calls included.
      quick: whether small sizes are taken, to see that everything runs.
      as_markdown: whether the table is printed once more, for README.md.
    """
    chosen = [workload for workload in WORKLOADS if not only or workload.name.startswith(tuple(only))]
    if not chosen:
        raise ValueError(f"no workload is called {only}; there are {', '.join(each.name for each in WORKLOADS)}")
    results: list[Measured] = []
    json_file.parent.mkdir(parents=True, exist_ok=True)
    for workload in track(chosen, description="measuring", console=console, transient=True):
        results.append(_in_process(workload, rounds, limit, quick))
        content = {"machine": machine(), "workloads": [result.as_json() for result in results]}
        json_file.write_text(json.dumps(content, indent=2) + "\n")  # after each, so that what is known is not lost
    console.print(_table(results))
    if as_markdown:
        print(_markdown(results))
    console.print(f"The numbers are in {json_file}.")
    return results


def _in_process(workload: Workload, rounds: int, limit: float, quick: bool) -> Measured:
    """Measures a workload in a new process, which is ended after the limit."""
    paths = os.pathsep.join([str(_ROOT), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-m", "benchmarks.workloads.child", workload.name, "--rounds", str(rounds)]
    try:
        done = subprocess.run(
            [*command, *(["--quick"] if quick else [])],
            env={**os.environ, "PYTHONPATH": paths},
            capture_output=True,
            text=True,
            timeout=limit,
            check=False,
        )
        said, failure = done.stdout, f"ended with {done.returncode}" if done.returncode else ""
    except subprocess.TimeoutExpired as late:
        said = late.stdout.decode() if isinstance(late.stdout, bytes) else late.stdout or ""
        failure = f"not done after {limit:g} s"
    lines = [line for line in said.splitlines() if line.startswith("{")]
    names = {field.name for field in fields(Measured)}
    content = {name: value for name, value in json.loads(lines[-1]).items() if name in names} if lines else {}
    found = Measured(**{"name": workload.name, **content})
    found.failure = found.failure or failure
    return found


def _table(results: Sequence[Measured]) -> Table:
    about = machine()
    view = Table(
        title=f"workloads against JAX by hand; {about['processor']}, {about['cores']} cores, jax {about['jax']}",
        title_justify="left",
        caption=_summary(results),
    )
    for name in ("workload", "graphc", "JAX", "run", "quartiles", "first call", "memory", "loops", ""):
        view.add_column(name, justify="left" if name in ("workload", "") else "right", no_wrap=name != "")
    for result in results:
        cells = _cells(result)
        view.add_row(*cells[:-1], Text(cells[-1], "red" if result.missed else "green"))
    return view


def _markdown(results: Sequence[Measured]) -> str:
    lines = ["| workload | graphc | JAX | run | quartiles | first call | memory | loops | |", f"|---|{'--:|' * 7}---|"]
    lines += [f"| {' | '.join(_cells(result))} |" for result in results]
    return "\n".join([*lines, "", _summary(results)])


def _cells(result: Measured) -> list[str]:
    ratios = [_ratio(result.ratios[name]) for name in BARS]
    low, high = result.spread or (0.0, 0.0)
    return [
        result.name,
        *(map(_time, result.seconds) if result.seconds else ("", "")),
        ratios[0],
        f"{low:.2f} to {high:.2f}" if result.spread else "",
        *ratios[1:],
        f"{result.loops[0]} of {result.loops[1]}" if result.loops else "",
        "missed: " + ", ".join(result.missed) if result.missed else "met",
    ]


def _summary(results: Iterable[Measured]) -> str:
    results = list(results)
    met = sum(not result.missed for result in results)
    means: list[str] = []
    for name, bar in BARS.items():
        ratios = [ratio for result in results if (ratio := result.ratios[name]) is not None]
        if ratios:
            within = sum(ratio <= bar for ratio in ratios)
            mean = statistics.geometric_mean(max(ratio, 1e-3) for ratio in ratios)
            means.append(f"{name} <= {bar:g}: {within} of {len(ratios)}, geometric mean {mean:.2f}")
    return f"{met} of {len(results)} hold all bars; {'; '.join(means)}"


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.2f}"


def _time(seconds: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e6:.3g} us"
