"""Chains: parts of a cluster that would only wait for each other.

The micro-batches of a stage wait for the same things, so one cluster takes them all, and the next stage would begin
when all are done. Where somebody on another device needs one part of a cluster and not another, the parts become
clusters of their own, and stages overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graphc.ir import Node
from graphc.runtime.clusters import Cluster

__all__ = ["Edges", "independent_chains"]

Edges = Mapping[Node, Sequence[Node]]
"""The nodes that each node of a program takes values from, or comes after, in the order of the program."""


def independent_chains(clusters: Iterable[Cluster], edges: Edges) -> list[list[Node]]:
    """Finds the parts of clusters that somebody elsewhere need not wait for together.

    Args:
      clusters: of the whole program.
      edges: between its nodes.

    Returns:
      The nodes of each such part.
    """
    home = {node: cluster for cluster in clusters for node in cluster.nodes}
    parts = [part for cluster in dict.fromkeys(home.values()) for part in _parts_that_send(cluster, edges, home)]
    bits = {node: 1 << number for number, part in enumerate(parts) for node in part}
    waits: dict[Node, int] = {}
    for node in edges:
        waits[node] = bits.get(node, 0)
        for source in edges[node]:
            waits[node] |= waits[source]
    # For each part, those that all who take from it elsewhere wait for anyway.
    together = [-1] * len(parts)
    for node in edges:
        for source in edges[node]:
            if source in bits and home[source].device != home[node].device:
                together[bits[source].bit_length() - 1] &= waits[node]
    groups: dict[tuple[Cluster, int], list[list[Node]]] = {}
    for number, part in enumerate(parts):
        cluster = home[part[0]]
        own = sum({bits[node] for node in cluster.nodes if node in bits})
        groups.setdefault((cluster, together[number] & own), []).append(part)
    several = {cluster for cluster, _ in groups if sum(other is cluster for other, _ in groups) > 1}
    return [[node for part in group for node in part] for (cluster, _), group in groups.items() if cluster in several]


def _parts_that_send(cluster: Cluster, edges: Edges, home: Mapping[Node, Cluster]) -> list[list[Node]]:
    """The connected parts of a cluster of which another device takes something."""
    part: dict[Node, list[Node]] = {}
    for node in cluster.nodes:
        joined = {id(part[source]): part[source] for source in edges[node] if home[source] is cluster}
        merged = [inner for found in joined.values() for inner in found] + [node]
        part.update(dict.fromkeys(merged, merged))
    sending = {
        id(part[source]): part[source]
        for node in edges
        if home[node].device != cluster.device
        for source in edges[node]
        if source in part
    }
    return list(sending.values())
