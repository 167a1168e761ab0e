"""Plans of runs: the programs, the host ops, and their order.

Programs and host ops run as soon as their inputs are ready. A read of a Variable belongs to the program that uses it,
so that it sees assignments of other runs while this run waited for a queue.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from graphc.compiler.core import STRING
from graphc.compiler.ir import CONSTANT, EffectKind, GraphBuilder, Node, Value
from graphc.compiler.ops import ASSIGN_VARIABLE, READ_VARIABLE
from graphc.compiler.runtime import HOST, Cluster, Clustering, Plan, Step, Transfer
from graphc.graphs.session.graphs.graph import Graph
from graphc.graphs.session.plans.shape_changing import has_host_ops
from graphc.graphs.session.plans.steps import HostStep, StateSegment
from graphc.graphs.session.state import SessionState

# Clusters of a run's nodes with their order: each becomes one step of a plan.
#
# A read of a Variable belongs to the cluster that uses it, so that it sees assignments of other runs while this run
# waited for a queue.


def runs_on_host(node: Node) -> bool:
    """Returns True for a node that runs in Python, computes strings, or has such a part in a loop or branch."""
    return has_host_ops(node) or any(value.type.dtype == STRING for value in node.outputs)


def variable_of(node: Node) -> str | None:
    """Returns the resource of the Variable that a node reads or assigns, on a device or on the host."""
    if node.op is READ_VARIABLE or node.op is ASSIGN_VARIABLE or node.op.host:
        return node.attrs.get("variable")
    return None


def assigns(node: Node) -> bool:
    """Returns True for a node that changes its Variable."""
    return any(effect.kind is EffectKind.WRITE for effect in node.op.effects(node.attrs))


class Rules(ABC):
    """The rules that decide which nodes may share a cluster."""

    @abstractmethod
    def place(self, node: Node) -> str | None:
        """Returns where a node runs; None for a node that does no work and only stands for its control inputs."""

    @abstractmethod
    def alone(self, node: Node) -> bool:
        """Returns True for a node that is a cluster of its own."""

    def chain(self, node: Node) -> int:
        """Returns the number of a node's chain; a cluster has nodes of one chain."""
        del node
        return 0

    @abstractmethod
    def takes(self, place: str, read: Node) -> bool:
        """Returns True if clusters at a place may read a Variable themselves."""


class Clusters:
    """The nodes of a run in clusters.

    Attributes:
      of: the cluster of each node; constants, and reads that move to their users, have none.
      before: for each cluster, the clusters that it must come after.
      floating: the reads that move to their users, and the clusters that use them.
    """

    def __init__(
        self, nodes: Sequence[Node], fed: Sequence[Value], fetched: Sequence[Value], rules: Rules, fixed: set[Node]
    ) -> None:
        self.of: dict[Node, Cluster] = {}
        self.before: dict[Cluster, set[Cluster]] = {}
        self.floating: dict[Node, set[Cluster]] = {}
        self._nodes, self._fed, self._fetched, self._rules = nodes, set(fed), fetched, rules
        self._assigned: dict[str, Cluster] = {}
        self._touched: dict[str, set[Cluster]] = {}
        self._late: dict[Node, set[Cluster]] = {}
        clustering = Clustering()
        for node in nodes:
            if node.op is CONSTANT:
                continue
            if node.op is READ_VARIABLE and node not in fixed:
                self.floating[node] = set()
                self._late[node] = self._sources(node)
                continue
            self._add(node, clustering)
        self.order: Sequence[Cluster] = clustering.clusters

    def _add(self, node: Node, clustering: Clustering) -> None:
        sources = self._sources(node)
        device = self._rules.place(node)
        if device is None:
            self._late[node] = sources
            return
        alone, chain = self._rules.alone(node), self._rules.chain(node)
        cluster = self.of[node] = clustering.add(node, device, sources, alone=alone, chain=chain)
        self.before.setdefault(cluster, set()).update(sources - {cluster})
        for value in node.inputs:
            if value.node in self.floating and value not in self._fed:
                self.floating[value.node].add(cluster)
        variable = variable_of(node)
        if variable is not None:
            self._touched.setdefault(variable, set()).add(cluster)
            if assigns(node):
                self._assigned[variable] = cluster

    def _sources(self, node: Node) -> set[Cluster]:
        """Returns the clusters that a node takes values from, or comes after."""
        clusters: set[Cluster] = set()
        makers = [value.node for value in node.inputs if value not in self._fed and value.node is not None]
        for maker in (*makers, *node.control_inputs):
            clusters |= self._late.get(maker, set())
            if maker in self.of:
                clusters.add(self.of[maker])
        variable = variable_of(node)
        if variable is not None and variable in self._assigned:
            clusters.add(self._assigned[variable])
        if variable is not None and assigns(node):
            clusters |= self._touched.get(variable, set())
        return clusters

    def misplaced(self) -> set[Node]:
        """Returns the reads that must not move to their users, because a later assignment would come first."""
        reads: set[Node] = set()
        fetched = {value.node for value in self._fetched}
        awaited = {control for node in self._nodes for control in node.control_inputs}
        later: dict[str, set[Cluster]] = {}
        for node in reversed(self._nodes):
            if variable_of(node) is not None and assigns(node):
                later.setdefault(node.attrs["variable"], set()).add(self.of[node])
            elif node in self.floating:
                clusters = self.floating[node]
                assigned = later.get(node.attrs["variable"], set())
                elsewhere = not all(self._rules.takes(cluster.device, node) for cluster in clusters)
                alone = len(clusters | assigned) <= 1
                if node in fetched or node in awaited or elsewhere or (assigned and not alone):
                    reads.add(node)
        return reads


def clustered(nodes: Sequence[Node], fed: Sequence[Value], fetched: Sequence[Value], rules: Rules) -> Clusters:
    """Groups the nodes of a run into clusters; reads stay in place only where necessary."""
    fixed: set[Node] = set()
    while True:
        clusters = Clusters(nodes, fed, fetched, rules, fixed)
        misplaced = clusters.misplaced()
        if not misplaced:
            return clusters
        fixed |= misplaced


def make_plan(
    graph: Graph, nodes: Sequence[Node], fed: Sequence[Value], fetched: Sequence[Value], placement: Mapping[Node, str],
    default: str, state: SessionState, note_compiled: Callable[..., None],
) -> Plan:  # fmt: skip
    """Makes the plan of a kind of run, whose nodes are in the order of the graph; some of them have a device."""
    clusters = clustered(nodes, fed, fetched, _OnDevices(placement, default))
    return _Assembly(graph, nodes, fed, fetched, default, clusters, state, note_compiled).plan()


class _OnDevices(Rules):
    """The rule that clusters are programs of one device, or host ops."""

    def __init__(self, placement: Mapping[Node, str], default: str) -> None:
        self._placement, self._default = placement, default

    def place(self, node: Node) -> str:
        return HOST if runs_on_host(node) else self._placement.get(node, self._default)

    def alone(self, node: Node) -> bool:
        return runs_on_host(node)

    def takes(self, place: str, read: Node) -> bool:
        return place != HOST


class _Assembly:
    """Builds the steps of a run, and numbers the slots."""

    def __init__(
        self, graph: Graph, nodes: Sequence[Node], fed: Sequence[Value], fetched: Sequence[Value], default: str,
        clusters: Clusters, state: SessionState, note_compiled: Callable[..., None],
    ) -> None:  # fmt: skip
        self._graph, self._fed, self._fetched, self._default = graph, fed, fetched, default
        self._clusters, self._state, self._note_compiled = clusters, state, note_compiled
        self._steps: list[Step] = []
        self._constants: dict[int, Any] = {}
        self._slots: dict[tuple[Value, str], int] = {}
        self._home: dict[Value, str] = {}
        self._done: dict[Cluster, int] = {}
        self._count = 0
        self._order = {node: index for index, node in enumerate(nodes)}
        # The values that are needed outside of the cluster that computes them.
        self._wanted = set(fetched)
        for node in nodes:
            here = clusters.of.get(node)
            self._wanted.update(value for value in node.inputs if here is not clusters.of.get(value.node or node))

    def plan(self) -> Plan:
        for value in self._fed:
            self._new_slot(value)
        for cluster in self._clusters.order:
            self._add(cluster)
        outputs = [self._slot(value) for value in self._fetched]
        return Plan(
            "session.run", tuple(self._steps), len(self._fed), self._count, tuple(outputs),
            tuple(self._constants.items()),
        )  # fmt: skip

    def _number(self) -> int:
        self._count += 1
        return self._count - 1

    def _new_slot(self, value: Value, device: str = "") -> int:
        slot = self._slots[value, device] = self._number()
        return slot

    def _slot(self, value: Value, device: str = "") -> int:
        """Returns the slot of a value where it was computed, or on a device, to which it is moved if necessary."""
        slot = self._slots.get((value, ""))
        if slot is None:
            assert value.node is not None
            slot = self._new_slot(value)
            self._constants[slot] = value.node.attrs["value"].array
        home = self._home.get(value, "")
        if not device or not home or home in (device, HOST):
            return slot
        moved = self._slots.get((value, device))
        if moved is None:
            moved = self._new_slot(value, device)
            name = value.node.name if value.node is not None else value.name
            self._steps.append(Transfer(name, device, (slot,), (moved,)))
        return moved

    def _add(self, cluster: Cluster) -> None:
        after = [self._done[other] for other in self._clusters.before.get(cluster, ())]
        if cluster.device == HOST:
            step = self._host_step(cluster.nodes[0], after)
        else:
            step = self._segment(cluster, after)
        self._done[cluster] = step.outputs[-1]
        self._steps.append(step)

    def _host_step(self, node: Node, after: Sequence[int]) -> Step:
        inputs = [self._slot(value) for value in node.inputs]
        fed = set(self._fed)  # whose values those who take them are given
        outputs = [
            *[self._number() if value in fed else self._new_slot(value) for value in node.outputs],
            self._number(),
        ]
        self._home.update(dict.fromkeys([value for value in node.outputs if value not in fed], HOST))
        operation = self._graph.operation_of(node)
        return HostStep(
            node.name, HOST, (*inputs, *after), tuple(outputs), operation=operation, state=self._state,
            count=len(inputs),
        )  # fmt: skip

    def _segment(self, cluster: Cluster, after: Sequence[int]) -> Step:
        reads = [node for node, users in self._clusters.floating.items() if cluster in users]
        nodes = sorted([*cluster.nodes, *reads], key=self._order.__getitem__)
        first, last = cluster.nodes[0].name, cluster.nodes[-1].name
        builder = GraphBuilder(first if first == last else f"{first}__{last}")
        inside, taken = dict[Value, Value](), list[Value]()
        copies: dict[Node, Node] = {}
        fed = set(self._fed)

        def copy(node: Node) -> None:
            new = copies[node] = builder.append(
                node.op, [use(value) for value in node.inputs], node.attrs,
                types=[output.type for output in node.outputs], regions=node.regions,
                control_inputs=[copies[control] for control in node.control_inputs if control in copies],
                device=node.device, name=node.name, location=node.location,
            )  # fmt: skip
            inside.update((old, out) for old, out in zip(node.outputs, new.outputs, strict=True) if old not in fed)

        def use(value: Value) -> Value:
            if value not in inside:
                if value not in fed and value.node is not None and value.node.op is CONSTANT:
                    copy(value.node)
                else:
                    inside[value] = builder.input(value.type, value.node.name if value.node else value.name)
                    taken.append(value)
            return inside[value]

        for node in nodes:
            copy(node)
        produced = [
            value for node in cluster.nodes for value in node.outputs if value in self._wanted and value not in fed
        ]
        inputs = [self._slot(value, cluster.device) for value in taken]
        self._home.update(dict.fromkeys(produced, cluster.device))
        outputs = [*map(self._new_slot, produced), self._number()]
        graph = builder.build([inside[value] for value in produced])
        pinned = cluster.device != self._default or any(node.device for node in cluster.nodes)
        return StateSegment(
            graph.name, cluster.device, (*inputs, *after), tuple(outputs), graph=graph, state=self._state,
            pinned=pinned, note_compiled=self._note_compiled,
        )  # fmt: skip
