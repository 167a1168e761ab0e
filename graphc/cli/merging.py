"""The timelines of several processes as one, and the rank that the others waited for."""

from __future__ import annotations

import re
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.runtime import BARRIER, Event, read_timeline

__all__ = ["MergedTimeline", "merge_timelines"]


@dataclass(frozen=True)
class MergedTimeline:
    """The merged timelines of all ranks.

    Attributes:
      events: the events in order of their start, with times of a common clock.
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

    Args:
      paths: the files, one of each rank.

    Raises:
      NotFoundError: there is no such file.
      InvalidArgumentError: one is no such trace, or not of a rank, or two are of the same.
    """
    by_rank: dict[int, list[Event]] = {}
    for path in paths:
        events = read_timeline(path)
        ranks = {int(found[1]) for event in events if (found := re.match(r"rank (\d+) ", event.track))}
        if len(ranks) != 1 or by_rank.keys() & ranks:
            told = f"rank {min(ranks)} is there already" if len(ranks) == 1 else "it is no trace of one rank of several"
            raise InvalidArgumentError(f"{path}: {told}; give a file of each rank")
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
    found = [event for event in events if event.kind == "wait" and event.name.startswith(BARRIER)]
    names = [event.name for event in found]
    return {event.name: event for event in found if names.count(event.name) == 1}


def _waited_for(barriers: Mapping[int, Mapping[str, Event]]) -> dict[int, float]:
    """Returns the seconds that the others waited for each rank: at each barrier for the one that came last."""
    found = dict.fromkeys(barriers, 0.0)
    common = set[str].intersection(*[set(mine) for mine in barriers.values()]) if barriers else set[str]()
    for name in common:
        waits = {rank: mine[name].end - mine[name].start for rank, mine in barriers.items()}
        last = min(waits, key=lambda rank: waits[rank])
        found[last] += sum(waits.values()) - len(waits) * waits[last]
    return found
