"""A comparison as a table and as a picture."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from graphc.base.errors import FailedPreconditionError
from graphc.costs import format_bytes, format_seconds, three_digits, unit_of
from graphc.inspect.equality import Agreement

if TYPE_CHECKING:
    from graphc.inspect.report import Comparison, ModeReport
    from graphc.inspect.timing import Timing

__all__ = ["Paragraph", "draw_timings", "format_table"]

_NUMBER_SPACE = re.compile(r"(?<=\d) (?=[^\W\d_])")


def format_table(comparison: Comparison) -> Group:
    """The comparison as a table, with the one-time costs and the notes below."""
    title = Text(f"{comparison.function} on {comparison.machine.device}", style="bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("mode", no_wrap=True)
    table.add_column("equal", no_wrap=True)
    for column in ("error", "median", "middle half", "speed", "launches", "memory"):
        table.add_column(column, justify="right", no_wrap=True)
    for mode in comparison.modes:
        table.add_row(*_row(comparison, mode))
    lines = [*_failures(comparison), *_one_time_costs(comparison)]
    lines += [Paragraph(f"note: {note}", "yellow") for note in comparison.notes]
    return Group(title, table, *lines)


@dataclass(frozen=True)
class Paragraph:
    """Text that wraps between words, but not between a number and its unit; rich alone breaks at any kind of space."""

    text: str
    style: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        joined = _NUMBER_SPACE.sub("\N{NO-BREAK SPACE}", self.text)
        lines = textwrap.wrap(joined, options.max_width, break_on_hyphens=False)
        yield Text("\n".join(lines).replace("\N{NO-BREAK SPACE}", " "), style=self.style)


def _row(comparison: Comparison, mode: ModeReport) -> list[Any]:
    timing = mode.timing
    speedup = comparison.speedup(mode.name)
    return [
        mode.name,
        "" if mode.values is None else Text("yes", style="green") if mode.equal else Text("NO", style="bold red"),
        _largest_error(mode),
        "" if timing is None else format_seconds(timing.median),
        "" if timing is None else _middle_half(timing),
        "" if speedup is None or mode.values is None else f"{three_digits(speedup)}x",
        "" if mode.launches is None else str(mode.launches),
        "" if mode.memory is None else format_bytes(mode.memory.total),
    ]


def _middle_half(timing: Timing) -> str:
    """The quartiles, in the unit of the median, which stands before them."""
    size = unit_of(timing.median)[1]
    return "-".join(three_digits(quartile / size) for quartile in timing.quartiles)


def _largest_error(mode: ModeReport) -> str:
    agreements = [agreement for agreement in (mode.values, mode.gradients) if agreement is not None]
    errors = [difference.error for agreement in agreements for difference in agreement.differences]
    largest = max((error for error in errors if error is not None), default=None)
    return "" if largest is None else f"{largest:.1e}" if largest else "0"


def _failures(comparison: Comparison) -> list[Paragraph]:
    lines: list[Paragraph] = []
    for mode in comparison.modes:
        for what, agreement in (("values", mode.values), ("gradients", mode.gradients)):
            if agreement is not None and not agreement.equal:
                lines.append(Paragraph(f"NOT EQUAL: {mode.name}, {what}: {_worst(agreement)}", "bold red"))
    return lines


def _worst(agreement: Agreement) -> str:
    worst = agreement.worst
    assert worst is not None
    size = "" if worst.error is None else f" (error {worst.error:.3g}, {worst.allowed or 0:.3g} allowed)"
    wrong = sum(not difference.equal for difference in agreement.differences)
    others = f"; {wrong - 1} more outputs differ" if wrong > 1 else ""
    return f"{worst.path}: {worst.problem}{size}{others}"


def _one_time_costs(comparison: Comparison) -> list[Paragraph]:
    cost = comparison.cost
    steps = [f"{name} {format_seconds(seconds)}" for name, seconds in vars(cost).items() if seconds]
    text = f"compiling: {' + '.join(steps)} = {format_seconds(cost.total)}"
    calls = comparison.break_even
    if calls is not None:
        text += f"; paid off after {calls} call{'s' if calls > 1 else ''}"
    firsts = ", ".join(f"{mode.name} {format_seconds(mode.first_call)}" for mode in comparison.modes)
    return [Paragraph(text), Paragraph(f"first calls, not among the times above: {firsts}")]


def draw_timings(comparison: Comparison, path: Path, title: str | None = None) -> Path:
    """Draws the samples of each mode, its middle half and its median; see ``Comparison.plot``."""
    timed = [(mode.name, mode.timing) for mode in comparison.modes if mode.timing is not None]
    if not timed:
        raise FailedPreconditionError(
            f"the comparison of {comparison.function} has no times to draw: nothing was timed"
        )
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise FailedPreconditionError("drawing needs matplotlib: pip install 'graphc[viz]'") from None
    unit, size = unit_of(max(timing.median for _, timing in timed))
    figure: Any = Figure(figsize=(7.0, 1.6 + 0.6 * len(timed)), layout="constrained")
    axes = figure.add_subplot()
    for position, (name, timing) in enumerate(timed):
        samples = [sample / size for sample in timing.samples]
        axes.barh(position, timing.median / size, height=0.55, color="C0", alpha=0.5)
        lower, upper = (quartile / size for quartile in timing.quartiles)
        axes.barh(position, upper - lower, left=lower, height=0.15, color="C3")
        axes.plot(samples, [position] * len(samples), "o", color="0.2", markersize=4, alpha=0.5)
        place: dict[str, Any] = {"transform": axes.get_yaxis_transform(), "ha": "right", "va": "center"}
        axes.text(0.985, position, _label(comparison, name, timing), **place)
    axes.set_yticks(range(len(timed)), [name for name, _ in timed])
    axes.invert_yaxis()
    # From 0, so that lengths compare as the times do; to the right of all samples is room for the labels.
    axes.set_xlim(0, 1.45 * max(max(timing.samples) for _, timing in timed) / size)
    axes.set_xlabel(f"time of one call, {unit} (bar: median; red: middle half; dots: samples)")
    speedup = comparison.speedup()
    speed = "" if speedup is None else f"\nspeed: compiled is {three_digits(speedup)} times as fast as eager"
    axes.set_title(f"{title or comparison.function}{speed}", loc="left", fontsize="medium")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)
    return path


def _label(comparison: Comparison, name: str, timing: Timing) -> str:
    speedup = comparison.speedup(name)
    speed = "" if speedup is None or name == "eager" else f" ({three_digits(speedup)}x)"
    return f"median {format_seconds(timing.median)}{speed}"
