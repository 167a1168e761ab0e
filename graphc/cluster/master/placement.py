"""Assignment of a graph's nodes to the tasks of a cluster.

Rules, in this order: an op on a Variable, queue or reader runs where that is kept. An op that is pinned to a job or a
task runs there, on the job's first task if only the job is named. An op made under ``colocate_with`` runs with the
other op, and a gradient runs with its op. Any other op runs on the master, the task that the Session connects to.

A Variable, queue or reader is kept where the op that made it is pinned. If that op is not pinned, the cluster's first
task by name keeps it, so that Sessions at all tasks find the same one; the master keeps local Variables. Each task
chooses the device itself; see :mod:`graphc.compiler.runtime.placer`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from graphc.cluster.spec import ClusterSpec, task_name
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ir import CONSTANT, DeviceSpec, Node
from graphc.compiler.lowering import forward_key
from graphc.compiler.ops import VJP
from graphc.graphs.session import Graph, GraphKeys, is_outside, is_random_state


class TaskPlacer:
    """Assigns the nodes of a graph to tasks."""

    def __init__(self, cluster: ClusterSpec, master: str, graph: Graph) -> None:
        self._cluster, self._master, self._graph = cluster, master, graph
        job = cluster.jobs[0]
        self._first = task_name(job, cluster.task_indices(job)[0])
        self._makers: dict[str, Node] = {}
        self._scanned = 0

    def place(self, nodes: Sequence[Node]) -> Mapping[Node, str]:
        """Returns the name of each node's task; constants go wherever they are used."""
        self._find_makers()
        forward = {(node.op.name, node.attrs, node.regions, *node.inputs): node for node in nodes}
        tasks: dict[Node, str] = {}
        return {node: self._task(node, forward, tasks) for node in nodes if node.op is not CONSTANT}

    def _task(self, node: Node, forward: Mapping[Any, Node], placement: dict[Node, str]) -> str:
        task = placement.get(node)
        if task is None:
            task = self._home(node) or self._pinned(node)
            if task is None:
                other = self._graph.trace.colocated.get(node)
                if other is None and node.op is VJP:
                    other = forward.get(forward_key(node))
                task = self._master if other is None or other is node else self._task(other, forward, placement)
            placement[node] = task
        return task

    def _find_makers(self) -> None:
        """Records which of the newly added nodes made the state that others work on."""
        nodes = self._graph.trace.builder.nodes
        for node in nodes[self._scanned :]:
            resources = list(_state_of(node))
            maker = next((self._makers[name] for name in resources if name in self._makers), node)
            for name in resources:
                self._makers.setdefault(name, maker)
        self._scanned = len(nodes)

    def _home(self, node: Node) -> str | None:
        """Returns the task that keeps the state that a node works on; None if there is none."""
        homes: dict[str, str] = {}
        for name in _state_of(node):
            if is_outside(name):
                raise _refused(
                    node, "a Variable of eager code is in this process alone; make it inside `with graph.as_default():`"
                )
            local = {getattr(item, "resource", "") for item in self._graph.get_collection(GraphKeys.LOCAL_VARIABLES)}
            homes[self._pinned(self._makers[name]) or (self._master if name in local else self._first)] = name
        if len(homes) > 1:
            (one, first), (other, second) = list(homes.items())[:2]
            raise _refused(
                node,
                f"it works on {first!r}, which {one} keeps, and on {second!r}, which {other} keeps; pin both there",
            )
        return next(iter(homes), None)

    def _pinned(self, node: Node) -> str | None:
        """Returns the task that a node, or everything in its bodies, is pinned to; None if it is not pinned."""
        if not node.regions:
            return self._of_pin(node, node.device)
        inside = {self._of_pin(inner, inner.device) for region in node.regions for inner in region.walk()}
        pins = sorted({task for task in (*inside, self._of_pin(node, node.device)) if task is not None})
        if len(pins) > 1:
            raise _refused(
                node, f"its loop or branch is pinned to {' and '.join(pins)}; pin the whole of it to one task"
            )
        return next(iter(pins), None)

    def _of_pin(self, node: Node, device: str) -> str | None:
        spec = DeviceSpec.parse(device)
        if spec.job is None and spec.task is None and not spec.replica:
            return None
        cluster, job = self._cluster, spec.job or self._master.split("/")[1].removeprefix("job:")
        if job in cluster.jobs and not spec.replica:
            indices = cluster.task_indices(job)
            index = indices[0] if spec.task is None else spec.task
            if index in indices:
                return task_name(job, index)
        tasks = [task_name(job, index) for job in cluster.jobs for index in cluster.task_indices(job)]
        raise _refused(
            node, f"Could not satisfy explicit device specification {device!r}: the cluster has {', '.join(tasks)}"
        )


def _state_of(node: Node) -> Iterator[str]:
    """Yields the state that a node works on and tasks keep for all Sessions."""
    inner = [one for region in node.regions for one in region.walk()]
    for one in (node, *inner):
        attrs = one.attrs
        if "container" in attrs:
            yield from [effect.resource for effect in one.op.effects(attrs)]
        elif "variables" in attrs:
            yield from attrs["variables"]
        elif "variable" in attrs and not is_random_state(attrs["variable"]):
            yield attrs["variable"]


def _refused(node: Node, reason: str) -> InvalidArgumentError:
    name = node.attrs.get("variable", node.name)
    return InvalidArgumentError(f"Cannot assign a device to node {name!r}: {reason}").at(node.location)
