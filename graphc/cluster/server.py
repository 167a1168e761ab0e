"""Server: a started task of a cluster."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from graphc.cluster.carriers import CARRIERS, Peer, address_of, ray_in_use
from graphc.cluster.spec import ClusterDef, ClusterSpec
from graphc.cluster.task import checked_task
from graphc.compiler.base import Signal
from graphc.compiler.base.errors import GraphcError, InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import NodeToPlace
from graphc.compiler.ir import DeviceSpec
from graphc.graphs.refusals import user_error

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
        definition = server_or_cluster_def
        if isinstance(definition, ServerDef):
            job_name = definition.job_name if job_name is None else job_name
            task_index = definition.task_index if task_index is None else task_index
            protocol = protocol or definition.protocol
            definition = definition.cluster
        self._cluster = ClusterSpec(definition)
        try:
            self._job, self._index = checked_task(self._cluster, job_name, task_index)
            self._protocol = _checked_protocol(protocol)
        except GraphcError as error:
            raise type(error)(f"gx.Server: {error.message}").here() from None
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
                raise error.here() from None

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


# replica_device_setter: puts Variables on parameter servers, and the rest on a worker.

_VARIABLE: Final = ("Variable", "VariableV2", "VarHandleOp")
"""TensorFlow's op names for making a Variable."""
_PS_OPS: Final = (*_VARIABLE, "ResourceConditionalAccumulator")


def replica_device_setter(
    ps_tasks: int = 0, ps_device: str = "/job:ps", worker_device: str = "/job:worker", merge_devices: bool = True,
    cluster: Any = None, ps_ops: Sequence[str] | None = None, ps_strategy: Callable[[Any], int] | None = None,
) -> Callable[[Any], DeviceSpec | None] | None:  # fmt: skip
    """Makes a function for :func:`gx.device` that puts Variables on parameter servers, and the rest on a worker.

    Device scopes merge: an inner scope wins, and the outer one decides what it leaves open. TensorFlow's
    ``tf.train.replica_device_setter``.

    Args:
      ps_tasks: the number of parameter servers; ignored if ``cluster`` is given.
      ps_device: their job; empty for none.
      worker_device: the device of all other ops; empty to leave it open.
      merge_devices: whether the setter completes devices of inner scopes.
      cluster: the cluster; the number of parameter servers is the number of tasks of its job ``ps_device``.
      ps_ops: TensorFlow's names of the ops to place on parameter servers; Variables and accumulators if None.
      ps_strategy: a function that chooses the parameter server: it takes the op to place (``name``, ``type``,
        ``attrs``) and returns the index of a task. Round-robin if None.

    Returns:
      The function; None, which lifts enclosing pins, if there are no parameter servers.

    Raises:
      InvalidTypeError: ``cluster`` is not a cluster, or the strategy is not a function.

    Example:
      >>> import graphc as gx
      >>> from graphc.cluster import replica_device_setter
      >>> with gx.Graph().as_default(), gx.device(replica_device_setter(ps_tasks=2)):
      ...     a, b, c = [gx.Variable(1.0, name=name) for name in "abc"]
      ...     with gx.device("/task:1"):
      ...         total = a + b
      >>> a.device, b.device, c.device, total.op.device
      ('/job:ps/task:0', '/job:ps/task:1', '/job:ps/task:0', '/job:worker/task:1')
    """
    servers, worker = DeviceSpec.parse(ps_device or ""), DeviceSpec.parse(worker_device or "")
    if cluster is not None:
        jobs = ClusterSpec(cluster)
        ps_tasks = jobs.num_tasks(servers.job) if servers.job in jobs.jobs else 0
    if ps_tasks == 0:
        return None
    turns = itertools.cycle(range(ps_tasks))

    def next_server(_: Any) -> int:
        return next(turns)

    strategy: Any = next_server if ps_strategy is None else ps_strategy
    if not callable(strategy):
        raise user_error(f"replica_device_setter: ps_strategy must be callable, got {strategy!r:.60}", InvalidTypeError)
    on_servers = frozenset(_PS_OPS if ps_ops is None else ps_ops)

    def choose(node: NodeToPlace) -> DeviceSpec | None:
        if not merge_devices and node.device:
            return None
        if not ps_device or on_servers.isdisjoint(_types(node)):
            return worker
        elsewhere = servers.job is None or DeviceSpec.parse(node.device).job not in (None, servers.job)
        return servers if elsewhere else servers.replace(task=strategy(node))

    return choose


def _types(node: NodeToPlace) -> tuple[str, ...]:
    """Returns TensorFlow's op names for what is being made."""
    if node.op == "variable":
        return _VARIABLE
    kind = str(node.attrs.get("kind", ""))
    return (node.type, kind, f"{kind}V2", f"Resource{kind}") if kind else (node.type,)
