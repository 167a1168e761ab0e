"""Chains: parts of a cluster for which somebody elsewhere would wait in vain.

The micro-batches of a stage wait for the same things, and so do the time steps of a recurrent layer: one cluster would
take them all, and the next stage would begin when all are done. Where another device needs one result of a cluster and
not yet the next one, what they are computed by becomes clusters of their own, and stages overlap.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graphc.ir import Node
from graphc.runtime.clusters import Cluster

__all__ = ["Edges", "chains"]

Edges = Mapping[Node, Sequence[Node]]
"""The nodes that each node of a program takes values from, or comes after, in the order of the program."""


def chains(clusters: Iterable[Cluster], edges: Edges) -> dict[Node, int]:
    """Finds what to keep apart.

    Args:
      clusters: of the whole program.
      edges: between its nodes.

    Returns:
      The number of the chain of each node in clusters that have several; empty where none has.
    """
    home = {node: cluster for cluster in clusters for node in cluster.nodes}
    bits, together = _senders(home, edges)
    found: dict[Node, int] = {}
    for cluster in dict.fromkeys(home.values()):
        senders = [node for node in cluster.nodes if node in bits]
        own = sum(bits[node] for node in senders)
        kinds = list(dict.fromkeys(together[node] & own for node in senders))
        if len(kinds) > 1:
            first = len(found) + 1
            found.update(_spread({node: first + kinds.index(together[node] & own) for node in senders}, cluster, edges))
    return found


def _senders(home: Mapping[Node, Cluster], edges: Edges) -> tuple[dict[Node, int], dict[Node, int]]:
    """Finds the nodes that another device takes something from.

    Returns:
      A bit for each; and for each the bits of those that all who take from it on another device wait for anyway.
    """
    sent = {source for node in edges for source in edges[node] if home[source].device != home[node].device}
    bits = {node: 1 << number for number, node in enumerate(node for node in edges if node in sent)}
    together = dict.fromkeys(bits, -1)
    waits: dict[Node, int] = {}
    for node in edges:
        waits[node] = bits.get(node, 0)
        for source in edges[node]:
            waits[node] |= waits[source]
        for source in edges[node]:
            if home[source].device != home[node].device:
                together[source] &= waits[node]
    return bits, together


def _spread(senders: Mapping[Node, int], cluster: Cluster, edges: Edges) -> dict[Node, int]:
    """Gives each node of a cluster the first chain that it leads to, or else that of what it takes."""
    chain, own = dict(senders), set(cluster.nodes)
    inside = {node: [source for source in edges[node] if source in own] for node in cluster.nodes}
    for node in reversed(cluster.nodes):
        for source in inside[node]:
            if node in chain and source not in senders:
                chain[source] = min(chain[node], chain.get(source, chain[node]))
    for node in cluster.nodes:
        chain.setdefault(node, max((chain[source] for source in inside[node]), default=min(senders.values())))
    return chain
