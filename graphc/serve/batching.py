"""Batcher: which rows are answered together, when, and by which replica.

A state machine without threads and clocks: who drives it says what time it is. So it is tested on a simulated clock,
and :mod:`graphc.serve.replicas` drives it from threads.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field

__all__ = ["Batch", "Batcher", "Piece", "Replica"]

_STRIKES = 2
"""After how many failures in a row, of batches that others could answer, a replica is left out."""


@dataclass(frozen=True)
class Piece:
    """Rows of one request that are answered together.

    Attributes:
      request: the request's number.
      start: the first of the rows.
      stop: the one behind the last.
    """

    request: int
    start: int
    stop: int

    @property
    def rows(self) -> int:
        """Returns how many rows they are."""
        return self.stop - self.start


@dataclass(eq=False)
class Suspicion:
    """A batch that failed, whose pieces are tried again one by one: was it the replica, or what it was given?

    Attributes:
      replica: the replica that failed.
      left: the number of pieces that others have yet to answer; once they all have, the replica was at fault.
    """

    replica: int
    left: int


@dataclass(frozen=True, eq=False)
class Batch:
    """Pieces that a replica answers together.

    Attributes:
      replica: the replica.
      key: the key that the pieces share.
      pieces: the oldest first.
      suspicion: marks a piece that is tried alone because a batch with it failed.
    """

    replica: int
    key: Hashable
    pieces: tuple[Piece, ...]
    suspicion: Suspicion | None = None

    @property
    def rows(self) -> int:
        """Returns how many rows they are."""
        return sum(piece.rows for piece in self.pieces)


@dataclass
class _Request:
    """A request that is not answered yet; ``left`` counts its remaining pieces."""

    key: Hashable
    submitted: float
    deadline: float
    left: int


@dataclass
class _Queue:
    """The pieces of one key that wait, the oldest first, and how many rows they are."""

    pieces: deque[Piece] = field(default_factory=deque[Piece])
    rows: int = 0

    def take(self, most: int) -> tuple[Piece, ...]:
        """Takes the oldest pieces off, of as many rows as asked for at most."""
        taken: list[Piece] = []
        while self.pieces and self.pieces[0].rows <= most:
            taken.append(self.pieces.popleft())
            most -= taken[-1].rows
            self.rows -= taken[-1].rows
        return tuple(taken)


@dataclass
class Replica:
    """The record of a replica.

    Attributes:
      batches: the number of batches that it answered.
      rows: the number of rows in them.
      failures: the number of batches that failed there.
      strikes: the number of successive failed batches that other replicas could answer.
      out: whether it is left out.
    """

    batches: int = 0
    rows: int = 0
    failures: int = 0
    strikes: int = 0
    out: bool = False


class Batcher:
    """Forms batches of the rows that wait, and gives them to replicas that are free.

    A batch is due when there are ``max_batch`` rows, or when its oldest has waited ``max_delay``. Rows of one key only
    are answered together. A request of more than ``max_batch`` rows is cut into pieces; others stay whole. When a batch
    fails, each of its pieces is tried once more, alone and by another replica where there is one. If these answer all
    of them, the replica is to blame; after two such failures in a row it is left out, unless it is the last.

    Args:
      replicas: the number of replicas.
      max_batch: the maximum number of rows in a batch.
      max_delay: the time that a row waits for others while a replica is free, in the unit of all times here.
      max_waiting: the maximum number of rows that wait.
    """

    def __init__(self, replicas: int, *, max_batch: int, max_delay: float, max_waiting: int) -> None:
        self.max_batch, self.max_delay, self.max_waiting = max_batch, max_delay, max_waiting
        self.replicas = [Replica() for _ in range(replicas)]
        self.waiting = 0
        self._free = deque(range(replicas))  # the one that has been idle longest comes first
        self._numbers = itertools.count()
        self._requests: dict[int, _Request] = {}
        self._queues: dict[Hashable, _Queue] = {}
        self._again: deque[tuple[Piece, Suspicion]] = deque()
        self._running: set[Batch] = set()
        self._closed = False

    @property
    def is_idle(self) -> bool:
        """True if nothing waits and nothing runs."""
        return not (self._requests or self._running)

    @property
    def running(self) -> list[Batch]:
        """Returns what the replicas are at."""
        return list(self._running)

    @property
    def has_retries(self) -> bool:
        """True if pieces of batches that failed wait to be tried alone."""
        return bool(self._again)

    def has_room(self, rows: int) -> bool:
        """Returns True if so many rows may wait, too."""
        return self.waiting + rows <= self.max_waiting

    def submit(self, now: float, key: Hashable, rows: int, deadline: float = math.inf) -> int:
        """Queues a request, for which there :meth:`has_room`, and returns its number."""
        number = next(self._numbers)
        starts = range(0, rows, self.max_batch)
        self._requests[number] = _Request(key, now, deadline, len(starts))
        queue = self._queues.setdefault(key, _Queue())
        queue.pieces.extend(Piece(number, start, min(start + self.max_batch, rows)) for start in starts)
        queue.rows += rows
        self.waiting += rows
        return number

    def close(self) -> None:
        """Makes all that waits due: nothing more will come."""
        self._closed = True

    def next(self, now: float) -> Batch | None:
        """Takes the batch that is due, for a replica that is free then; None if there is none, or no such replica."""
        batch = self._next_again() or self._next_due(now)
        if batch is not None:
            self._free.remove(batch.replica)
            self._running.add(batch)
            self.waiting -= batch.rows
        return batch

    def wakes(self) -> float | None:
        """Returns when :meth:`next` has more to give if nothing else happens; None for never."""
        if not self._free or not self._queues:
            return None
        return min(map(self._due, self._queues))

    def expires(self) -> float:
        """Returns when the next deadline of a request passes; infinity for never."""
        return min((request.deadline for request in self._requests.values()), default=math.inf)

    def expire(self, now: float) -> list[int]:
        """Drops the requests whose deadlines have passed, those in running batches too, and returns their numbers."""
        late = [number for number, request in self._requests.items() if request.deadline <= now]
        for number in late:
            self.drop(number)
        return late

    def drop(self, number: int) -> bool:
        """Forgets a request; whether it was still to be answered."""
        request = self._requests.pop(number, None)
        if request is None:
            return False
        if queue := self._queues.pop(request.key, None):
            pieces = deque(piece for piece in queue.pieces if piece.request != number)
            if pieces:
                self._queues[request.key] = _Queue(pieces, sum(piece.rows for piece in pieces))
        self._again = deque((piece, suspicion) for piece, suspicion in self._again if piece.request != number)
        self.waiting = sum(queue.rows for queue in self._queues.values())
        self.waiting += sum(piece.rows for piece, _ in self._again)
        return True

    def answered(self, batch: Batch) -> list[int]:
        """Notes that a batch was answered, and returns the requests that have all their rows now."""
        replica = self._ended(batch)
        replica.batches += 1
        replica.rows += batch.rows
        replica.strikes = 0
        if batch.suspicion is not None:
            self._cleared(batch, batch.suspicion)
        whole: list[int] = []
        for piece in batch.pieces:
            request = self._requests.get(piece.request)
            if request is not None:
                request.left -= 1
                if not request.left:
                    del self._requests[piece.request]
                    whole.append(piece.request)
        return whole

    def failed(self, batch: Batch) -> list[int]:
        """Notes that a batch failed, and returns the requests that fail with it; others are tried again."""
        replica = self._ended(batch)
        replica.failures += 1
        if batch.suspicion is not None or (len(batch.pieces) == 1 and not self._others(batch.replica)):
            return [piece.request for piece in batch.pieces if self.drop(piece.request)]
        pieces = [piece for piece in batch.pieces if piece.request in self._requests]
        suspicion = Suspicion(batch.replica, len(pieces))
        self._again.extend((piece, suspicion) for piece in pieces)
        self.waiting += sum(piece.rows for piece in pieces)
        return []

    @property
    def left_out(self) -> list[int]:
        """The replicas that are left out."""
        return [place for place, replica in enumerate(self.replicas) if replica.out]

    def _next_again(self) -> Batch | None:
        """Returns a piece that is tried alone, by another replica than the one that failed, if there is another."""
        for place, (piece, suspicion) in enumerate(self._again):
            others = self._others(suspicion.replica)
            replica = next((free for free in self._free if not others or free in others), None)
            if replica is not None:
                del self._again[place]
                return Batch(replica, self._requests[piece.request].key, (piece,), suspicion)
        return None

    def _next_due(self, now: float) -> Batch | None:
        """Returns the batch whose oldest piece has waited longest of those that are due."""
        due = [key for key in self._queues if self._due(key) <= now]
        if not due or not self._free:
            return None
        key = min(due, key=self._submitted)
        pieces = self._queues[key].take(self.max_batch)
        if not self._queues[key].pieces:
            del self._queues[key]
        return Batch(self._free[0], key, pieces)

    def _due(self, key: Hashable) -> float:
        full = self._closed or self._queues[key].rows >= self.max_batch
        return -math.inf if full else self._submitted(key) + self.max_delay

    def _submitted(self, key: Hashable) -> float:
        """Returns when the oldest waiting request was submitted."""
        return self._requests[self._queues[key].pieces[0].request].submitted

    def _ended(self, batch: Batch) -> Replica:
        """Frees the replica of a batch, unless it is left out."""
        self._running.remove(batch)
        replica = self.replicas[batch.replica]
        if not replica.out:
            self._free.append(batch.replica)
        return replica

    def _others(self, replica: int) -> list[int]:
        """Returns the replicas that are not left out, but for one."""
        return [place for place, other in enumerate(self.replicas) if place != replica and not other.out]

    def _cleared(self, batch: Batch, suspicion: Suspicion) -> None:
        """Notes that a piece was answered alone; if others answer all of a batch, the one that failed is to blame."""
        if batch.replica == suspicion.replica:
            return
        suspicion.left -= 1
        replica = self.replicas[suspicion.replica]
        if suspicion.left == 0 and not replica.out:
            replica.strikes += 1
            if replica.strikes >= _STRIKES and self._others(suspicion.replica):
                replica.out = True
                if suspicion.replica in self._free:
                    self._free.remove(suspicion.replica)
