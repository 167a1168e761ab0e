"""The tasks of a cluster, as a client sees them: found by address when they are needed."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from graphc.cluster.carriers import Peer, find, only_here
from graphc.cluster.spec import ClusterSpec, task_name
from graphc.compiler.base.errors import NotFoundError, UnavailableError
from graphc.compiler.ir import DeviceSpec

__all__ = ["Tasks"]


class Tasks:
    """The tasks of the cluster that a given task belongs to.

    Args:
      target: the address of one of them, the master.
      filters: pins that select further tasks, such as ``/job:ps``; all tasks if there are none.

    Attributes:
      master: the name of that one.
      cluster: the cluster, as far as it is used.
      names: the names of all tasks that are used, sorted.

    Raises:
      NotFoundError: there is no task at the address.
      InvalidArgumentError: a filter is no pin.
    """

    def __init__(self, target: str, filters: Sequence[str] = ()) -> None:
        peer = find(target)
        self.master = peer.name
        wanted = [*map(DeviceSpec.parse, (*filters, self.master))] if filters else [DeviceSpec()]
        self.cluster = _of_some(ClusterSpec(peer.call("task", "describe")["cluster"]), wanted)
        self._addresses = {
            task_name(job, index): self.cluster.task_address(job, index)
            for job in self.cluster.jobs
            for index in self.cluster.task_indices(job)
        }
        self.names = tuple(self._addresses)
        self._peers: dict[str, Peer] = {peer.name: peer}
        self._lock = threading.Lock()

    def peer(self, name: str) -> Peer:
        """Returns a task.

        Raises:
          UnavailableError: the task is not running.
        """
        with self._lock:
            found = self._peers.get(name)
            if found is None:
                address = self._addresses[name]
                try:
                    found = self._peers[name] = find(address)
                except NotFoundError:
                    raise UnavailableError(
                        f"{name} at {address} does not run: start the gx.Server of that task{only_here()}"
                    ) from None
            return found

    def call(self, name: str, service: str, method: str, *arguments: Any) -> Any:
        """Calls a method of a task's service, and waits for the answer.

        Raises:
          UnavailableError: the task does not run, or does not answer; the next call looks for it again.
        """
        peer = self.peer(name)
        try:
            return peer.call(service, method, *arguments)
        except UnavailableError:
            with self._lock:
                if self._peers.get(name) is peer:
                    del self._peers[name]
            raise


def _of_some(cluster: ClusterSpec, wanted: Sequence[DeviceSpec]) -> ClusterSpec:
    """Returns a cluster with the tasks that match any of the specs."""
    tasks = {
        job: {
            index: cluster.task_address(job, index)
            for index in cluster.task_indices(job)
            if any(spec.job in (None, job) and spec.task in (None, index) for spec in wanted)
        }
        for job in cluster.jobs
    }
    return ClusterSpec({job: found for job, found in tasks.items() if found})
