"""How results are shown and kept."""

from __future__ import annotations

import json
import os
import platform
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
from rich.table import Table
from rich.text import Text

from benchmarks.harness import Result

__all__ = ["WIDTH", "machine", "markdown", "table", "write_json"]

WIDTH = 150
"""Of the table, where the output is no terminal."""

_BAR_WIDTH = 12
_LEGEND = """\
median times; ratio: of the medians; quartiles: of the ratios of single rounds; fastest: ratio of the fastest tenths
?: the bar lies between the quartiles"""


def machine() -> dict[str, Any]:
    """What the times were measured on."""
    return {
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "device": jax.devices()[0].device_kind,
        "system": platform.system(),
        "python": platform.python_version(),
        "jax": jax.__version__,
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def table(results: Sequence[Result], title: str) -> Table:
    """The results for a terminal: a full bar is a ratio that just meets its row's bar."""
    view = Table(title=title, title_justify="left", caption=_LEGEND)
    for name in ("case", "measured", "baseline"):
        view.add_column(name, justify="left" if name == "case" else "right", no_wrap=name != "case")
    view.add_column("ratio", justify="right")
    view.add_column("quartiles", no_wrap=True)
    view.add_column("fastest", justify="right")
    view.add_column("bar", justify="right")
    view.add_column("of the bar", no_wrap=True)
    view.add_column("", no_wrap=True)
    for result in results:
        colour = "green" if result.met else "red"
        low, high = result.spread
        view.add_row(
            f"{result.case}\n[dim]{result.labels[0]}; baseline: {result.labels[1]}[/dim]",
            _quantity(statistics.median(result.measured), result.unit),
            _quantity(statistics.median(result.baseline), result.unit),
            Text(f"{result.ratio:.3f}", colour),
            f"{low:.2f} to {high:.2f}",
            f"{result.floor:.3f}",
            f"{result.bar:g}",
            Text(_bar(result.ratio / result.bar), colour),
            Text(result.verdict, colour),
        )
    return view


def markdown(results: Sequence[Result]) -> str:
    """The results as a table for README.md."""
    lines = ["| case | measured | baseline | ratio | quartiles | bar | |", "|---|---|---|---|---|---|---|"]
    for result in results:
        (ours, theirs), (low, high) = result.labels, result.spread
        cells = (result.case, ours, theirs, f"{result.ratio:.2f}", f"{low:.2f} to {high:.2f}", f"{result.bar:g}")
        lines.append(f"| {' | '.join((*cells, result.verdict))} |")
    return "\n".join(lines)


def _bar(share: float) -> str:
    """A bar that is full at 1, with a mark behind it for what is more."""
    filled = round(min(share, 1.0) * _BAR_WIDTH)
    return "█" * filled + "░" * (_BAR_WIDTH - filled) + ("▶" if share > 1.0 else "")


def _quantity(value: float, unit: str) -> str:
    if unit != "s":
        return f"{value:,.0f} {unit}"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def write_json(results: Sequence[Result], path: Path) -> None:
    """Writes the results, every sample included, and the machine."""
    path.parent.mkdir(parents=True, exist_ok=True)
    content = {"machine": machine(), "rows": [result.as_json() for result in results]}
    path.write_text(json.dumps(content, indent=2) + "\n")
