"""The ledger of a parameter server: the fate of every push, so that each is applied at most once.

A push is identified by its source, which numbers its pushes, and that number. A repeated push (because no answer came,
or because another worker computed it again) has the same number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

__all__ = ["FATES", "Entry", "Fate", "Ledger"]

Fate = Literal["waiting", "applied", "dropped", "late", "lost"]
FATES: tuple[Fate, ...] = get_args(Fate)
"""``waiting`` for the other gradients of its round; ``applied``; ``dropped`` by the staleness policy; ``late``, because
its round was complete; ``lost`` with a server that died."""

_KEPT = 10_000


@dataclass(frozen=True)
class Entry:
    """One push.

    Attributes:
      source: the source that numbers it.
      number: its number within that source.
      worker: the task that computed it.
      rows: the number of rows of data it was computed from.
      staleness: the number of updates applied since its worker pulled.
      fate: the fate of the push.
      weight: the factor of its gradient; the mean over its elements where they differ.
      version: the version of the server after it.
    """

    source: str
    number: int
    worker: str
    rows: int
    staleness: int
    fate: Fate
    weight: float
    version: int

    @property
    def key(self) -> tuple[str, int]:
        """The key that identifies the push."""
        return self.source, self.number


class Ledger:
    """Keeps the fates of the latest pushes individually, and totals of all."""

    def __init__(self, kept: int = _KEPT) -> None:
        self._kept = kept
        self._entries: dict[tuple[str, int], Entry] = {}
        self._floors: dict[str, int] = {}
        self._pushes: Counter[tuple[str, Fate]] = Counter()
        self._rows: Counter[tuple[str, Fate]] = Counter()
        self._staleness: Counter[int] = Counter()
        self.repeats = 0

    def find(self, source: str, number: int) -> Entry | None:
        """Returns the entry of a known push, None if the push is to be accepted; counts the repeats.

        A push that was lost with a server is accepted when it comes again.
        """
        found = self._entries.get((source, number))
        if found is None and number <= self._floors.get(source, -1):
            found = Entry(source, number, "", 0, 0, "late", 0.0, -1)
        if found is None or found.fate == "lost":
            return None
        self.repeats += 1
        return found

    def latest(self, source: str, number: int) -> Entry | None:
        """Returns the current entry of a push; None for an unknown one."""
        return self._entries.get((source, number))

    def add(self, entry: Entry) -> None:
        """Writes an entry, replacing the push's previous one."""
        before = self._entries.pop(entry.key, None)
        if before is not None:
            self._count(before, -1)
        self._count(entry, 1)
        self._entries[entry.key] = entry
        while len(self._entries) > self._kept:
            oldest = next(iter(self._entries.values()))
            if oldest.fate == "waiting":
                return
            del self._entries[oldest.key]
            self._floors[oldest.source] = max(oldest.number, self._floors.get(oldest.source, -1))

    def change(self, source: str, number: int, fate: Fate, version: int) -> None:
        """Sets the fate of a push that was waiting."""
        before = self._entries[source, number]
        self._count(before, -1)
        self._entries[source, number] = after = replace(before, fate=fate, version=version)
        self._count(after, 1)

    def _count(self, entry: Entry, by: int) -> None:
        self._pushes[entry.worker, entry.fate] += by
        self._rows[entry.worker, entry.fate] += by * entry.rows
        if entry.fate == "applied":
            self._staleness[entry.staleness] += by

    def __iter__(self) -> Iterator[Entry]:
        return iter(self._entries.values())

    def count(self, fate: Fate) -> int:
        """Returns the number of pushes with a fate."""
        return sum(number for (_, found), number in self._pushes.items() if found == fate)

    @property
    def staleness(self) -> dict[int, int]:
        """The histogram of staleness: the number of updates applied with each."""
        return {key: self._staleness[key] for key in sorted(self._staleness) if self._staleness[key]}

    def table(self) -> dict[str, dict[str, int]]:
        """Returns pushes and rows of each worker by fate, such as ``{"w": {"applied": 3, "applied_rows": 96}}``."""
        found: dict[str, dict[str, int]] = {}
        for (worker, fate), number in sorted(self._pushes.items()):
            if number:
                found.setdefault(worker, {}).update({fate: number, f"{fate}_rows": self._rows[worker, fate]})
        return found

    def state(self) -> dict[str, Any]:
        """Returns everything as JSON data."""
        return {
            "entries": [dict(vars(entry)) for entry in self],
            "floors": dict(self._floors),
            "pushes": [[*key, number] for key, number in self._pushes.items()],
            "rows": [[*key, number] for key, number in self._rows.items()],
            "staleness": [[*pair] for pair in self._staleness.items()],
            "repeats": self.repeats,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restores a :meth:`state`."""
        entries = [Entry(**entry) for entry in state["entries"]]
        self._entries = {entry.key: entry for entry in entries}
        self._floors = dict(state["floors"])
        self._pushes = Counter({(worker, fate): number for worker, fate, number in state["pushes"]})
        self._rows = Counter({(worker, fate): number for worker, fate, number in state["rows"]})
        self._staleness = Counter(dict(state["staleness"]))
        self.repeats = state["repeats"]
