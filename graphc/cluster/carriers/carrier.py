"""Carriers: they bring calls to tasks, and represent tasks to their callers."""

from __future__ import annotations

import contextvars
import itertools
import threading
import time
from abc import ABC, abstractmethod
from typing import Any, ClassVar

from graphc.cluster.spec import ClusterSpec
from graphc.cluster.task import ServiceCall, Task
from graphc.compiler.base import Registry, Signal, config, interruption, pause
from graphc.compiler.base.errors import AlreadyExistsError, NotFoundError

_LOOK_SECONDS = 0.1
"""Seconds between two searches for a missing task."""


class Pending(ABC):
    """A call whose answer has not been taken yet."""

    @abstractmethod
    def result(self) -> Any:
        """Waits for the answer, within the deadline in force; cancelling a token in force cancels the call."""


class Peer(ABC):
    """A task, as seen by its callers."""

    name: str
    address: str

    @property
    @abstractmethod
    def lost(self) -> bool:
        """True if the task has ended."""

    @abstractmethod
    def start(self, service: str, method: str, *arguments: Any) -> Pending:
        """Begins a call of a service's method. The deadlines and tokens in force also apply to the call.

        Args:
          *arguments: nested structures of NumPy or JAX arrays, numbers, strings and bytes, which must not change any
            more. Between processes, JAX arrays arrive as NumPy arrays; so do those of the answer.
        """

    def call(self, service: str, method: str, *arguments: Any) -> Any:
        """Calls a service's method and waits for the answer; see :meth:`start` and :meth:`Pending.result`."""
        return self.start(service, method, *arguments).result()

    @abstractmethod
    def stop(self, reason: str) -> None:
        """Ends the task."""


class Carrier(ABC):
    """Starts tasks, finds them by address, and brings them calls."""

    name: ClassVar[str]

    @property
    def patient(self) -> bool:
        """True if a missing task may still appear, in another process."""
        return False

    @abstractmethod
    def start(self, cluster: ClusterSpec, job: str, index: int) -> Peer:
        """Starts a task."""

    @abstractmethod
    def find(self, address: str) -> Peer | None:
        """Returns the task at an address; None if this carrier has none there."""


CARRIERS = Registry[Carrier]("carrier")
"""The carriers, in the order of the search for an address."""


def address_of(target: str) -> str:
    """Returns the address in a target: without TensorFlow's prefix ``grpc://``."""
    return target.partition("://")[2] or target


def find(target: str) -> Peer:
    """Returns the task at an address.

    Tasks in several processes start in any order, so it waits for one that does not exist yet: until the deadline in
    force, or without one, for ``gx.config.heartbeat_timeout`` seconds.
    """
    address = address_of(target)
    current = interruption()
    left = None if current is None else current.remaining()
    until = time.monotonic() + (config.heartbeat_timeout if left is None else left)
    while True:
        carriers = [*CARRIERS.values()]
        for carrier in carriers:
            peer = carrier.find(address)
            if peer is not None:
                return peer
        if time.monotonic() > until or not any(carrier.patient for carrier in carriers):
            break
        pause(_LOOK_SECONDS, f"a task at {address}")
    raise NotFoundError(
        f"there is no task at {address!r}: start a gx.Server with that address in this process, or start the cluster "
        f"with `graphc cluster up` and set RAY_ADDRESS{only_here()}"
    )


def only_here() -> str:
    """Returns a hint for messages about a missing task: that tasks of other processes are not searched."""
    if any(carrier.patient for carrier in CARRIERS.values()):
        return ""
    return (
        ". RAY_ADDRESS is not set and Ray is not in use, so gx.Server makes tasks of its own process only (protocol "
        "'threads'), which other processes do not see: for tasks in several processes start them with `graphc cluster "
        "up` and run each program with RAY_ADDRESS as that prints it, or have one process start them all by "
        "gx.Server(..., protocol='ray')"
    )


# The carrier inside one process: a task is an object, and callers run its code in their own threads.

_numbers = itertools.count()


class ThreadPeer(Peer):
    """A task of this process."""

    def __init__(self, task: Task, forget: Any) -> None:
        self.name, self.address, self.task = task.name, task.address, task
        self._forget = forget

    @property
    def lost(self) -> bool:
        """True if the task was stopped."""
        return self.task.stopped

    def start(self, service: str, method: str, *arguments: Any) -> Pending:
        """Begins a call, in a new thread."""
        return _Running(self.task, ServiceCall(service, method, arguments, f"call_{next(_numbers)}"))

    def call(self, service: str, method: str, *arguments: Any) -> Any:
        """Calls a service's method in this thread."""
        return self.task.handle(ServiceCall(service, method, arguments))

    def stop(self, reason: str) -> None:
        """Ends the task."""
        self._forget(self)
        self.task.stop(reason)


class _Running(Pending):
    def __init__(self, task: Task, call: ServiceCall) -> None:
        self._task, self._call = task, call
        self._done = Signal()
        self._answer: Any = None
        self._error: BaseException | None = None
        context = contextvars.copy_context()
        threading.Thread(target=context.run, args=(self._run,), name=f"graphc {task.name}", daemon=True).start()

    def _run(self) -> None:
        try:
            self._answer = self._task.handle(self._call)
        except BaseException as error:
            self._error = error
        self._done.set()

    def result(self) -> Any:
        try:
            self._done.wait(lambda: f"{self._call.service}.{self._call.method} at {self._task.where}")
        except BaseException:
            self._task.cancel(self._call.id, "the caller no longer waits")
            raise
        if self._error is not None:
            raise self._error
        return self._answer


class Threads(Carrier):
    """The tasks of this process, by address."""

    name: ClassVar[str] = "threads"

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._peers: dict[str, ThreadPeer] = {}

    def start(self, cluster: ClusterSpec, job: str, index: int) -> ThreadPeer:
        """Starts a task in this process."""
        peer = ThreadPeer(Task(cluster, job, index), self._forget)
        with self._lock:
            other = self._peers.setdefault(peer.address, peer)
        if other is not peer:
            raise AlreadyExistsError(
                f"{other.name} is running at {peer.address} already; stop() its gx.Server first, or give "
                f"{peer.name} another address"
            )
        return peer

    def find(self, address: str) -> ThreadPeer | None:
        """Returns the task of this process at an address."""
        return self._peers.get(address)

    def _forget(self, peer: ThreadPeer) -> None:
        with self._lock:
            if self._peers.get(peer.address) is peer:
                del self._peers[peer.address]
