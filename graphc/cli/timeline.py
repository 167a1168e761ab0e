"""The output of ``graphc timeline``: the events of a trace as a table in the terminal, and as a picture."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError
from graphc.compiler.runtime import BARRIER, Event, read_timeline

__all__ = ["MergedTimeline", "draw_timeline", "merge_timelines", "print_timeline", "rows_of"]

_BAR = 32
"""Width of the whole time in characters."""
_COLOURS = {  # in a terminal, and in a picture
    "op": ("cyan", "C9"),
    "program": ("blue", "C0"),
    "segment": ("blue", "C0"),
    "transfer": ("yellow", "C1"),
    "host call": ("green", "C2"),
    "control flow": ("magenta", "C4"),
    "transform": ("magenta", "C4"),
    "wait": ("bright_black", "0.75"),
}
_OTHER = "white", "C7"


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
    return Text(" " * left + "█" * length, _COLOURS.get(event.kind, _OTHER)[0])


def _span(events: Sequence[Event]) -> tuple[float, float]:
    """When the first event began, and the last one ended."""
    return min((event.start for event in events), default=0.0), max((event.end for event in events), default=0.0)


def rows_of(events: Sequence[Event]) -> list[int]:
    """The row of each event of a track, so that no two of a row overlap: a call in a loop stands below the loop."""
    ends: list[float] = []
    rows: list[int] = []
    for event in events:
        row = next((row for row, end in enumerate(ends) if end <= event.start), len(ends))
        ends[row : row + 1] = [event.end]
        rows.append(row)
    return rows


_POINTS = 8
"""The size of the names in bars."""
_SHORTEST = 4
"""With room for fewer characters a bar has no name."""


def draw_timeline(events: Sequence[Event], path: Path, title: str) -> None:
    """Draws a lane for each device and thread, with a bar for each event and its name where there is room."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.patches import Patch
    except ImportError:
        raise FailedPreconditionError("drawing needs matplotlib: pip install 'graphc[viz]'") from None
    events = sorted(events, key=lambda event: event.start)
    tracks = sorted(dict.fromkeys(event.track for event in events), key=lambda track: (track[:1] != "/", track))
    first, last = _span(events)
    width = 11.0
    figure: Any = Figure(figsize=(width, 1.6 + 0.6 * max(len(tracks), 1)), layout="constrained")
    axes = figure.add_subplot()
    # A character is about six tenths as wide as it is high; the lanes take about three quarters of the picture.
    character = (last - first) / (0.75 * width * 72 / (0.6 * _POINTS))
    for lane, track in enumerate(tracks):
        here = [event for event in events if event.track == track]
        rows = rows_of(here)
        height = 0.8 / (max(rows) + 1)
        for event, row in zip(here, rows, strict=True):
            top, length = lane - 0.4 + row * height, event.end - event.start
            colour = _COLOURS.get(event.kind, _OTHER)[1]
            span = ((event.start - first) * 1e3, length * 1e3)
            edge = "white" if length > character else colour  # which must not hide a bar that is thinner than it
            axes.broken_barh([span], (top, height), facecolor=colour, edgecolor=edge, linewidth=0.4)
            room = int(length / character) - 1
            if room >= min(len(event.name), _SHORTEST):
                name = event.name if len(event.name) <= room else f"{event.name[: room - 1]}…"
                span = {"ha": "center", "va": "center", "fontsize": _POINTS, "clip_on": True, "parse_math": False}
                axes.text((event.start - first + length / 2) * 1e3, top + height / 2, name, **span)
    axes.set_yticks(range(len(tracks)), tracks)
    axes.invert_yaxis()
    axes.set_xlim(0, max((last - first) * 1e3, 1e-3))
    axes.set_xlabel("time, ms")
    axes.set_title(title, loc="left", fontsize="medium")
    kinds = dict.fromkeys(event.kind for event in events)
    handles = [Patch(color=_COLOURS.get(kind, _OTHER)[1], label=kind) for kind in kinds]
    if handles:
        figure.legend(handles=handles, loc="outside lower left", ncols=len(handles), fontsize="small", frameon=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


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
