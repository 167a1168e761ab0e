"""The output of ``graphc timeline``: the events of a trace as a table in the terminal, and as one of several ranks."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.runtime import BARRIER, Event, read_timeline

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


# The timelines of several processes as one, and the rank that the others waited for.


@dataclass(frozen=True)
class MergedTimeline:
    """The merged timelines of all ranks.

    Attributes:
      waited_for: the seconds that all other ranks together waited for each.
    """

    events: tuple[Event, ...]
    waited_for: Mapping[int, float]

    @property
    def straggler(self) -> int | None:
        """The rank that the others waited for most; None where ranks did not wait for each other."""
        most = max(self.waited_for, key=lambda rank: self.waited_for[rank], default=None)
        return most if most is not None and self.waited_for[most] > 0 else None


def merge_timelines(paths: Sequence[str | Path]) -> MergedTimeline:
    """Merges the traces that :func:`graphc.profile` has written on the ranks of a job.

    Barriers end on all ranks at the same time: they set the clocks.
    """
    by_rank: dict[int, list[Event]] = {}
    for path in paths:
        events = read_timeline(path)
        ranks = {int(match[1]) for event in events if (match := re.match(r"rank (\d+) ", event.track))}
        if len(ranks) != 1 or by_rank.keys() & ranks:
            reason = (
                f"rank {min(ranks)} is there already" if len(ranks) == 1 else "it is no trace of one rank of several"
            )
            raise InvalidArgumentError(f"{path}: {reason}; give a file of each rank")
        by_rank[ranks.pop()] = events
    barriers = {rank: _barriers(events) for rank, events in sorted(by_rank.items())}
    first = barriers[min(barriers)] if barriers else {}
    merged: list[Event] = []
    for rank, mine in barriers.items():
        shift = statistics.median([first[name].end - mine[name].end for name in first.keys() & mine.keys()] or [0.0])
        merged += [replace(event, start=event.start + shift, end=event.end + shift) for event in by_rank[rank]]
    start = min((event.start for event in merged), default=0.0)
    events = [replace(event, start=event.start - start, end=event.end - start) for event in merged]
    return MergedTimeline(tuple(sorted(events, key=lambda event: event.start)), _waited_for(barriers))


def _barriers(events: Sequence[Event]) -> dict[str, Event]:
    """Returns the barriers that a rank came to, by their names; one that came twice says nothing about clocks."""
    barriers = [event for event in events if event.kind == "wait" and event.name.startswith(BARRIER)]
    names = [event.name for event in barriers]
    return {event.name: event for event in barriers if names.count(event.name) == 1}


def _waited_for(barriers: Mapping[int, Mapping[str, Event]]) -> dict[int, float]:
    """Returns the seconds that the others waited for each rank: at each barrier for the one that came last."""
    seconds = dict.fromkeys(barriers, 0.0)
    common = set[str].intersection(*[set(mine) for mine in barriers.values()]) if barriers else set[str]()
    for name in common:
        waits = {rank: mine[name].end - mine[name].start for rank, mine in barriers.items()}
        last = min(waits, key=lambda rank: waits[rank])
        seconds[last] += sum(waits.values()) - len(waits) * waits[last]
    return seconds
