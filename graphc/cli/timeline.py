"""The output of ``graphc timeline``: the events of a trace as a table in the terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphc.compiler.runtime import Event

_BAR = 32
"""Width of the whole time in characters."""
_COLOURS = {
    "op": "cyan",
    "program": "blue",
    "segment": "blue",
    "transfer": "yellow",
    "host call": "green",
    "control flow": "magenta",
    "transform": "magenta",
    "wait": "bright_black",
}


def print_timeline(events: Sequence[Event], console: Console) -> None:
    """Prints a row for each event, in the order in which they began: where and when it ran, and for how long."""
    table = _table(events)
    if not console.is_terminal:
        console.width = console.measure(table, options=console.options.update(width=10_000)).maximum
    console.print(table)


def _table(events: Sequence[Event]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in ("where", "kind", "name", "function or line"):
        table.add_column(name, overflow="fold")
    for name in ("start ms", "ms"):
        table.add_column(name, justify="right", no_wrap=True)
    first, last = _span(events)
    table.add_column(f"{(last - first) * 1e3:.3f} ms", no_wrap=True)
    for event in sorted(events, key=lambda event: event.start):
        table.add_row(
            Text(event.track),
            Text(event.kind),
            Text(event.name),
            Text(event.function or event.line),
            f"{event.start * 1e3:.3f}",
            f"{(event.end - event.start) * 1e3:.3f}",
            _bar(event, first, last),
        )
    return table


def _bar(event: Event, first: float, last: float) -> Text:
    scale = _BAR / (last - first) if last > first else 0.0
    left = min(int((event.start - first) * scale), _BAR - 1)
    length = max(round((event.end - first) * scale) - left, 1)
    return Text(" " * left + "█" * length, _COLOURS.get(event.kind, "white"))


def _span(events: Sequence[Event]) -> tuple[float, float]:
    """When the first event began, and the last one ended."""
    return min((event.start for event in events), default=0.0), max((event.end for event in events), default=0.0)
