"""Server: a started task of a cluster."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphc.cluster.carriers import CARRIERS, Peer, address_of, ray_in_use
from graphc.cluster.spec import ClusterDef, ClusterSpec
from graphc.cluster.task import checked_task
from graphc.compiler.base import Signal, at, user_location
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError

__all__ = ["Server", "ServerDef"]

_ports = itertools.count(1)
_LOOK_SECONDS = 1.0
"""Seconds after which :meth:`Server.join` notices the end of a process at the latest."""


@dataclass(frozen=True)
class ServerDef:
    """A server as plain data, with the field names of TensorFlow's protocol buffer."""

    cluster: ClusterDef
    job_name: str | None = None
    task_index: int | None = None
    protocol: str = "grpc"


class Server:
    """Starts one task of a cluster: it keeps Variables and queues, and runs its part of graphs.

    Sessions and all other tasks of the cluster reach it by its :attr:`target`. It runs until :meth:`stop` is called or
    the process ends.

    Args:
      server_or_cluster_def: the cluster, as a :class:`gx.ClusterSpec` or an argument for one; or the :attr:`server_def`
        of another server.
      job_name: the job of the task; optional if there is only one job.
      task_index: its index; optional if the job has one task.
      protocol: the carrier: ``"threads"`` for a task in this process, ``"ray"`` for one in a process of its own; None
        or ``"grpc"`` for Ray where ``RAY_ADDRESS`` is set or Ray is started in this process, else threads.
      config: accepted for TensorFlow's sake; a task uses the settings of its process.
      start: whether to start it now; otherwise call :meth:`start`.

    Raises:
      InvalidArgumentError: the cluster has no such task, or the protocol does not exist.
      AlreadyExistsError: a task is running at the address.

    Example:
      >>> import graphc as gx
      >>> cluster = gx.ClusterSpec({"ps": ["127.0.0.1:2221"], "worker": ["127.0.0.1:2222"]})
      >>> servers = [gx.Server(cluster, job_name=job, task_index=0) for job in cluster.jobs]
      >>> servers[0].target
      'grpc://127.0.0.1:2221'
      >>> for server in servers:
      ...     server.stop()
    """

    def __init__(
        self,
        server_or_cluster_def: ServerDef | ClusterSpec | ClusterDef | Mapping[str, Sequence[str] | Mapping[int, str]],
        job_name: str | None = None, task_index: int | None = None, protocol: str | None = None, config: Any = None,
        start: bool = True,
    ) -> None:  # fmt: skip
        del config
        given = server_or_cluster_def
        if isinstance(given, ServerDef):
            job_name = given.job_name if job_name is None else job_name
            task_index = given.task_index if task_index is None else task_index
            protocol = protocol or given.protocol
            given = given.cluster
        self._cluster = ClusterSpec(given)
        try:
            self._job, self._index = checked_task(self._cluster, job_name, task_index)
            self._protocol = _checked_protocol(protocol)
        except GraphcError as error:
            raise at(type(error)(f"gx.Server: {error.message}"), user_location()) from None
        self._peer: Peer | None = None
        self._ended = Signal()
        if start:
            self.start()

    @staticmethod
    def create_local_server(config: Any = None, start: bool = True) -> Server:
        """Makes a server for a cluster of its own: one task, ``/job:local/task:0``, in this process."""
        return Server(ClusterSpec({"local": [f"localhost:local{next(_ports)}"]}), None, None, "threads", config, start)

    @property
    def server_def(self) -> ServerDef:
        """The server as plain data; pass it to make another one of the same cluster."""
        return ServerDef(self._cluster.as_cluster_def(), self._job, self._index, self._protocol)

    @property
    def target(self) -> str:
        """The target that :class:`gx.Session` takes to reach this task."""
        return f"grpc://{self._cluster.task_address(self._job, self._index)}"

    def start(self) -> None:
        """Starts the task; a second call does nothing.

        Raises:
          AlreadyExistsError: a task is running at the address.
        """
        if self._peer is None:
            try:
                self._peer = CARRIERS[self._protocol].start(self._cluster, self._job, self._index)
            except GraphcError as error:
                raise at(error, user_location()) from None

    def join(self) -> None:
        """Waits until the task is gone: another thread stops the server, or the task's process ends."""
        while not self._ended.wait(lambda: f"the server {self.target} to stop", _LOOK_SECONDS):
            if self._peer is not None and self._peer.lost:
                return

    def stop(self) -> None:
        """Stops the task: runs that use it fail, and its resources are gone. A second call does nothing."""
        if self._peer is not None:
            self._peer.stop("its server was stopped")
        self._ended.set()

    def __repr__(self) -> str:
        return f"<gx.Server {address_of(self.target)} /job:{self._job}/task:{self._index}, {self._protocol}>"


def _checked_protocol(protocol: str | None) -> str:
    if protocol in (None, "grpc"):
        return default_protocol()
    if protocol not in CARRIERS:
        raise InvalidArgumentError(f"there is no protocol {protocol!r}; there are {', '.join(map(repr, CARRIERS))}")
    return str(protocol)


def default_protocol() -> str:
    """Returns the default carrier of servers."""
    return "ray" if ray_in_use() else "threads"
