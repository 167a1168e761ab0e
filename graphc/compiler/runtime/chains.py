"""Chains: parts of a cluster that must be separate so that other devices do not wait unnecessarily.

The micro-batches of a stage wait for the same inputs, and so do the time steps of a recurrent layer: a single cluster
would contain them all, and the next stage would begin when all are done. If another device needs one result of a
cluster before the next one, the nodes that compute each become separate clusters, and stages overlap. So does the rest
that no other device needs, if it is more than a few instructions per element.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from graphc.compiler.ir import Node
from graphc.compiler.runtime.clusters import Cluster

__all__ = ["Edges", "chains"]

Edges = Mapping[Node, Sequence[Node]]
"""The predecessors of each node by data or control edges, in program order."""


def chains(clusters: Iterable[Cluster], edges: Edges) -> dict[Node, int]:
    """Returns the chains into which clusters must be split.

    Args:
      clusters: the clusters of the whole program.
      edges: the edges between its nodes.

    Returns:
      The chain number of each node in clusters with several chains; empty if there are none.
    """
    home = {node: cluster for cluster in clusters for node in cluster.nodes}
    bits, together = _senders(home, edges)
    found: dict[Node, int] = {}
    for cluster in dict.fromkeys(home.values()):
        senders = [node for node in cluster.nodes if node in bits]
        own = sum(bits[node] for node in senders)
        kinds = list(dict.fromkeys(together[node] & own for node in senders))
        first = len(found) + 1
        chain = _spread({node: first + kinds.index(together[node] & own) for node in senders}, cluster, edges)
        rest = [node for node in cluster.nodes if node not in chain]
        if senders and (len(kinds) > 1 or not all(node.op.light for node in rest)):
            found.update(chain | dict.fromkeys(rest, first + len(kinds)))
    return found


def _senders(home: Mapping[Node, Cluster], edges: Edges) -> tuple[dict[Node, int], dict[Node, int]]:
    """Finds the nodes whose results another device uses.

    Returns:
      A bit for each such node; and for each, the bits of those that all its users on other devices wait for anyway.
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
    """Assigns each node of a cluster to the first chain that it leads to, if it leads to one."""
    chain, own = dict(senders), set(cluster.nodes)
    for node in reversed(cluster.nodes):
        for source in edges[node]:
            if node in chain and source in own and source not in senders:
                chain[source] = min(chain[node], chain.get(source, chain[node]))
    return chain
