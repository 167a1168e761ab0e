"""Shard: the values of one parameter server, and the handling of pushes. It has neither threads nor clocks.

Values are flat buffers, one for each dtype and kind of Variable, so that a pull or push is a few arrays for any number
of Variables (Li et al. 2014, Scaling Distributed Machine Learning with the Parameter Server). A version counts the
updates.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol, TypeAlias, get_args

import jax.numpy as jnp
import numpy as np

from graphc.cluster.parameters.staleness import Moment, Policy

# The ledger of a parameter server: the fate of every push, so that each is applied at most once.

Fate = Literal["waiting", "applied", "dropped", "late", "lost"]
FATES: tuple[Fate, ...] = get_args(Fate)
"""``waiting`` for the other gradients of its round; ``applied``; ``dropped`` by the staleness policy; ``late``, because
its round was complete; ``lost`` with a server that died."""

_KEPT = 10_000


@dataclass(frozen=True)
class PushEntry:
    """One push."""

    source: str
    number: int
    worker: str
    rows: int  # the number of rows of data it was computed from
    staleness: int  # the number of updates applied since its worker pulled
    fate: Fate
    weight: float  # the factor of its gradient; the mean over its elements where they differ
    version: int

    @property
    def key(self) -> tuple[str, int]:
        """The key that identifies the push."""
        return self.source, self.number


class Ledger:
    """Keeps the fates of the latest pushes individually, and totals of all."""

    def __init__(self, capacity: int = _KEPT) -> None:
        self._kept = capacity
        self._entries: dict[tuple[str, int], PushEntry] = {}
        self._floors: dict[str, int] = {}
        self._pushes: Counter[tuple[str, Fate]] = Counter()
        self._rows: Counter[tuple[str, Fate]] = Counter()
        self._staleness: Counter[int] = Counter()
        self.repeats = 0

    def find(self, source: str, number: int) -> PushEntry | None:
        """Returns the entry of a known push, None if the push is to be accepted; counts the repeats.

        A push that was lost with a server is accepted when it comes again.
        """
        entry = self._entries.get((source, number))
        if entry is None and number <= self._floors.get(source, -1):
            entry = PushEntry(source, number, "", 0, 0, "late", 0.0, -1)
        if entry is None or entry.fate == "lost":
            return None
        self.repeats += 1
        return entry

    def latest(self, source: str, number: int) -> PushEntry | None:
        """Returns the current entry of a push; None for an unknown one."""
        return self._entries.get((source, number))

    def add(self, entry: PushEntry) -> None:
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

    def _count(self, entry: PushEntry, by: int) -> None:
        self._pushes[entry.worker, entry.fate] += by
        self._rows[entry.worker, entry.fate] += by * entry.rows
        if entry.fate == "applied":
            self._staleness[entry.staleness] += by

    def __iter__(self) -> Iterator[PushEntry]:
        return iter(self._entries.values())

    def count(self, fate: Fate) -> int:
        """Returns the number of pushes with a fate."""
        return sum(number for (_, other), number in self._pushes.items() if other == fate)

    @property
    def staleness(self) -> dict[int, int]:
        """The histogram of staleness: the number of updates applied with each."""
        return {key: self._staleness[key] for key in sorted(self._staleness) if self._staleness[key]}

    def table(self) -> dict[str, dict[str, int]]:
        """Returns pushes and rows of each worker by fate, such as ``{"w": {"applied": 3, "applied_rows": 96}}``."""
        counts: dict[str, dict[str, int]] = {}
        for (worker, fate), number in sorted(self._pushes.items()):
            if number:
                counts.setdefault(worker, {}).update({fate: number, f"{fate}_rows": self._rows[worker, fate]})
        return counts

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
        entries = [PushEntry(**entry) for entry in state["entries"]]
        self._entries = {entry.key: entry for entry in entries}
        self._floors = dict(state["floors"])
        self._pushes = Counter({(worker, fate): number for worker, fate, number in state["pushes"]})
        self._rows = Counter({(worker, fate): number for worker, fate, number in state["rows"]})
        self._staleness = Counter(dict(state["staleness"]))
        self.repeats = state["repeats"]


Cover: TypeAlias = Sequence[tuple[Any, int]] | None
"""Pairs of an array of starts and the number of elements from each; None for a whole buffer."""

Elements: TypeAlias = Any
"""The indices of elements as an array, or None for all."""

_FEWEST = 16


def elements_of(cover: Cover) -> Elements:
    """Returns the indices of the elements that a cover names, in its order."""
    if cover is None:
        return None
    parts = [(np.asarray(starts)[:, None] + np.arange(width)).reshape(-1) for starts, width in cover]
    return np.concatenate(parts).astype(np.int32) if parts else np.zeros(0, np.int32)


def picked(buffer: Any, elements: Elements) -> Any:
    """Returns some elements of a buffer; values beyond its end do not matter."""
    return buffer if elements is None else jnp.take(buffer, elements, mode="clip")


def padded(elements: Elements, values: Any, size: int) -> tuple[Elements, Any]:
    """Pads indices and values to a power of two, so that only a few lengths are compiled.

    Args:
      size: the size of the buffer; padding indices equal it, where nothing is stored.
    """
    if elements is None:
        return None, values
    room = max(_FEWEST, 1 << (max(len(elements), 1) - 1).bit_length())
    more = room - len(elements)
    return np.pad(elements, (0, more), constant_values=size), np.pad(np.asarray(values), (0, more))


def merged(parts: Sequence[tuple[Elements, Any]], size: int) -> tuple[Elements, Any]:
    """Sums values by element."""
    if all(elements is None for elements, _ in parts):
        total = parts[0][1]
        for _, values in parts[1:]:
            total = total + values
        return None, total
    indices = [np.arange(size) if elements is None else elements for elements, _ in parts]
    elements, inverse = np.unique(np.concatenate(indices), return_inverse=True)
    values = np.concatenate([np.asarray(values) for _, values in parts])
    total = np.zeros(len(elements), values.dtype)
    np.add.at(total, inverse, values)
    return elements, total


def add_at(buffer: Any, elements: Elements, values: Any) -> Any:
    """Returns a buffer with values added to some elements."""
    if elements is None:
        return buffer + values
    elements, values = padded(elements, values, buffer.shape[0])
    return jnp.asarray(buffer).at[elements].add(values, mode="drop")


@dataclass(frozen=True)
class Body:
    """Values for some elements of a buffer."""

    values: Any
    cover: Cover = None


@dataclass(frozen=True)
class Push:
    """A push from a worker to one server.

    Attributes:
      rows: the number of rows of data it was computed from.
      version: the version that the worker pulled.
      averaged: changes of values, by buffer, whose mean a round adds.
    """

    source: str
    number: int
    worker: str
    rows: int
    version: int
    gradients: Mapping[int, Body] = field(default_factory=dict[int, Body])
    added: Mapping[int, Body] = field(default_factory=dict[int, Body])
    averaged: Mapping[int, Body] = field(default_factory=dict[int, Body])

    @property
    def kinds(self) -> dict[str, Mapping[int, Body]]:
        """Returns the contents of the push, by kind."""
        return {"gradients": self.gradients, "added": self.added, "averaged": self.averaged}


@dataclass
class _Update:
    """The state of a shard after an update that is computed but not yet applied."""

    values: list[Any]
    state: list[Any]


class Rule(Protocol):
    """An optimizer's update, on buffers."""

    def __call__(
        self, values: Sequence[Any], gradients: Mapping[int, tuple[Elements, Any]], state: Sequence[Any]
    ) -> tuple[Sequence[Any], Sequence[Any]]:
        """Returns new buffers and a new state; elements without gradients keep their values and state."""
        ...


class Shard:
    """The values of one server, and the rule that updates them.

    Args:
      round: the number of gradients whose mean makes an update; None where each is applied as it arrives. With
        synchronous updates, the first ``round`` gradients of a version count; later ones do not (Chen et al. 2016,
        Revisiting Distributed Synchronous SGD).
    """

    def __init__(
        self, values: Sequence[Any], rule: Rule | None = None, state: Sequence[Any] = (), *,
        policy: Policy | None = None, round: int | None = None,
    ) -> None:  # fmt: skip
        self.values, self.rule, self.state = list(values), rule, list(state)
        self.policy, self.round = policy or Policy(), round
        self.version = 0
        self.ledger = Ledger()
        self._waiting: list[Push] = []

    @property
    def waiting(self) -> int:
        """The number of gradients that wait for the rest of their round."""
        return len(self._waiting)

    def pull(self, buffers: Sequence[int]) -> dict[int, Any]:
        """Returns the current values of some buffers."""
        return {buffer: self.values[buffer] for buffer in buffers}

    def judge(self, push: Push) -> tuple[PushEntry, Push]:
        """Returns the fate of a new push, and the push with its gradients weighted.

        Changes nothing: :meth:`take` does that, once both are stored safely.
        """
        stale = max(0, self.version - push.version)
        if self.round is not None:
            fate = "late" if push.version != self.version else "waiting"
            return _entry(push, stale, fate, 1.0, self.version), push
        weight = self.policy.weights(Moment(stale))
        if weight is None:
            return _entry(push, stale, "dropped", 0.0, self.version), push
        if weight != 1.0:
            scaled = {
                buffer: Body((body.values * weight).astype(self.values[buffer].dtype), body.cover)
                for buffer, body in push.gradients.items()
            }
            push = replace(push, gradients=scaled)
        return _entry(push, stale, "applied", weight, self.version + 1), push

    def take(self, entry: PushEntry, push: Push, write: Callable[[], object] | None = None) -> None:
        """Writes a push into the ledger, and applies it or lets it wait, as its entry says.

        Changes nothing if the update fails: the push may come again.
        """
        waits = entry.fate == "waiting"
        pushes = [*self._waiting, push] if waits else [push]
        due = len(pushes) == self.round if waits else entry.fate == "applied"
        update = self._update(pushes) if due else None
        if write is not None:
            write()
        self.ledger.add(entry)
        if waits:
            self._waiting = pushes
        if update is not None:
            self._apply(update, ends=waits)

    def flush(self, write: Callable[[], object] | None = None) -> None:
        """Ends a round with the gradients at hand, as at the end of the data; for ``write``, see :meth:`take`."""
        if not self._waiting:
            return
        update = self._update(self._waiting)
        if write is not None:
            write()
        self._apply(update, ends=True)

    def state_of(self) -> dict[str, Any]:
        """Returns everything but the rule, as data; no gradient may be waiting."""
        return {"version": self.version, "ledger": json.dumps(self.ledger.state())}

    def restore(self, values: Sequence[Any], state: Sequence[Any], rest: Mapping[str, Any]) -> None:
        """Restores buffers, the rule's state, and a :meth:`state_of`."""
        self.values, self.state = list(values), list(state)
        self.version = rest["version"]
        self.ledger.restore(json.loads(rest["ledger"]))

    def _update(self, pushes: Sequence[Push]) -> _Update:
        """Computes the update of pushes, without applying it."""
        gradients = self._total([push.gradients for push in pushes], len(pushes))
        update = _Update(list(self.values), list(self.state))
        if gradients:
            if self.rule is None:
                raise RuntimeError("gradients were pushed to a server without a rule")
            values, state = self.rule(self.values, gradients, self.state)
            update.values, update.state = list(values), list(state)
        means = [push.averaged for push in pushes if push.averaged]
        for changes in (self._total([push.added for push in pushes], 1), self._total(means, len(means))):
            for buffer, (elements, total) in changes.items():
                update.values[buffer] = add_at(update.values[buffer], elements, total)
        return update

    def _apply(self, update: _Update, *, ends: bool) -> None:
        """Applies an update, which ends the round if ``ends``."""
        self.values, self.state = update.values, update.state
        self.version += 1
        if ends:
            pushes, self._waiting = self._waiting, []
            for push in pushes:
                self.ledger.change(push.source, push.number, "applied", self.version)

    def _total(self, bodies: Sequence[Mapping[int, Body]], count: int) -> dict[int, tuple[Elements, Any]]:
        """Returns the sum of several pushes for each buffer, divided by a count."""
        totals: dict[int, tuple[Elements, Any]] = {}
        for buffer in sorted({buffer for some in bodies for buffer in some}):
            old = self.values[buffer]
            pushed = [some[buffer] for some in bodies if buffer in some]
            parts = [(elements_of(body.cover), body.values) for body in pushed]
            elements, total = parts[0] if len(parts) == 1 else merged(parts, old.shape[0])
            totals[buffer] = elements, total if count == 1 else (total / count).astype(old.dtype)
        return totals


def _entry(push: Push, stale: int, fate: Any, weight: float, version: int) -> PushEntry:
    return PushEntry(push.source, push.number, push.worker, push.rows, stale, fate, weight, version)
