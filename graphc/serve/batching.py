"""Batcher: decides which rows are answered together, when, and by which replica.

It is a state machine without threads and clocks: its driver passes the time. So it is tested on a simulated clock, and
:mod:`graphc.serve.replicas` drives it from threads.
"""

from __future__ import annotations

import concurrent.futures
import itertools
import math
from collections import deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from graphc.compiler.base import CancellationToken, Location
from graphc.compiler.runtime import Future
from graphc.serve.copies import Array, BatchProgram, HostArguments

_STRIKES = 2
"""Number of successive failures, of batches that others could answer, after which a replica is left out."""


@dataclass(frozen=True)
class RequestRows:
    """Rows of one request that are answered together."""

    request: int
    start: int
    stop: int

    @property
    def rows(self) -> int:
        """The number of rows."""
        return self.stop - self.start


@dataclass(eq=False)
class Suspicion:
    """A failed batch whose pieces are tried again one by one, to find whether the replica or the input was at fault."""

    replica: int
    left: int  # pieces that others have yet to answer; once they all have, the replica was at fault


@dataclass(frozen=True, eq=False)
class QueryBatch:
    """Pieces that a replica answers together."""

    replica: int
    key: Hashable
    pieces: tuple[RequestRows, ...]  # the oldest first
    suspicion: Suspicion | None = None  # of a piece that is tried alone because a batch with it failed

    @property
    def rows(self) -> int:
        """The number of rows."""
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
    """The waiting pieces of one key, oldest first, and their number of rows."""

    pieces: deque[RequestRows] = field(default_factory=deque[RequestRows])
    rows: int = 0

    def take(self, most: int) -> tuple[RequestRows, ...]:
        """Takes the oldest pieces, up to ``most`` rows."""
        taken: list[RequestRows] = []
        while self.pieces and self.pieces[0].rows <= most:
            taken.append(self.pieces.popleft())
            most -= taken[-1].rows
            self.rows -= taken[-1].rows
        return tuple(taken)


@dataclass
class ServingReplica:
    """The record of a replica."""

    batches: int = 0
    rows: int = 0
    failures: int = 0
    strikes: int = 0  # successive failed batches that other replicas could answer
    out: bool = False


class Batcher:
    """Forms batches of the waiting rows, and assigns them to free replicas.

    A batch is due when nothing runs, when there are ``max_batch`` rows, or when its oldest row has waited
    ``max_delay``. Only rows of one key are batched together. A request of more than ``max_batch`` rows is split into
    pieces; others stay whole. When a batch fails, each of its pieces is tried once more, alone and by another replica
    if there is one. If these answer all pieces, the replica is at fault; after two such failures in a row it is left
    out, unless it is the last.

    Args:
      max_delay: the time that a row waits for others while a replica is free and another one computes, in the unit of
        all times here.
    """

    def __init__(self, replicas: int, *, max_batch: int, max_delay: float, max_waiting: int) -> None:
        self.max_batch, self.max_delay, self.max_waiting = max_batch, max_delay, max_waiting
        self.replicas = [ServingReplica() for _ in range(replicas)]
        self.waiting = 0
        self._free = deque(range(replicas))  # the longest idle one comes first
        self._numbers = itertools.count()
        self._requests: dict[int, _Request] = {}
        self._queues: dict[Hashable, _Queue] = {}
        self._again: deque[tuple[RequestRows, Suspicion]] = deque()
        self._running: set[QueryBatch] = set()
        self._closed = False

    @property
    def is_idle(self) -> bool:
        """True if no request waits or runs."""
        return not (self._requests or self._running)

    @property
    def running(self) -> list[QueryBatch]:
        """The running batches."""
        return list(self._running)

    @property
    def has_retries(self) -> bool:
        """True if pieces of failed batches wait to be tried alone."""
        return bool(self._again)

    def has_room(self, rows: int) -> bool:
        """Returns True if ``rows`` more rows may wait."""
        return self.waiting + rows <= self.max_waiting

    def submit(self, now: float, key: Hashable, rows: int, deadline: float = math.inf) -> int:
        """Queues a request, if it :meth:`has_room`, and returns its number."""
        number = next(self._numbers)
        starts = range(0, rows, self.max_batch)
        self._requests[number] = _Request(key, now, deadline, len(starts))
        queue = self._queues.setdefault(key, _Queue())
        queue.pieces.extend(RequestRows(number, start, min(start + self.max_batch, rows)) for start in starts)
        queue.rows += rows
        self.waiting += rows
        return number

    def close(self) -> None:
        """Makes all waiting rows due: no more will come."""
        self._closed = True

    def next(self, now: float) -> QueryBatch | None:
        """Takes the batch that is due, for a free replica; None if there is no batch, or no free replica."""
        batch = self._next_again() or self._next_due(now)
        if batch is not None:
            self._free.remove(batch.replica)
            self._running.add(batch)
            self.waiting -= batch.rows
        return batch

    def wakes(self) -> float | None:
        """Returns the time when :meth:`next` may return more if nothing else happens; None for never."""
        if not self._free or not self._queues:
            return None
        return min(map(self._due, self._queues))

    def expires(self) -> float:
        """Returns the time of the next deadline of a request; infinity for none."""
        return min((request.deadline for request in self._requests.values()), default=math.inf)

    def expire(self, now: float) -> list[int]:
        """Drops the requests whose deadlines have passed, including running ones, and returns their numbers."""
        late = [number for number, request in self._requests.items() if request.deadline <= now]
        for number in late:
            self.drop(number)
        return late

    def drop(self, number: int) -> bool:
        """Drops a request; returns True if it was not answered yet."""
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

    def answered(self, batch: QueryBatch) -> list[int]:
        """Records that a batch was answered, and returns the requests that are now complete."""
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

    def failed(self, batch: QueryBatch) -> list[int]:
        """Records that a batch failed, and returns the requests that fail with it; others are tried again."""
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
        return [index for index, replica in enumerate(self.replicas) if replica.out]

    def _next_again(self) -> QueryBatch | None:
        """Returns a piece to try alone, by another replica than the failed one, if there is another."""
        for index, (piece, suspicion) in enumerate(self._again):
            others = self._others(suspicion.replica)
            replica = next((free for free in self._free if not others or free in others), None)
            if replica is not None:
                del self._again[index]
                return QueryBatch(replica, self._requests[piece.request].key, (piece,), suspicion)
        return None

    def _next_due(self, now: float) -> QueryBatch | None:
        """Returns the due batch whose oldest piece has waited longest."""
        due = [key for key in self._queues if self._due(key) <= now]
        if not due or not self._free:
            return None
        key = min(due, key=self._submitted)
        pieces = self._queues[key].take(self.max_batch)
        if not self._queues[key].pieces:
            del self._queues[key]
        return QueryBatch(self._free[0], key, pieces)

    def _due(self, key: Hashable) -> float:
        # Rows wait for company only while somebody else's are computed: the next ones may come when these are answered.
        at_once = self._closed or not self._running or self._queues[key].rows >= self.max_batch
        return -math.inf if at_once else self._submitted(key) + self.max_delay

    def _submitted(self, key: Hashable) -> float:
        """Returns when the oldest waiting request was submitted."""
        return self._requests[self._queues[key].pieces[0].request].submitted

    def _ended(self, batch: QueryBatch) -> ServingReplica:
        """Frees the replica of a batch, unless it is left out."""
        self._running.remove(batch)
        replica = self.replicas[batch.replica]
        if not replica.out:
            self._free.append(batch.replica)
        return replica

    def _others(self, replica: int) -> list[int]:
        """Returns the replicas that are not left out, except one."""
        return [index for index, other in enumerate(self.replicas) if index != replica and not other.out]

    def _cleared(self, batch: QueryBatch, suspicion: Suspicion) -> None:
        """Records that a piece was answered alone; if others answer the whole batch, its replica is at fault."""
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


# Answer: the future of a request to replicas, and the state of the request until it is answered.


class Answer(Future[Any]):
    """The result of a request to :class:`Replicas`; ``await`` it, or call ``result``."""

    def __init__(self, name: str, rows: int, location: Location | None) -> None:
        super().__init__(name, CancellationToken(), location)
        self.drop: Callable[[], bool] = lambda: False
        self._rows = rows

    def describe(self) -> str:
        """Describes the request in words, for messages."""
        origin = "" if self._place is None else f", submitted at {self._place.short}"
        return f"a request of {self._rows} {'row' if self._rows == 1 else 'rows'} to {self.name!r}{origin}"

    @property
    def place(self) -> Location | None:
        """The line that submitted the request."""
        return self._place

    def cancel(self) -> bool:
        """Cancels the request; returns True if it had no result yet."""
        if self.drop():
            concurrent.futures.Future.cancel(self)
            self.set_running_or_notify_cancel()  # notifies waiters
        return self.cancelled()


@dataclass(eq=False)
class Request:
    """A request that is not answered yet."""

    answer: Answer
    rows: HostArguments
    submitted: float
    parts: dict[int, tuple[BatchProgram, list[Array]]] = field(
        default_factory=dict[int, "tuple[BatchProgram, list[Array]]"]
    )

    def result(self) -> Any:
        """Returns the results of all pieces, joined."""
        pieces = [self.parts[start] for start in sorted(self.parts)]
        program = pieces[0][0]
        columns = zip(*[arrays for _, arrays in pieces], strict=True)
        return program.result([column[0] if len(column) == 1 else np.concatenate(column) for column in columns])
