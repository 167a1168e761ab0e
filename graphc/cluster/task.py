"""Task: one member of a cluster. It keeps resources, hosts services, and handles calls."""

from __future__ import annotations

import importlib
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from graphc.cluster.spec import ClusterSpec, task_name
from graphc.compiler.base import CancellationToken, Registry, Signal, config, deadline
from graphc.compiler.base.errors import (
    CancelledError,
    GraphcError,
    InvalidArgumentError,
    NotFoundError,
    UnavailableError,
)
from graphc.compiler.core import Resources, resources_scope, trace_scope
from graphc.compiler.devices import device_name, devices
from graphc.graphs.queues import Lines

SERVICES = Registry[Callable[["Task"], Any]]("service")
"""Registry of functions that make a task's service at its first call; other modules fill it with :func:`hosts`."""


def hosts(name: str) -> Callable[[Callable[[Task], Any]], Callable[[Task], Any]]:
    """Registers a factory for a service of every task: a class or function that takes the task."""
    return lambda make: SERVICES.add(name, make)


_EARLY = 1000
"""Maximum number of cancellations to remember for calls that have not arrived."""


@dataclass(frozen=True)
class ServiceCall:
    """A call of a service's method."""

    service: str
    method: str
    arguments: Sequence[Any] = ()
    id: str = ""
    timeout: float | None = None  # seconds within which it must be done; None for no limit


class Task:
    """One task of a cluster: a process with its services.

    All callers share its Variables, queues and readers, by container and name. Each call runs in the thread that brings
    it, and many run at once.

    Example:
      >>> task = Task(ClusterSpec({"ps": ["127.0.0.1:2221"]}), "ps", 0)
      >>> task.host("sums", {1: [1.0]})
      >>> task.handle(ServiceCall("sums", "get", (1,)))
      [1.0]
    """

    def __init__(self, cluster: ClusterSpec, job: str, index: int) -> None:
        self.name = task_name(job, index)
        self.address = cluster.task_address(job, index)
        self.cluster = cluster
        self.resources = Resources()
        self._services: dict[str, Any] = {"task": _OfTask(self)}
        self._making = threading.RLock()
        self._running: dict[str, CancellationToken] = {}
        self._early = deque[str]()
        self._token = CancellationToken()
        self._going = Signal()
        self._going.set()

    @property
    def where(self) -> str:
        """Its name and its address, for messages."""
        return f"{self.name} at {self.address}"

    @property
    def stopped(self) -> bool:
        """True if it was stopped."""
        return self._token.cancelled

    def host(self, name: str, service: Any) -> None:
        """Adds a service; callers reach its public methods under the name. Replaces an existing one."""
        self._services[name] = service

    def service(self, name: str) -> Any:
        """Returns a service; makes it at its first use if it is registered."""
        existing = self._services.get(name)
        if existing is not None:
            return existing
        with self._making:
            if name not in self._services:
                if name not in SERVICES:
                    raise NotFoundError(f"{self.where} has no service {name!r}; it has {sorted(self._services)}")
                self._services[name] = SERVICES[name](self)
            return self._services[name]

    def handle(self, call: ServiceCall) -> Any:
        """Runs a call, in the thread that brings it."""
        token = self._token_of(call.id) if call.id else CancellationToken(self._token)
        try:
            with deadline(call.timeout), token, trace_scope(None), resources_scope(self.resources):
                if not self._going.wait(f"{self.where}, which is stalled", config.heartbeat_timeout):
                    raise UnavailableError(f"{self.where} has not answered for {config.heartbeat_timeout:g} s")
                return self._method(call)(*call.arguments)
        except CancelledError as error:
            if self.stopped:
                raise UnavailableError(f"{self.where} was stopped: {self._token.reason}") from error
            raise
        finally:
            self._running.pop(call.id, None)
            token.close()

    def _method(self, call: ServiceCall) -> Callable[..., Any]:
        if self.stopped:
            raise UnavailableError(f"{self.where} was stopped: {self._token.reason}")
        service = self.service(call.service)
        method = None if call.method.startswith("_") else getattr(service, call.method, None)
        if not callable(method):
            raise NotFoundError(f"the service {call.service!r} of {self.where} has no method {call.method!r}")
        return method

    def cancel(self, id: str, reason: str) -> None:
        """Cancels a call, even one that has not arrived; a finished call is left alone."""
        if id not in self._running:
            self._early.append(id)
            if len(self._early) > _EARLY:
                self._running.pop(self._early.popleft(), None)
        self._token_of(id).cancel(reason)

    def _token_of(self, id: str) -> CancellationToken:
        return self._running.setdefault(id, CancellationToken(self._token))

    def give_up(self, containers: Sequence[str]) -> None:
        """Drops the resources in containers, in all of them if none are named; waits at queues there fail."""
        dropped = self.resources.reset(containers) if containers else self.resources.clear()
        for resource in dropped:
            if isinstance(resource, Lines):
                resource.give_up(f"the containers of {self.where} were reset")

    def stall(self) -> None:
        """Makes calls wait, like a suspended process; for tests of callers."""
        self._going = Signal()

    def resume(self) -> None:
        """Ends :meth:`stall`."""
        self._going.set()

    def stop(self, reason: str) -> None:
        """Stops the task: running calls are cancelled, resources are dropped, and later calls fail."""
        self._token.cancel(reason)
        self._going.set()
        for service in [*self._services.values()]:
            getattr(service, "_stop", lambda: None)()
        self.resources.clear()


class _OfTask:
    """The service that every task has from the start."""

    def __init__(self, task: Task) -> None:
        self._task = task

    def ping(self) -> str:
        return self._task.name

    def host(self, name: str, make: str) -> None:
        """Adds a service that the caller's code makes, in the task's process.

        Args:
          make: the function that makes the service for a task, as ``module:name``.
        """
        module, _, maker = make.partition(":")
        self._task.host(name, getattr(importlib.import_module(module), maker)(self._task))

    def describe(self) -> dict[str, Any]:
        names = [device_name(device) for device in devices()]
        return {"name": self._task.name, "cluster": self._task.cluster.as_dict(), "devices": names}

    def reset(self, containers: Sequence[str]) -> None:
        self._task.give_up(containers)


def checked_task(cluster: ClusterSpec, job: str | None, index: int | None) -> tuple[str, int]:
    """Returns the job and index of a task; omitted ones default to the only one."""
    try:
        if job is None:
            (job,) = cluster.jobs
        if index is None:
            (index,) = cluster.task_indices(job)
    except ValueError as error:
        if isinstance(error, GraphcError):
            raise
        have = {job: cluster.task_indices(job) for job in cluster.jobs}
        raise InvalidArgumentError(
            f"name the task of this server with job_name and task_index; the cluster has {have}"
        ) from None
    cluster.task_address(job, index)
    return job, index
