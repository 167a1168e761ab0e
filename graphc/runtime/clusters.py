"""Clusters: which nodes of a placed graph become one step together.

The nodes of a cluster run on one device and wait for the same other clusters, so none of them waits for something that
it does not need, and no two clusters wait for each other. Nodes of different chains are kept apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from graphc.ir import Node

__all__ = ["Cluster", "Clustering"]


@dataclass(eq=False)
class Cluster:
    """Nodes that become one step.

    Attributes:
      number: in the order in which they were begun.
      device: where it runs.
      nodes: what it does, in the order of the program.
      needs: the clusters that must run before it, directly or not: a bit for each number.
    """

    number: int
    device: str
    nodes: list[Node]
    needs: int

    @property
    def bit(self) -> int:
        """Its number as a bit."""
        return 1 << self.number


class Clustering:
    """Puts node after node into clusters."""

    def __init__(self) -> None:
        self._found: list[Cluster] = []
        self._open: dict[tuple[str, int, int], Cluster] = {}  # by device, needs and chain

    def add(self, node: Node, device: str, sources: Iterable[Cluster], *, alone: bool, chain: int = 0) -> Cluster:
        """Puts a node into the cluster that it belongs to, a new one if there is none.

        Args:
          node: the next node of the program.
          device: where it runs.
          sources: the clusters that it takes values from, or comes after.
          alone: whether it gets a cluster of its own, which no other node joins.
          chain: the number of the chain that it belongs to.
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
        """Returns the cluster there that waits for what the node waits for, itself apart."""
        for source in sources:
            if source.needs == needs & ~source.bit and self._open.get((device, source.needs, chain)) is source:
                return source
        return self._open.get((device, needs, chain))

    @property
    def clusters(self) -> Sequence[Cluster]:
        """The clusters in the order in which they were begun, in which each comes after all that it needs."""
        return self._found
