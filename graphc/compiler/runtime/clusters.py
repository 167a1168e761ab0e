"""Clusters: groups of nodes of a placed graph that become a single step.

The nodes of a cluster run on one device and wait for the same other clusters, so that none of them waits unnecessarily,
and no two clusters wait for each other. Nodes of different chains stay separate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphc.compiler.ir import Node

__all__ = ["Cluster", "Clustering"]


@dataclass(eq=False)
class Cluster:
    """A group of nodes that becomes one step.

    Attributes:
      number: the cluster's number, in order of creation.
      device: the device that it runs on.
      nodes: the nodes, in program order.
      needs: the clusters that must run before it, directly or indirectly, as one bit for each number.
    """

    number: int
    device: str
    nodes: list[Node]
    needs: int

    @property
    def bit(self) -> int:
        """The cluster's number as a bit."""
        return 1 << self.number


class Clustering:
    """Assigns nodes to clusters, one after the other."""

    def __init__(self) -> None:
        self._found: list[Cluster] = []
        self._open: dict[tuple[str, int, int], Cluster] = {}  # by device, needs and chain

    def add(self, node: Node, device: str, sources: Iterable[Cluster], *, alone: bool, chain: int = 0) -> Cluster:
        """Adds a node to the cluster that it fits, or to a new one.

        Args:
          node: the next node of the program.
          device: the device that it runs on.
          sources: the clusters of its data and control predecessors.
          alone: whether it gets a separate cluster, which no other node joins.
          chain: the number of its chain.
        """
        sources = set(sources)
        needs = 0
        for source in sources:
            needs |= source.bit | source.needs
        cluster = None if alone else self._fitting(device, sources, needs, chain)
        if cluster is None:
            cluster = Cluster(len(self._found), device, [], needs)
            self._found.append(cluster)
            if not alone:
                self._open[device, needs, chain] = cluster
        cluster.nodes.append(node)
        return cluster

    def _fitting(self, device: str, sources: set[Cluster], needs: int, chain: int) -> Cluster | None:
        """Returns the device's cluster that waits for the same clusters as the node, besides itself."""
        for source in sources:
            if source.needs == needs & ~source.bit and self._open.get((device, source.needs, chain)) is source:
                return source
        return self._open.get((device, needs, chain))

    @property
    def clusters(self) -> Sequence[Cluster]:
        """The clusters in order of creation, in which each follows all that it needs."""
        return self._found
