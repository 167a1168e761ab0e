"""The explanation as a listing: the user's lines, each with its report."""

from __future__ import annotations

import linecache
import re
import textwrap
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.table import Table
from rich.text import Text

from graphc.compiler.base import Location
from graphc.compiler.runtime.costs import format_bytes, format_seconds, three_digits, unit_of
from graphc.tools.inspect.equality import Agreement

if TYPE_CHECKING:
    from graphc.tools.inspect.explanation import Explanation, LineReport
    from graphc.tools.inspect.report import Comparison, ModeReport
    from graphc.tools.inspect.timing import CallTiming

# A comparison as a table.

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
    ranges = [f"{name} {text}x" for name, text in texts.items() if text]
    return [Paragraph(f"speed over the rounds, middle half: {', '.join(ranges)}")] if ranges else []


def speed_text(comparison: Comparison, name: str) -> str:
    """Returns the speedup of a mode over eager code; with the interquartile range over the rounds, if that is wide."""
    speedup, around = comparison.speedup(name), comparison.speedup_range(name)
    if speedup is None or around is None:
        return ""
    is_wide = around[1] - around[0] > _WIDE * speedup
    return f"{three_digits(speedup)}x" + (f" ({three_digits(around[0])}-{three_digits(around[1])})" if is_wide else "")


def middle_half(timing: CallTiming) -> str:
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


_GAP = 3
"""Maximum number of consecutive lines without remarks that are shown; more are omitted."""
_WIDEST = 64
"""Maximum width of a line of source; the rest is cut off."""
_MOST_ARGUMENTS = 20
_FEW = 4
"""Maximum number of values read of one global that are listed; more are counted."""
_SMALL_CALL = 5e-6
"""The overhead of calling a compiled function, in seconds."""


def format_explanation(explanation: Explanation) -> Group:
    """Returns the explanation formatted for a terminal."""
    title = Text(f"{explanation.function}: {explanation.ops} ops traced, {explanation.left} left", style="bold")
    parts: list[Text | Table | Paragraph] = [title]
    for _, lines in groupby(explanation.lines, key=lambda line: (line.location.file, line.location.function)):
        parts += _listing(list(lines))
    for heading, rows in facts_of(explanation):
        parts += _section(heading, rows)
    return Group(*parts)


def facts_of(explanation: Explanation) -> list[tuple[str, Iterable[str]]]:
    """Returns what is to say besides the lines: headings, each with its rows."""
    return [
        ("arguments", _arguments(explanation)),
        ("loops", [_loop(loop.location, f"{loop.kind}: {loop.why}", loop.times) for loop in explanation.loops]),
        ("variables", [f"{row.name} {row.type}: {_access(row.read, row.written)}" for row in explanation.variables]),
        ("tensors from outside", [f"{name} {kind}" for name, kind in explanation.captured]),
        ("checked at each call", _guards(explanation)),
        ("device", [f"the program runs on {explanation.device}"] if explanation.device else []),
        ("steps", explanation.steps),
        ("collectives", _collectives(explanation)),
        ("after each run", explanation.after_call),
        ("only when traced", [_loop(location, what) for what, location in explanation.side_effects]),
        ("not converted", [f"{name}: {reason}" for name, reason in explanation.unconverted.items()]),
        ("cost", _costs(explanation)),
        ("traces", explanation.traces),
    ]


def _guards(explanation: Explanation) -> list[str]:
    """Returns the values read outside the arguments, and those that take longer to check than a small call."""
    outside = [guard.what for guard in explanation.guards if guard.what.startswith(("global ", "outer "))]
    parts: dict[str, list[str]] = {}  # of each global or outer name: it and what is read of it
    for what in dict.fromkeys(outside):
        parts.setdefault(what.partition(")")[0] + ")", []).append(what)
    texts = [
        f"{name} with {len(read)} of its attributes and items" if len(read) > _FEW else ", ".join(read)
        for name, read in parts.items()
    ]
    rows = [", ".join(texts)] if texts else []
    remedy = "pass it as a tensor, or keep it in a Variable"
    slow = [guard for guard in explanation.guards if guard.seconds > _SMALL_CALL]
    rows += [f"{guard.what} takes about {guard.seconds * 1e6:.0f} us at each call: {remedy}" for guard in slow]
    others = [guard for guard in explanation.guards if guard not in slow]
    seconds = sum(guard.seconds for guard in others)
    if seconds > _SMALL_CALL:
        remedy = "read fewer of them, as from a tuple of numbers or one array"
        rows.append(f"{len(others)} more values take about {seconds * 1e6:.0f} us together at each call: {remedy}")
    return rows


def ops_note(line: LineReport) -> str:
    """Returns a note on the passes' effect on the ops of a line."""
    done = {"folded": line.folded, "merged": line.merged, "removed": line.removed}
    return ", ".join(f"{count} {what}" for what, count in done.items() if count)


def _listing(lines: Sequence[LineReport]) -> list[Text | Table]:
    """Returns the lines of one function."""
    location = lines[0].location
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name, justify in (("line", "right"), ("source", "left"), ("ops", "right"), ("left", "right"), ("", "left")):
        table.add_column(name, justify=justify, no_wrap=name != "", overflow="ellipsis", ratio=None)  # pyright: ignore[reportArgumentType]
    before = lines[0].location.line
    for line in lines:
        number = line.location.line
        if number - before - 1 > _GAP:
            table.add_row("", Text("...", style="dim"), "", "", "")
            before = number - 1
        for between in range(before + 1, number):
            table.add_row(str(between), Text(_shortened(_source(location.file, between)), style="dim"), "", "", "")
        notes = [note for note in (ops_note(line), *line.notes) if note]
        counts = (str(line.ops), str(line.left)) if line.ops else ("", "")
        table.add_row(
            str(number), Text(_shortened(_source(location.file, number))), *counts, Text("; ".join(notes), style="cyan")
        )
        before = number
    name = location.short.rpartition(":")[0]
    return [Text(f"{location.function} in {name if name.startswith('In[') else location.file}"), table]


def _source(file: str, number: int) -> str:
    return linecache.getline(file, number).rstrip("\n").expandtabs(4)


def _shortened(source: str) -> str:
    """Returns a line of source that leaves room for what is said about it."""
    return source if len(source) <= _WIDEST else f"{source[: _WIDEST - 3]}..."


def _section(heading: str, rows: Iterable[str]) -> list[Text | Paragraph]:
    """Returns a heading and its rows; nothing if there are none."""
    entries = list(rows)
    if not entries:
        return []
    return [Text(heading, style="bold"), *(Paragraph(f"  {row}") for row in entries), Text("")]


def _arguments(explanation: Explanation) -> list[str]:
    rows = [
        f"{argument.path}: {argument.what}"
        + (" (static: another value needs another trace)" if argument.static else "")
        for argument in explanation.arguments[:_MOST_ARGUMENTS]
    ]
    more = len(explanation.arguments) - len(rows)
    return [*rows, f"and {more} more"] if more else rows


def _collectives(explanation: Explanation) -> list[str]:
    """Returns the exchanges between devices in each run."""
    return [
        f"{each.count} {each.kind}, {each.arrays} arrays, {format_bytes(each.bytes)} on each device"
        for each in explanation.collectives
    ]


def _loop(location: Location | None, text: str, times: int = 1) -> str:
    where = f"{location.short} " if location is not None else ""
    return f"{where}{text}" + (f" ({times} times)" if times > 1 else "")


def _access(read: bool, written: bool) -> str:
    return " and ".join(name for name, does in (("read", read), ("written", written)) if does)


def _costs(explanation: Explanation) -> list[str]:
    rows: list[str] = []
    if explanation.cost is not None:
        steps = [f"{name} {format_seconds(seconds)}" for name, seconds in vars(explanation.cost).items()]
        rows.append(f"{' + '.join(steps)} = {format_seconds(explanation.cost.total)}, once")
    if explanation.memory is not None:
        parts = [f"{name} {format_bytes(count)}" for name, count in vars(explanation.memory).items()]
        rows.append(f"memory: {', '.join(parts)}; at most {format_bytes(explanation.memory.total)} at once")
    return rows
