"""replica_device_setter: puts Variables on parameter servers, and the rest on a worker."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from graphc.cluster.spec import ClusterSpec
from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import NodeToPlace
from graphc.compiler.ir import DeviceSpec

__all__ = ["replica_device_setter"]

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
    strategy: Any = _InTurns(ps_tasks) if ps_strategy is None else ps_strategy
    if not callable(strategy):
        problem = f"replica_device_setter: ps_strategy must be callable, got {strategy!r:.60}"
        raise at(InvalidTypeError(problem), user_location())
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


class _InTurns:
    """Round-robin assignment to tasks."""

    def __init__(self, tasks: int) -> None:
        self._tasks, self._next = tasks, 0

    def __call__(self, node: Any) -> int:
        del node
        task, self._next = self._next, (self._next + 1) % self._tasks
        return task
