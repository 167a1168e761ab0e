"""Schedule: assigns steps to workers over time. It has neither threads nor clocks: the time is an argument."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from graphc.cluster.parameters.shard import Push, PushEntry
from graphc.cluster.parameters.staleness import Policy

_NEW = 0.1
"""Weight of the latest step in the moving average of a step's time."""


@dataclass
class AssignedStep:
    """A step to compute, by one worker or, if that dies, by another one.

    Attributes:
      number: the step's number. It identifies the step's pushes, so that they count once whichever worker computes it.
    """

    number: int
    what: Any
    attempts: int = 0
    began: float = 0.0


@dataclass
class Worker:
    """The record of a worker."""

    work: AssignedStep | None = None
    alive: bool = True
    round: int = -1  # the version at which it began its last step; -1 if that step does not count for this version
    steps: int = 0
    seconds: float = 0.0


@dataclass
class StepSchedule:
    """Assigns steps to free workers.

    For synchronous updates, each worker computes one gradient of a version, and the first gradients make the next
    version; if too few workers are left, some compute another one. Without spare workers, no more gradients of a
    version are begun than count, so none is late.

    Args:
      round: the number of gradients in an update; None where each is applied as it arrives.
      attempts: the number of workers that may die during a step before the step is blamed.
      accepted: the number of gradients of this version that have arrived.
    """

    workers: Mapping[str, Worker]
    versions: list[int]
    round: int | None = None
    policy: Policy = field(default_factory=Policy)
    attempts: int = 3
    accepted: int = 0
    submitted: int = 0

    def __post_init__(self) -> None:
        self._queue: deque[AssignedStep] = deque()

    @classmethod
    def of(
        cls, workers: Sequence[str], servers: int, round: int | None = None, policy: Policy | None = None
    ) -> StepSchedule:
        """Makes a schedule for workers that are all free."""
        return cls({name: Worker() for name in workers}, [0] * servers, round, policy or Policy())

    @property
    def version(self) -> int:
        """The version that every server has reached."""
        return min(self.versions)

    @property
    def running(self) -> int:
        """The number of steps that are being computed."""
        return sum(worker.work is not None for worker in self.workers.values())

    @property
    def idle(self) -> bool:
        """True if no step waits or is being computed."""
        return not self._queue and not self.running

    @property
    def alive(self) -> list[str]:
        """The workers that are assigned work."""
        return [name for name, worker in self.workers.items() if worker.alive]

    def submit(self, what: Any) -> AssignedStep:
        """Adds a step."""
        work = AssignedStep(self.submitted, what)
        self.submitted += 1
        self._queue.append(work)
        return work

    def clear(self) -> list[AssignedStep]:
        """Removes the steps that no worker has begun, and returns them."""
        steps = list(self._queue)
        self._queue.clear()
        return steps

    def next(self, name: str, now: float) -> AssignedStep | None:
        """Returns the next step for a worker; None if the worker must wait."""
        worker = self.workers[name]
        if not self._queue or not worker.alive or worker.work is not None or not self._may_begin(worker):
            return None
        worker.work = work = self._queue.popleft()
        work.attempts += 1
        work.began, worker.round = now, self.version
        return work

    def _may_begin(self, worker: Worker) -> bool:
        if self.round is None:
            most = self.policy.workers(self.version)
            return most is None or self.running < most
        others = self.workers.values()
        begun = self.accepted + sum(other.work is not None and other.round == self.version for other in others)
        if worker.round < self.version:
            return begun < max(self.round, len(self.workers))
        return begun + sum(other.alive and other.round < self.version for other in others) < self.round

    def done(self, name: str, entries: Sequence[PushEntry], now: float) -> None:
        """Records that a worker has computed its step."""
        worker = self.workers[name]
        if worker.work is not None:
            worker.steps += 1
            took = now - worker.work.began
            # The first step compiles, so its time does not predict the next ones.
            worker.seconds = took if worker.steps <= 2 else (1 - _NEW) * worker.seconds + _NEW * took
            worker.work = None
        before = self.version
        for server, entry in enumerate(entries):
            self.versions[server] = max(self.versions[server], entry.version)
        counts = all(entry.fate in ("waiting", "applied") for entry in entries)
        versions = [entry.version - (entry.fate == "applied") for entry in entries]
        counted = min(versions, default=-1) if counts else -1
        if self.version > before:
            self.accepted = 0
        elif worker.round == self.version and counted == self.version:
            self.accepted += 1
        else:  # the answer may also come after those of the next version, or answer a repeat
            worker.round = -1

    def failed(self, name: str, *, alive: bool = False) -> AssignedStep | None:
        """Records that a worker could not compute its step, which is assigned to another one.

        Args:
          alive: whether the failure was not the worker's fault.

        Returns:
          The step, if too many workers have tried it: it is not assigned again.
        """
        worker = self.workers[name]
        worker.alive, work, worker.work = alive, worker.work, None
        if work is None:
            return None
        if alive:
            work.attempts -= 1
        elif work.attempts >= self.attempts:
            return work
        worker.round = -1
        self._queue.appendleft(work)
        return None

    def revive(self, name: str) -> None:
        """Records that a worker is back."""
        self.workers[name].alive = True

    def started(self, versions: Sequence[int]) -> None:
        """Records the initial versions of servers, before any worker has pulled."""
        self.versions = list(versions)
        for worker in self.workers.values():
            worker.round = self.version if worker.work is not None else -1

    def restarted(self, server: int, version: int, *, lost: bool = True) -> None:
        """Records that a server was restarted.

        Args:
          lost: whether gradients that waited there may be lost.
        """
        before, self.versions[server] = self.version, version
        if lost or self.version != before:
            self.accepted = 0
        if lost:
            for worker in self.workers.values():
                worker.round = -1

    def flushed(self, versions: Sequence[int]) -> None:
        """Records that rounds were ended with the gradients at hand."""
        self.versions = list(versions)
        self.accepted = 0


# The worker's side of the protocol with the servers, as a generator: it yields requests and receives the replies.

_TRIES = 2


@dataclass(frozen=True)
class ServerCall:
    """A call of a server's method."""

    server: int
    method: str
    arguments: tuple[Any, ...]


@dataclass(frozen=True)
class Lost:
    """The missing reply to a request."""

    error: Exception


class Unanswered(Exception):
    """Servers do not answer."""

    def __init__(self, servers: Sequence[int], error: Exception) -> None:
        super().__init__(str(error))
        self.servers, self.error = list(servers), error


Exchange: TypeAlias = Generator[list[ServerCall], list[Any], Any]
"""Yields requests to make at once, and receives a reply or :class:`Lost` for each."""


def answered(requests: Sequence[ServerCall], tries: int = _TRIES) -> Exchange:
    """Makes requests until all are answered; each may be repeated several times.

    Raises:
      Unanswered: some requests are still unanswered after the last try.
    """
    replies: dict[int, Any] = {}
    for _ in range(tries):
        left = [index for index in range(len(requests)) if index not in replies or isinstance(replies[index], Lost)]
        answers = yield [requests[index] for index in left]
        replies.update(zip(left, answers, strict=True))
        if not any(isinstance(reply, Lost) for reply in replies.values()):
            return [replies[index] for index in range(len(requests))]
    lost = {requests[index].server: reply.error for index, reply in replies.items() if isinstance(reply, Lost)}
    raise Unanswered(list(lost), next(iter(lost.values())))


def step(buffers: Sequence[Sequence[int]], compute: Callable[[Sequence[Any]], tuple[Any, Sequence[Push]]]) -> Exchange:
    """Pulls, computes, and pushes.

    Args:
      compute: a function from each server's version and values to results and, for each server, a push or None.

    Raises:
      Unanswered: servers do not answer. Those that did answer have applied the push, or will not.
    """
    pulled = yield from answered([ServerCall(server, "pull", (some,)) for server, some in enumerate(buffers)])
    results, pushes = compute(pulled)
    entries: list[PushEntry] = []
    if pushes:
        entries = yield from answered([ServerCall(server, "push", (push,)) for server, push in enumerate(pushes)])
    return results, entries
