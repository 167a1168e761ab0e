"""A comparison as a table."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from graphc.compiler.runtime.costs import format_bytes, format_seconds, three_digits, unit_of
from graphc.tools.inspect.equality import Agreement

if TYPE_CHECKING:
    from graphc.tools.inspect.report import Comparison, ModeReport
    from graphc.tools.inspect.timing import Timing

__all__ = ["Paragraph", "failures_of", "format_table", "middle_half", "one_time_costs", "speed_text"]

_WIDE = 0.05
"""From this part of the ratio on its middle half is told."""
_NUMBER_SPACE = re.compile(r"(?<=\d) (?=[^\W\d_])")


def format_table(comparison: Comparison) -> Group:
    """Returns the comparison as a table, with the one-time costs and the notes below."""
    title = Text(f"{comparison.function} on {comparison.machine.device}", style="bold")
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    table.add_column("mode", no_wrap=True)
    table.add_column("equal", no_wrap=True)
    for column in ("error", "median", "middle half", "speed", "launches", "memory"):
        table.add_column(column, justify="right", no_wrap=True)
    for mode in comparison.modes:
        table.add_row(*_row(comparison, mode))
    lines = [*failures_of(comparison), *_ranges(comparison), *one_time_costs(comparison)]
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
        "" if timing is None else middle_half(timing),
        "" if speedup is None or mode.values is None else f"{three_digits(speedup)}x",
        "" if mode.launches is None else str(mode.launches),
        "" if mode.memory is None else format_bytes(mode.memory.total),
    ]


def _ranges(comparison: Comparison) -> list[Paragraph]:
    """Returns the middle half of each speed over the rounds, where it is wide."""
    modes = [mode for mode in comparison.modes if mode.values is not None and mode.timing is not None]
    texts = {mode.name: speed_text(comparison, mode.name).partition(" ")[2].strip("()") for mode in modes}
    told = [f"{name} {text}x" for name, text in texts.items() if text]
    return [Paragraph(f"speed over the rounds, middle half: {', '.join(told)}")] if told else []


def speed_text(comparison: Comparison, name: str) -> str:
    """Returns the speedup of a mode over eager code; with the interquartile range over the rounds, if that is wide."""
    speedup, around = comparison.speedup(name), comparison.speedup_range(name)
    if speedup is None or around is None:
        return ""
    is_wide = around[1] - around[0] > _WIDE * speedup
    return f"{three_digits(speedup)}x" + (f" ({three_digits(around[0])}-{three_digits(around[1])})" if is_wide else "")


def middle_half(timing: Timing) -> str:
    """Returns the quartiles, in the unit of the median, which stands before them."""
    size = unit_of(timing.median)[1]
    return "-".join(three_digits(quartile / size) for quartile in timing.quartiles)


def _largest_error(mode: ModeReport) -> str:
    agreements = [agreement for agreement in (mode.values, mode.gradients) if agreement is not None]
    errors = [difference.error for agreement in agreements for difference in agreement.differences]
    largest = max((error for error in errors if error is not None), default=None)
    return "" if largest is None else f"{largest:.1e}" if largest else "0"


def failures_of(comparison: Comparison) -> list[Paragraph]:
    """Returns what differs, a line for each mode."""
    lines: list[Paragraph] = []
    for mode in comparison.modes:
        for what, agreement in (("values", mode.values), ("gradients", mode.gradients)):
            if agreement is not None and not agreement.equal:
                lines.append(Paragraph(f"NOT EQUAL: {mode.name}, {what}: {_worst(agreement)}", "bold red"))
    return lines


def _worst(agreement: Agreement) -> str:
    worst = agreement.worst
    assert worst is not None
    wrong = sum(not difference.equal for difference in agreement.differences)
    others = f"; {wrong - 1} more outputs differ" if wrong > 1 else ""
    text = f"{worst.path}: {worst.problem}"
    if worst.error is None:
        return f"{text}{others}"
    size = f"error {worst.error:.3g}, {worst.allowed or 0:.3g} allowed"
    if not agreement.close:
        return f"{text} ({size}){others}"
    return (
        f"{text}: differs by rounding a little above the tolerance ({worst.excess:.2g} times: {size}){others}; "
        "gx.compare(..., rtol=..., atol=...) sets what is allowed"
    )


def one_time_costs(comparison: Comparison) -> list[Paragraph]:
    """Returns what compiling costs, and the first calls."""
    cost = comparison.cost
    steps = [f"{name} {format_seconds(seconds)}" for name, seconds in vars(cost).items() if seconds]
    text = f"compiling: {' + '.join(steps)} = {format_seconds(cost.total)}"
    calls = comparison.break_even
    if calls is not None:
        text += f"; paid off after {calls} call{'s' if calls > 1 else ''}"
    firsts = ", ".join(f"{mode.name} {format_seconds(mode.first_call)}" for mode in comparison.modes)
    return [Paragraph(text), Paragraph(f"first calls, not among the times above: {firsts}")]
