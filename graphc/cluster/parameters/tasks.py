"""The tasks of a training: tasks that it starts itself, or those of an existing cluster."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from graphc.cluster.carriers import CARRIERS, Peer, find
from graphc.cluster.parameters.service import SERVICE
from graphc.cluster.parameters.worker import WORKER
from graphc.cluster.spec import ClusterSpec
from graphc.compiler.base import Signal, deadline
from graphc.compiler.base.errors import NotFoundError, OutOfRangeError
from graphc.graphs.refusals import refusal, user_error

JOBS = ("ps", "worker")

_SERVICES = {
    "ps": (SERVICE, "graphc.cluster.parameters.service:service"),
    "worker": (WORKER, "graphc.cluster.parameters.worker:service"),
}

_numbers = itertools.count()


class TrainingTasks:
    """Servers and workers, each reached by its job and index."""

    def __init__(self, cluster: Any, counts: tuple[int, int], protocol: str) -> None:
        self._starts = cluster is None
        self._protocol = protocol
        if cluster is None:
            if protocol not in CARRIERS:
                raise refusal(
                    "ParameterServer", f"there is no protocol {protocol!r}; there are {', '.join(map(repr, CARRIERS))}"
                )
            mark = f"parameters{next(_numbers)}"
            cluster = {
                job: [f"localhost:{mark}-{job}{index}" for index in range(count)]
                for job, count in zip(JOBS, counts, strict=True)
            }
        self.spec = ClusterSpec(cluster)
        if missing := [job for job in JOBS if job not in self.spec.jobs]:
            raise refusal(
                "ParameterServer", f"the cluster has no job {missing[0]!r}; it needs the jobs 'ps' and 'worker'"
            )
        self._peers: dict[tuple[str, int], Peer] = {}
        for job in JOBS:
            for index in self.spec.task_indices(job):
                self._peers[job, index] = self._begin(job, index)

    def addresses(self, job: str) -> Sequence[str]:
        """Returns the addresses of a job's tasks."""
        return [self.spec.task_address(job, index) for index in self.spec.task_indices(job)]

    def names(self, job: str) -> list[str]:
        """Returns the names of a job's tasks."""
        return [self._peers[job, index].name for index in self.spec.task_indices(job)]

    def peer(self, job: str, position: int) -> Peer:
        """Returns a task."""
        return self._peers[job, self.spec.task_indices(job)[position]]

    def again(self, job: str, position: int, seconds: float) -> Peer:
        """Returns a replacement for a task that does not answer: a new one, or the one that now runs at its address."""
        index = self.spec.task_indices(job)[position]
        if self._starts:
            self._peers[job, index].stop("it did not answer")
        self._peers[job, index] = peer = self._begin(job, index)
        with deadline(seconds):
            peer.call("task", "ping")
        return peer

    def stop(self) -> None:
        """Ends the tasks that were started here."""
        if self._starts:
            for peer in self._peers.values():
                peer.stop("the training has ended")

    def _begin(self, job: str, index: int) -> Peer:
        if self._starts:
            peer = CARRIERS[self._protocol].start(self.spec, job, index)
        else:
            try:
                peer = find(self.spec.task_address(job, index))
            except NotFoundError as error:
                raise user_error(f"ParameterServer: /job:{job}/task:{index}: {error.message}", NotFoundError) from None
        peer.call("task", "host", *_SERVICES[job])
        return peer


# The user's handles on a training: the result of a scheduled step, and the data of each worker.


class Scheduled:
    """A step that was scheduled (TensorFlow: ``RemoteValue``); made by :meth:`ParameterServer.schedule`."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._done = Signal()
        self._value: Any = None
        self._error: BaseException | None = None

    def finish(self, value: Any, error: BaseException | None = None) -> None:
        """Sets the step's result or error."""
        self._value, self._error = value, error
        self._done.set()

    def done(self) -> bool:
        """Returns True if the step is done or has failed."""
        return self._done.is_set

    def result(self) -> Any:
        """Waits for the step's result.

        Raises:
          DeadlineExceededError: the deadline in force has passed.
          Exception: the step's error, or the reason why it could not be computed.
        """
        self._done.wait(lambda: f"the step {self._name!r}")
        if self._error is not None:
            raise self._error
        return self._value

    fetch = result

    def __repr__(self) -> str:
        state = "done" if self.done() else "not done"
        return f"<step {self._name!r}, {state}>"


class PerWorker:
    """Data with a separate part for each worker; made by :meth:`ParameterServer.dataset`.

    Args:
      make: a function from the index of a worker and the number of workers to its data.
      count: the number of workers.
    """

    def __init__(self, make: Callable[[int, int], Iterable[Any]], count: int) -> None:
        self._make, self._count = make, count
        self._iterators: dict[int, Iterator[Any]] = {}
        self._locks = [threading.Lock() for _ in range(count)]

    def next(self, worker: int) -> Any:
        """Returns the next batch of a worker; after the last one, its data start again.

        Args:
          worker: the worker's index.

        Raises:
          OutOfRangeError: the worker has no data.
        """
        with self._locks[worker]:
            for _ in range(2):
                if worker not in self._iterators:
                    self._iterators[worker] = iter(self._make(worker, self._count))
                try:
                    return next(self._iterators[worker])
                except StopIteration:
                    del self._iterators[worker]
        raise OutOfRangeError(f"ParameterServer: the data of worker {worker} are empty")

    def __iter__(self) -> PerWorker:
        return self
