"""The rules of the control plane: presence, barriers, and comparisons. It has neither sockets nor a clock.

Rank 0 has the :class:`Hub`, and each rank, including rank 0, has a :class:`Member`. Both take messages and the time;
the hub puts its messages into an outbox, and a carrier (``carriers.py``) transports them. A message is a JSON dict: it
contains no tensor, and nothing is unpickled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from graphc.compiler.base.errors import (
    AbortedError,
    DeadlineExceededError,
    FailedPreconditionError,
    GraphcError,
    InvalidArgumentError,
    UnavailableError,
    code_of,
)

Message = dict[str, Any]

BATCH = "argument "
"""Prefix of the names of facts about batches."""

NOTICE_SECONDS = 5.0
"""Seconds between notices about ranks that are missing at the start."""


@dataclass(frozen=True)
class JobFailure:
    """The reason why the job has ended."""

    code: int
    text: str
    rank: int | None = None

    @property
    def message(self) -> Message:
        """The message that tells the ranks."""
        return {"kind": "stop", "code": self.code, "text": self.text, "rank": self.rank}


@dataclass
class _Entry:
    """A rank that waits at a barrier."""

    what: str
    place: str
    facts: Mapping[str, str]
    vote: int
    note: str
    deadline: float
    seconds: float


@dataclass
class _Rank:
    """The hub's record of a rank."""

    where: str
    heard: float  # the time of its last message
    place: str = ""  # the source line that it last reported
    has_left: bool = False
    entry: _Entry | None = None

    @property
    def last(self) -> str:
        return f"it was last at {self.place}" if self.place else "it has not run anything yet"


def ranks_text(ranks: Iterable[int]) -> str:
    """Formats ranks in words: ``ranks 0, 2 and 3``."""
    *others, last = map(str, sorted(ranks))
    return f"ranks {', '.join(others)} and {last}" if others else f"rank {last}"


@dataclass
class Hub:
    """The coordinator at rank 0: it knows all ranks and decides for the job."""

    count: int
    start: float
    timeout: float  # seconds within which all ranks must arrive
    silence: float  # seconds without a message after which a rank counts as dead
    outbox: list[tuple[int, Message]] = field(default_factory=list[tuple[int, Message]], init=False)
    failure: JobFailure | None = field(default=None, init=False)
    _ranks: dict[int, _Rank] = field(default_factory=dict[int, _Rank], init=False)
    _coordinator: str = field(default="", init=False)
    _noticed: float = field(init=False)

    def __post_init__(self) -> None:
        self._noticed = self.start

    @property
    def is_complete(self) -> bool:
        """True if all ranks have arrived."""
        return len(self._ranks) == self.count

    def receive(self, rank: int, message: Message, now: float) -> None:
        """Handles a message from a rank."""
        kind = message["kind"]
        if kind == "join":
            self._join(rank, message, now)
            return
        sender = self._ranks[rank]
        sender.heard, sender.place = now, message.get("place") or sender.place
        if self.failure is not None:
            return
        if kind == "enter":
            self._enter(rank, sender, message, now)
        elif kind == "leave":
            sender.has_left = True
            self._check_left()
        elif kind == "failed":
            sender.has_left = True
            self._fail(AbortedError, f"rank {rank} ({sender.where}) has failed: {message['text']}", rank)

    def heard(self, rank: int, now: float) -> None:
        """Records that a rank is alive."""
        if rank in self._ranks:
            self._ranks[rank].heard = now

    def lost(self, rank: int) -> None:
        """Records that the connection to a rank is gone."""
        peer = self._ranks[rank]
        if not peer.has_left:
            text = f"rank {rank} ({peer.where}) has died: its connection is closed; {peer.last}"
            self._fail(UnavailableError, text, rank)
            peer.has_left = True

    def tick(self, now: float) -> None:
        """Checks the time; call it after all received messages were handled."""
        if self.failure is not None:
            return
        if not self.is_complete:
            self._check_start(now)
            return
        for rank, peer in self._ranks.items():
            if not peer.has_left and now - peer.heard > self.silence:
                text = (
                    f"rank {rank} ({peer.where}) has given no sign of life for {now - peer.heard:.3g} s: it is "
                    f"stopped, or its machine is gone; {peer.last}"
                )
                self._fail(UnavailableError, text, rank)
                return
        waiting = [peer.entry for peer in self._ranks.values() if peer.entry is not None]
        due = next((entry for entry in waiting if now > entry.deadline), None)
        if due is not None:
            self._fail_missing(due, now)

    def _join(self, rank: int, message: Message, now: float) -> None:
        earlier = self._ranks.get(rank)
        if earlier is not None:
            text = f"two processes say that they are rank {rank}: {earlier.where} and {message['where']}"
            self._fail(FailedPreconditionError, text, rank)
            return
        self._ranks[rank] = _Rank(message["where"], now)
        self._coordinator = message.get("coordinator") or self._coordinator
        if message["count"] != self.count:
            text = (
                f"rank {rank} ({message['where']}) was told that there are {message['count']} processes, "
                f"and rank 0 that there are {self.count}"
            )
            self._fail(FailedPreconditionError, text, rank)
        elif self.failure is not None:
            self.outbox.append((rank, self.failure.message))
        elif self.is_complete:
            self._send_all({"kind": "ready", "coordinator": self._coordinator})

    def _check_start(self, now: float) -> None:
        missing = [rank for rank in range(self.count) if rank not in self._ranks]
        here = "; ".join(f"rank {rank} is on {peer.where}" for rank, peer in sorted(self._ranks.items()))
        waited = now - self.start
        if waited > self.timeout:
            verb = "has" if len(missing) == 1 else "have"
            text = (
                f"{ranks_text(missing)} of {self.count} {verb} not come within {self.timeout:g} s ({here}); check "
                "that the program was started there, with the same GRAPHC_COORDINATOR and GRAPHC_AUTHKEY"
            )
            self._fail(DeadlineExceededError, text, missing[0])
        elif now - self._noticed >= NOTICE_SECONDS:
            self._noticed = now
            text = f"still waiting for {ranks_text(missing)} of {self.count} after {waited:.0f} s; {here}"
            self._send_all({"kind": "notice", "text": text})

    def _enter(self, rank: int, peer: _Rank, message: Message, now: float) -> None:
        seconds = message["timeout"]
        peer.entry = _Entry(
            message["what"], message["place"], message["facts"], message["vote"], message.get("note", ""),
            now + seconds, seconds,
        )  # fmt: skip
        entries = {rank: peer.entry for rank, peer in sorted(self._ranks.items()) if peer.entry is not None}
        self._check_left()
        if len(entries) < self.count or self.failure is not None:
            return
        self._compare(entries)
        for peer in self._ranks.values():
            peer.entry = None
        if self.failure is None:
            notes = [entry.note for entry in entries.values()]
            optional = {"notes": notes} if any(notes) else {}
            self._send_all({"kind": "go", "vote": min(entry.vote for entry in entries.values()), **optional})

    def _compare(self, entries: Mapping[int, _Entry]) -> None:
        """Ends the job if the ranks are not about to do the same."""
        odd = _odd({rank: entry.what for rank, entry in entries.items()})
        if odd is not None:
            rank, other = odd
            text = (
                f"the ranks do different things: rank {rank} enters {entries[rank].what} at {entries[rank].place}, "
                f"where rank {other} enters {entries[other].what} at {entries[other].place}; what runs on several "
                "processes must be called by all, in the same order"
            )
            self._fail(InvalidArgumentError, text, rank)
            return
        names = dict.fromkeys(name for entry in entries.values() for name in entry.facts)
        for name in names:
            values = {rank: entry.facts.get(name, "missing") for rank, entry in entries.items()}
            if name.startswith(BATCH):  # of which one rank may have laid out more than another
                values = {rank: value for rank, value in values.items() if value != "missing"}
            odd = _odd(values)
            if odd is not None:
                rank, other = odd
                text = (
                    f"{name} on rank {rank} differs from rank {other}, before {entries[rank].what} at "
                    f"{entries[rank].place}: {values[rank]} there, {values[other]} here"
                )
                self._fail(InvalidArgumentError, text, rank)
                return

    def _check_left(self) -> None:
        """Ends the job if ranks wait for one whose program has ended."""
        left = [rank for rank, peer in self._ranks.items() if peer.has_left]
        waiting = [rank for rank, peer in self._ranks.items() if peer.entry is not None]
        entry = self._ranks[waiting[0]].entry if waiting else None
        if left and entry is not None:
            text = (
                f"{entry.what} at {entry.place} is entered by {ranks_text(waiting)}, but rank {left[0]} has come to "
                f"the end of its program ({self._ranks[left[0]].last}); give each rank as many steps, for example with "
                "gx.distribute.synchronized(batches)"
            )
            self._fail(FailedPreconditionError, text, left[0])

    def _fail_missing(self, due: _Entry, now: float) -> None:
        missing = {rank: peer for rank, peer in self._ranks.items() if peer.entry is None}
        parts = [
            f"rank {rank} has not entered {due.what} at {due.place} within {due.seconds:.3g} s; {peer.last} "
            f"({now - peer.heard:.1f} s ago)"
            for rank, peer in sorted(missing.items())
        ]
        self._fail(DeadlineExceededError, "; ".join(parts), min(missing))

    def _fail(self, error: type[GraphcError], text: str, rank: int | None) -> None:
        if self.failure is None:
            self.failure = JobFailure(code_of(error), text, rank)
            self._send_all(self.failure.message)

    def _send_all(self, message: Message) -> None:
        self.outbox += [(rank, message) for rank in sorted(self._ranks)]


def _odd(values: Mapping[int, str]) -> tuple[int, int] | None:
    """Returns a rank whose value differs from the majority's, and one of the majority; None if all are equal."""
    common, times = Counter(values.values()).most_common(1)[0]
    if times == len(values):
        return None
    other = next(rank for rank, value in values.items() if value == common)
    return next(rank for rank, value in values.items() if value != common), other


@dataclass
class Member:
    """A rank's view of the job."""

    rank: int
    silence: float  # seconds without a message from rank 0 after which that rank counts as dead
    heard: float
    coordinator: str = field(default="", init=False)  # where ``jax.distributed`` meets, once all ranks have arrived
    is_waiting: bool = field(default=False, init=False)
    has_left: bool = field(default=False, init=False)
    vote: int = field(default=1, init=False)  # the smallest of all ranks at the last barrier
    notes: list[str] = field(default_factory=list[str], init=False)  # of all ranks at the last barrier, in rank order
    failure: JobFailure | None = field(default=None, init=False)
    notices: list[str] = field(default_factory=list[str], init=False)

    def enter(
        self, what: str, location: str, facts: Mapping[str, str], vote: int, timeout: float, note: str = ""
    ) -> Message:
        """Returns the message that enters a barrier."""
        self.is_waiting = True
        optional = {"note": note} if note else {}
        return {
            "kind": "enter",
            "what": what,
            "place": location,
            "facts": facts,
            "vote": vote,
            "timeout": timeout,
            **optional,
        }

    def receive(self, message: Message, now: float) -> None:
        """Handles a message from the hub."""
        self.heard = now
        kind = message["kind"]
        if kind == "go":
            self.is_waiting, self.vote, self.notes = False, message["vote"], message.get("notes", [])
        elif kind == "ready":
            self.coordinator = message["coordinator"]
        elif kind == "notice":
            self.notices.append(message["text"])
        elif kind == "stop":
            self._end(JobFailure(message["code"], message["text"], message["rank"]))

    def lost(self) -> None:
        """Records that the connection to rank 0 is gone."""
        if not self.has_left:
            self._end(JobFailure(code_of(UnavailableError), "rank 0 has died, or ended: its connection is closed", 0))

    def tick(self, now: float) -> None:
        """Checks the time; call it after all received messages were handled."""
        if now - self.heard > self.silence and not self.has_left:
            text = (
                f"rank 0 has given no sign of life for {now - self.heard:.3g} s: it is stopped, or its machine is gone"
            )
            self._end(JobFailure(code_of(UnavailableError), text, 0))

    def _end(self, failure: JobFailure) -> None:
        self.is_waiting = False
        self.failure = self.failure or failure
