"""The explanation as a listing: the user's lines, each with its report."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.table import Table
from rich.text import Text

from graphc.compiler.base import Location
from graphc.compiler.runtime.costs import format_bytes, format_seconds
from graphc.tools.inspect.render import Paragraph

if TYPE_CHECKING:
    from graphc.tools.inspect.explanation import Explanation, LineReport

__all__ = ["format_explanation", "ops_note"]

_GAP = 3
"""Maximum number of consecutive lines without remarks that are shown; more are omitted."""
_WIDEST = 64
"""Maximum width of a line of source; the rest is cut off."""
_MOST_ARGUMENTS = 20
_FEW = 4
"""Maximum number of values read of one global that are listed; more are counted."""
_SMALL_CALL = 5e-6
"""The overhead of calling a compiled function, in seconds."""


def format_explanation(found: Explanation) -> Group:
    """Returns the explanation formatted for a terminal."""
    title = Text(f"{found.function}: {found.ops} ops traced, {found.left} left", style="bold")
    parts: list[Text | Table | Paragraph] = [title]
    for _, lines in groupby(found.lines, key=lambda line: (line.location.file, line.location.function)):
        parts += _listing(list(lines))
    for heading, rows in (
        ("arguments", _arguments(found)),
        ("loops", [_loop(loop.location, f"{loop.kind}: {loop.why}", loop.times) for loop in found.loops]),
        ("variables", [f"{row.name} {row.type}: {_access(row.read, row.written)}" for row in found.variables]),
        ("tensors from outside", [f"{name} {kind}" for name, kind in found.captured]),
        ("checked at each call", _guards(found)),
        ("device", [f"the program runs on {found.device}"] if found.device else []),
        ("steps", found.steps),
        ("collectives", _collectives(found)),
        ("after each run", found.after_call),
        ("only when traced", [_loop(place, what) for what, place in found.side_effects]),
        ("not converted", [f"{name}: {reason}" for name, reason in found.unconverted.items()]),
        ("cost", _costs(found)),
        ("traces", found.traces),
    ):
        parts += _section(heading, rows)
    return Group(*parts)


def _guards(found: Explanation) -> list[str]:
    """Returns the values read outside the arguments, and those that take longer to check than a small call."""
    outside = [guard.what for guard in found.guards if guard.what.startswith(("global ", "outer "))]
    parts: dict[str, list[str]] = {}  # of each global or outer name: it and what is read of it
    for what in dict.fromkeys(outside):
        parts.setdefault(what.partition(")")[0] + ")", []).append(what)
    told = [
        f"{name} with {len(read)} of its attributes and items" if len(read) > _FEW else ", ".join(read)
        for name, read in parts.items()
    ]
    rows = [", ".join(told)] if told else []
    remedy = "pass it as a tensor, or keep it in a Variable"
    slow = [guard for guard in found.guards if guard.seconds > _SMALL_CALL]
    rows += [f"{guard.what} takes about {guard.seconds * 1e6:.0f} us at each call: {remedy}" for guard in slow]
    others = [guard for guard in found.guards if guard not in slow]
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
    place = lines[0].location
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
            table.add_row(str(between), Text(_shortened(_source(place.file, between)), style="dim"), "", "", "")
        notes = [note for note in (ops_note(line), *line.notes) if note]
        counts = (str(line.ops), str(line.left)) if line.ops else ("", "")
        table.add_row(
            str(number), Text(_shortened(_source(place.file, number))), *counts, Text("; ".join(notes), style="cyan")
        )
        before = number
    name = place.short.rpartition(":")[0]
    return [Text(f"{place.function} in {name if name.startswith('In[') else place.file}"), table]


def _source(file: str, number: int) -> str:
    return linecache.getline(file, number).rstrip("\n").expandtabs(4)


def _shortened(source: str) -> str:
    """Returns a line of source that leaves room for what is said about it."""
    return source if len(source) <= _WIDEST else f"{source[: _WIDEST - 3]}..."


def _section(heading: str, rows: Iterable[str]) -> list[Text | Paragraph]:
    """Returns a heading and its rows; nothing if there are none."""
    found = list(rows)
    if not found:
        return []
    return [Text(heading, style="bold"), *(Paragraph(f"  {row}") for row in found), Text("")]


def _arguments(found: Explanation) -> list[str]:
    rows = [
        f"{argument.path}: {argument.what}"
        + (" (static: another value needs another trace)" if argument.static else "")
        for argument in found.arguments[:_MOST_ARGUMENTS]
    ]
    more = len(found.arguments) - len(rows)
    return [*rows, f"and {more} more"] if more else rows


def _collectives(found: Explanation) -> list[str]:
    """Returns the exchanges between devices in each run."""
    return [
        f"{each.count} {each.kind}, {each.arrays} arrays, {format_bytes(each.bytes)} on each device"
        for each in found.collectives
    ]


def _loop(place: Location | None, text: str, times: int = 1) -> str:
    where = f"{place.short} " if place is not None else ""
    return f"{where}{text}" + (f" ({times} times)" if times > 1 else "")


def _access(read: bool, written: bool) -> str:
    return " and ".join(name for name, does in (("read", read), ("written", written)) if does)


def _costs(found: Explanation) -> list[str]:
    rows: list[str] = []
    if found.cost is not None:
        steps = [f"{name} {format_seconds(seconds)}" for name, seconds in vars(found.cost).items()]
        rows.append(f"{' + '.join(steps)} = {format_seconds(found.cost.total)}, once")
    if found.memory is not None:
        parts = [f"{name} {format_bytes(count)}" for name, count in vars(found.memory).items()]
        rows.append(f"memory: {', '.join(parts)}; at most {format_bytes(found.memory.total)} at once")
    return rows
