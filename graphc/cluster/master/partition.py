"""Partitioning of a run's nodes into parts, each a graph that one task runs in one call.

Nodes of a task that wait for the same other parts form one part. Nodes that wait for a queue, or for another op that
may block, are separated from others that another task needs in the meantime.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from graphc.compiler.ir import CONSTANT, DeviceSpec, Graph, GraphBuilder, Node, Value
from graphc.compiler.ops import ASSIGN_VARIABLE, NO_OP, READ_VARIABLE
from graphc.compiler.runtime import Cluster
from graphc.graphs.session import Clusters, Rules, clustered


def copied(builder: GraphBuilder, node: Node, inputs: Sequence[Value], controls: Sequence[Node]) -> Node:
    """Appends a copy of a node to a graph that a task runs."""
    return builder.append(
        node.op, inputs, node.attrs, types=[output.type for output in node.outputs],
        regions=list(map(_region, node.regions)), control_inputs=controls, device=_device(node.device), name=node.name,
        location=node.location,
    )  # fmt: skip


def _device(pin: str) -> str:
    """Returns a pin without its task."""
    if not pin:
        return pin
    spec = DeviceSpec.parse(pin)
    return str(DeviceSpec(device_type=spec.device_type, device_index=spec.device_index))


def _region(graph: Graph) -> Graph:
    if all(node.device == _device(node.device) for node in graph.walk()):
        return graph
    builder = GraphBuilder(graph.name)
    values = {value: builder.input(value.type, value.name) for value in graph.inputs}
    copies: dict[Node, Node] = {}
    for node in graph.nodes:
        controls = [copies[control] for control in node.control_inputs]
        new = copies[node] = copied(builder, node, [values[value] for value in node.inputs], controls)
        values.update(zip(node.outputs, new.outputs, strict=True))
    return builder.build([values[value] for value in graph.outputs])


@dataclass(frozen=True, eq=False)
class TaskPart:
    """The part of a run that one task executes in one call."""

    task: str
    graph: Graph
    takes: Sequence[Value]  # the part's inputs: values that are fed or come from other parts
    gives: Sequence[Value]  # the part's outputs: values that other parts take or the run fetches, without duplicates
    same: Mapping[Value, Value]  # further reads of a Variable, each with the one of ``gives`` that it equals
    after: Sequence[TaskPart]  # the parts that must finish first, whether this one takes values from them or not
    nodes: Mapping[str, Node]


def partition(
    nodes: Sequence[Node], fed: Sequence[Value], fetched: Sequence[Value], tasks: Mapping[Node, str]
) -> Sequence[TaskPart]:
    """Cuts the nodes of a run into parts, each after those that it needs."""
    clusters = clustered(nodes, fed, fetched, _OnTasks(nodes, fetched, tasks))
    groups = _merged(_groups(clusters))
    of: dict[Node | None, _Group] = {node: group for group in groups for node in group.nodes}
    wanted = {*fetched}
    for group in groups:
        wanted.update(value for node in group.all_nodes for value in node.inputs if of.get(value.node) is not group)
    order = {node: position for position, node in enumerate(nodes)}
    same = _same_reads(groups, order, set(fed))
    parts: dict[_Group, TaskPart] = {}
    for group in groups:
        inside = sorted(group.all_nodes, key=order.__getitem__)
        after = [parts[other] for other in groups if other in group.before]
        parts[group] = _part(group, inside, set(fed), wanted, same, after)
    return list(parts.values())


def _same_reads(groups: Sequence[_Group], order: Mapping[Node, int], fed: set[Value]) -> dict[Value, Value]:
    """Maps the values of reads of a Variable to those of an equal read in the same group."""
    replaced: dict[Value, Value] = {}
    for group in groups:
        assigned = {node.attrs["variable"] for node in group.nodes if node.op is ASSIGN_VARIABLE}
        first: dict[str, Value] = {}
        for node in sorted(group.nodes, key=order.__getitem__):
            if node.op is READ_VARIABLE and not node.control_inputs and node.outputs[0] not in fed:
                earlier = first.setdefault(node.attrs["variable"], node.outputs[0])
                if earlier is not node.outputs[0] and node.attrs["variable"] not in assigned:
                    replaced[node.outputs[0]] = earlier
    return replaced


def may_block(node: Node) -> bool:
    """Returns True for a host op that may wait for others, such as those of queues."""
    inner = (one for region in node.regions for one in region.walk())
    return any(one.op.host and one.op.effects(one.attrs) and "variable" not in one.attrs for one in (node, *inner))


class _OnTasks(Rules):
    """The rule that a cluster holds nodes of one task that wait for the same blocking ops."""

    def __init__(self, nodes: Sequence[Node], fetched: Sequence[Value], tasks: Mapping[Node, str]) -> None:
        self._tasks = tasks
        used = {value for node in nodes for value in node.inputs} | set(fetched)
        self._idle = {node for node in nodes if node.op is NO_OP and not used.intersection(node.outputs)}
        waits: dict[Node, frozenset[Node]] = {}
        self._chains: dict[Node, int] = {}
        numbers: dict[frozenset[Node], int] = {}
        for node in nodes:
            makers = [value.node for value in node.inputs if value.node is not None]
            waited = frozenset[Node]().union(
                *[waits.get(maker, frozenset()) for maker in (*makers, *node.control_inputs)]
            )
            waits[node] = waited | {node} if may_block(node) else waited
            self._chains[node] = numbers.setdefault(waits[node], len(numbers))

    def place(self, node: Node) -> str | None:
        return None if node in self._idle else self._tasks[node]

    def alone(self, node: Node) -> bool:
        return False

    def chain(self, node: Node) -> int:
        return self._chains[node]

    def takes(self, place: str, read: Node) -> bool:
        return place == self._tasks[read]


@dataclass(eq=False)
class _Group:
    """Clusters of one task that become one part."""

    task: str
    nodes: set[Node]  # the part's nodes, without reads that move to where they are used
    reads: set[Node]
    before: set[_Group] = field(default_factory=set["_Group"])
    blocks: bool = False

    @property
    def all_nodes(self) -> Iterable[Node]:
        return self.nodes | self.reads


def _groups(clusters: Clusters) -> list[_Group]:
    """Returns a group for each cluster, in an order in which each comes after those that it needs."""
    groups: dict[Cluster, _Group] = {}
    for cluster in clusters.order:
        reads = {node for node, users in clusters.floating.items() if cluster in users}
        group = groups[cluster] = _Group(cluster.device, set(cluster.nodes), reads)
        group.blocks = any(map(may_block, cluster.nodes))
        group.before = {groups[other] for other in clusters.before[cluster]}
    return list(groups.values())


def _merged(groups: list[_Group]) -> list[_Group]:
    """Merges groups of one task if this delays no result."""
    while True:
        pair = _pair(groups)
        if pair is None:
            return groups
        first, second = pair
        first.nodes |= second.nodes
        first.reads |= second.reads
        first.blocks = first.blocks or second.blocks
        first.before = (first.before | second.before) - {first, second}
        groups = [group for group in groups if group is not second]
        for group in groups:
            if second in group.before:
                group.before = (group.before - {second}) | {first}


def _pair(groups: Sequence[_Group]) -> tuple[_Group, _Group] | None:
    """Returns two groups that can be merged, the earlier one first; None if there are none."""
    needs: dict[_Group, set[_Group]] = {}
    users: dict[_Group, set[_Group]] = {group: set() for group in groups}
    for group in groups:
        needs[group] = group.before.union(*[needs[other] for other in group.before])
        for other in group.before:
            users[other].add(group)
    for index, first in enumerate(groups):
        for second in groups[index + 1 :]:
            if first.task != second.task or needs[second] - {first} != needs[first]:
                continue
            if first in needs[second]:
                joins = users[first] == {second}
            else:
                mergeable = [group for group in (first, second) if not users[group] and not group.blocks]
                joins = bool(mergeable) or not (users[first] or users[second])
            if joins:
                return first, second
    return None


def _part(
    group: _Group, inside: Sequence[Node], fed: set[Value], wanted: set[Value], same: Mapping[Value, Value],
    after: Sequence[TaskPart],
) -> TaskPart:  # fmt: skip
    builder = GraphBuilder(inside[0].name if len(inside) == 1 else f"{inside[0].name}__{inside[-1].name}")
    values: dict[Value, Value] = {}
    copies: dict[Node, Node] = {}
    takes: list[Value] = []

    def copy(node: Node) -> None:
        new = copies[node] = copied(
            builder, node, [use(value) for value in node.inputs],
            [copies[control] for control in node.control_inputs if control in copies],
        )  # fmt: skip
        values.update((old, out) for old, out in zip(node.outputs, new.outputs, strict=True) if old not in fed)

    def use(value: Value) -> Value:
        value = same.get(value, value)
        if value not in values:
            if value not in fed and value.node is not None and value.node.op is CONSTANT:
                copy(value.node)
            else:
                values[value] = builder.input(value.type, value.node.name if value.node else value.name)
                takes.append(value)
        return values[value]

    for node in inside:
        if not same.keys() & {*node.outputs}:
            copy(node)
    results = [value for node in inside if node in group.nodes for value in node.outputs]
    results = [value for value in results if value in wanted and value not in fed]
    aliases = {value: same[value] for value in results if value in same}
    gives = list(dict.fromkeys(same.get(value, value) for value in results))
    graph = builder.build([values[value] for value in gives])
    return TaskPart(group.task, graph, takes, gives, aliases, after, {node.name: node for node in inside})
