"""Clusters of a run's nodes with their order: each becomes one step of a plan.

A read of a Variable belongs to the cluster that uses it, so that it sees assignments of other runs while this run
waited for a queue.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from graphc.compiler.core import STRING
from graphc.compiler.ir import CONSTANT, EffectKind, Node, Value
from graphc.compiler.ops import ASSIGN_VARIABLE, READ_VARIABLE
from graphc.compiler.runtime import Cluster, Clustering
from graphc.graphs.session.plans.shape_changing import has_host_ops

__all__ = ["Clusters", "Rules", "clustered", "runs_on_host"]


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
      order: the clusters, each after all that it needs.
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
        place = self._rules.place(node)
        if place is None:
            self._late[node] = sources
            return
        alone, chain = self._rules.alone(node), self._rules.chain(node)
        cluster = self.of[node] = clustering.add(node, place, sources, alone=alone, chain=chain)
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
        found: set[Cluster] = set()
        makers = [value.node for value in node.inputs if value not in self._fed and value.node is not None]
        for maker in (*makers, *node.control_inputs):
            found |= self._late.get(maker, set())
            if maker in self.of:
                found.add(self.of[maker])
        variable = variable_of(node)
        if variable is not None and variable in self._assigned:
            found.add(self._assigned[variable])
        if variable is not None and assigns(node):
            found |= self._touched.get(variable, set())
        return found

    def misplaced(self) -> set[Node]:
        """Returns the reads that must not move to their users, because a later assignment would come first."""
        found: set[Node] = set()
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
                    found.add(node)
        return found


def clustered(nodes: Sequence[Node], fed: Sequence[Value], fetched: Sequence[Value], rules: Rules) -> Clusters:
    """Groups the nodes of a run into clusters; reads stay in place only where necessary."""
    fixed: set[Node] = set()
    while True:
        clusters = Clusters(nodes, fed, fetched, rules, fixed)
        misplaced = clusters.misplaced()
        if not misplaced:
            return clusters
        fixed |= misplaced
