"""The carrier inside one process: a task is an object, and callers run its code in their own threads."""

from __future__ import annotations

import contextvars
import itertools
import threading
from typing import Any, ClassVar

from graphc.cluster.carriers.carrier import Carrier, Peer, Pending
from graphc.cluster.spec import ClusterSpec
from graphc.cluster.task import Call, Task
from graphc.compiler.base import Signal
from graphc.compiler.base.errors import AlreadyExistsError

__all__ = ["ThreadPeer", "Threads"]

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
        return _Running(self.task, Call(service, method, arguments, f"call_{next(_numbers)}"))

    def call(self, service: str, method: str, *arguments: Any) -> Any:
        """Calls a service's method in this thread."""
        return self.task.handle(Call(service, method, arguments))

    def stop(self, reason: str) -> None:
        """Ends the task."""
        self._forget(self)
        self.task.stop(reason)


class _Running(Pending):
    """A call in its own thread."""

    def __init__(self, task: Task, call: Call) -> None:
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
        """Waits for the answer."""
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
        """Starts a task in this process.

        Raises:
          AlreadyExistsError: the address is in use.
        """
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
