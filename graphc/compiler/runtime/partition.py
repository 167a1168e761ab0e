"""The partitioner: cuts a placed graph into the steps of a plan.

Ops of one device form a segment, as long as no two segments would wait for each other, and no other device would wait
for an op that it does not need, such as one of another micro-batch. Calls of Python functions, and loops and branches
that span devices, are separate steps. A value that another device needs is transferred once. Constants are part of
every segment that uses them. Variables are inputs and outputs of the plan: a read returns the value at that point of
the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

from graphc.compiler.ir import CONSTANT, Graph, Node, Value
from graphc.compiler.ops import HOST_CALL, HOST_CALLS, host_function
from graphc.compiler.runtime.chains import chains
from graphc.compiler.runtime.clusters import Cluster, Clustering
from graphc.compiler.runtime.extracting import extract
from graphc.compiler.runtime.placer import Placement
from graphc.compiler.runtime.plan import HOST, Plan, Step
from graphc.compiler.runtime.stateless import Stateless
from graphc.compiler.runtime.steps import HostCall, Segment, Transfer

__all__ = ["Drive", "partition"]

Drive: TypeAlias = Callable[[Node, tuple[int, ...], tuple[int, ...], tuple[int, ...]], Step]
"""Makes the step of a loop or branch that spans devices, from its node and its slots."""


def partition(
    graph: Graph, placement: Placement, drive: Drive, variables: Sequence[str] = (), written: Sequence[str] = (),
    homes: Sequence[str] = (),
) -> Plan:  # fmt: skip
    """Returns the plan of a placed graph.

    Args:
      graph: the graph to run.
      placement: the devices of its nodes.
      drive: makes the step of a loop or branch that spans devices.
      variables: the names of the variables whose values the plan takes, before the graph's inputs.
      written: the names of those whose new values it returns, after the graph's outputs.
      homes: the devices of the variables' values, so that these are not transferred there; empty if they are unknown.

    Returns:
      The plan.
    """
    program = _Program(Stateless(graph, variables, written), placement, homes)
    return _Assembly(program, drive).plan()


class _Program:
    """A placed graph divided into clusters.

    Attributes:
      stateless: the graph without its variables.
      results: the plan's results, each with its required device, empty if there is none.
      home: the device of each value, as far as it is known.
      cluster: the cluster that computes each value; inputs and constants have none.
      order: the clusters in the order of the plan.
      after: for each cluster, the values that must be computed before it begins.
      taken: the values that are needed outside the cluster that computes them.
    """

    def __init__(self, stateless: Stateless, placement: Placement, homes: Sequence[str]) -> None:
        self.stateless = stateless
        self._placement = placement
        self.home: dict[Value, str] = dict(zip(stateless.inputs, homes, strict=False))  # the variables come first
        self._chain: dict[Node, int] = {}
        self._put_in_clusters()
        wanted = ["" for _ in stateless.graph.outputs] + [placement.devices[node] for node in stateless.homes]
        self.results = [
            (value, placement.default if _is_constant(value) and not home else home)
            for value, home in zip(stateless.results, wanted, strict=True)
        ]
        self.taken = set(stateless.results)
        for cluster in self.order:
            self.taken.update(value for value in self._operands(cluster) if self.cluster.get(value) is not cluster)
            self.taken.update(self.after.get(cluster, ()))

    def _put_in_clusters(self) -> None:
        """Makes clusters, and repeats it with the chains found in them until there are no new ones."""
        edges: dict[Node, list[Node]] = {}
        while True:
            self.cluster: dict[Value, Cluster] = {}
            self.after: dict[Cluster, dict[Value, None]] = {}
            clustering = Clustering()
            for node in self.stateless.nodes:
                sources = self._add(node, clustering)
                edges[node] = [value.node for value in sources if value.node is not None]
            self.order = clustering.clusters
            found = chains(self.order, edges)
            if not found:
                return
            before = max(self._chain.values(), default=0)
            self._chain.update((node, before + number) for node, number in found.items())

    def _operands(self, cluster: Cluster) -> Iterator[Value]:
        for node in cluster.nodes:
            yield from map(self.stateless.resolve, node.inputs)

    def _add(self, node: Node, clustering: Clustering) -> Sequence[Value]:
        """Adds a node to a cluster; returns the other clusters' values that it needs first."""
        on_host = node.op in HOST_CALLS or node in self._placement.spanning
        before = self.stateless.before(node)
        values = [*map(self.stateless.resolve, node.inputs), *before]
        values = [value for value in values if value in self.cluster]
        sources = [self.cluster[value] for value in values]
        device = HOST if on_host else self._placement.devices[node]
        cluster = clustering.add(node, device, sources, alone=on_host, chain=self._chain.get(node, 0))
        self.cluster.update(dict.fromkeys(node.outputs, cluster))
        self.home.update(dict.fromkeys(node.outputs, device))
        late = [value for value in before if value in self.cluster and self.cluster[value] is not cluster]
        if late:
            self.after.setdefault(cluster, {}).update(dict.fromkeys(late))
        return values


def _is_constant(value: Value) -> bool:
    return value.node is not None and value.node.op is CONSTANT


def _name(value: Value) -> str:
    """Returns a description of a value, for people."""
    node = value.node
    if node is None:
        return value.name
    if node.op in HOST_CALLS:
        return f"the result of {host_function(node.attrs['function']).title}"
    return node.name if len(node.outputs) == 1 else f"{node.name}:{value.index}"


class _Assembly:
    """Makes the steps of a program and numbers the slots."""

    def __init__(self, program: _Program, drive: Drive) -> None:
        self._program = program
        self._drive = drive
        self._steps: list[Step] = []
        self._constants: dict[int, Any] = {}
        self._slots: dict[tuple[Value, str], int] = {}
        self._segments: dict[Any, Segment] = {}
        self._count = 0

    def plan(self) -> Plan:
        program = self._program
        for value in program.stateless.inputs:
            self._new_slot(value)
        for cluster in program.order:
            self._add(cluster)
        outputs = [self._slot(value, device) for value, device in program.results]
        num_inputs = len(program.stateless.inputs)
        return Plan(
            program.stateless.graph.name,
            tuple(self._steps),
            num_inputs,
            self._count,
            tuple(outputs),
            tuple(self._constants.items()),
        )

    def _new_slot(self, value: Value, device: str = "") -> int:
        slot = self._slots[value, device] = self._count
        self._count += 1
        return slot

    def _slot(self, value: Value, device: str = "") -> int:
        """Returns the slot of a value where it was computed, or on a device, transferring it if necessary."""
        node = value.node
        found = self._slots.get((value, ""))
        if found is None:
            assert _is_constant(value), value
            assert node is not None
            found = self._new_slot(value)
            array = node.attrs["value"].array
            self._constants[found] = array.item() if value.type.weak else array
        if not device or self._program.home.get(value) == device:
            return found
        moved = self._slots.get((value, device))
        if moved is None:
            moved = self._new_slot(value, device)
            self._steps.append(Transfer(_name(value), device, (found,), (moved,)))
        return moved

    def _add(self, cluster: Cluster) -> None:
        after = tuple(self._slot(value) for value in self._program.after.get(cluster, ()))
        if cluster.device == HOST:
            self._add_host_step(cluster.nodes[0], after)
        else:
            self._add_segment(cluster, after)

    def _add_host_step(self, node: Node, after: tuple[int, ...]) -> None:
        inputs = tuple(self._slot(self._program.stateless.resolve(value)) for value in node.inputs)
        outputs = tuple(map(self._new_slot, node.outputs))
        if node.op in HOST_CALLS:
            function = host_function(node.attrs["function"])
            self._steps.append(
                HostCall(function.title, HOST, inputs, outputs, after, function=function, ordered=node.op is HOST_CALL)
            )
        else:
            self._steps.append(self._drive(node, inputs, outputs, after))

    def _add_segment(self, cluster: Cluster, after: tuple[int, ...]) -> None:
        graph, taken, given = extract(cluster.nodes, self._program.taken, self._program.stateless.resolve)
        if not given:
            return
        inputs = tuple(self._slot(value, cluster.device) for value in taken)
        outputs = tuple(map(self._new_slot, given))
        # The micro-batches of a stage share a program, unless an error would name another one's line.
        key = (cluster.device, graph, tuple(node.location for node in graph.walk()))
        like = self._segments.get(key)
        step = Segment(graph.name, cluster.device, inputs, outputs, after, graph=graph, like=like)
        self._segments.setdefault(key, step)
        self._steps.append(step)
