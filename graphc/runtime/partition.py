"""The partitioner: cuts a placed graph into the steps of a plan.

Ops of one device form one segment as long as no two segments would wait for each other; calls of Python functions, and
the loops and branches that span devices, are steps of their own. A value that another device needs is moved there once.
Constants are part of every segment that uses them. Variables are inputs and outputs of the plan: what reads one takes
the value that it has at that point of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from graphc.ir import CONSTANT, Graph, GraphBuilder, Node, Value
from graphc.ops import ASSIGN_VARIABLE, HOST_CALL, HOST_CALLS, READ_VARIABLE, host_function
from graphc.runtime.clusters import Cluster, Clustering
from graphc.runtime.placer import Placement
from graphc.runtime.plan import HOST, Plan, Step
from graphc.runtime.steps import HostCall, Segment, Transfer

__all__ = ["Drive", "partition"]

Drive: TypeAlias = Callable[[Node, tuple[int, ...], tuple[int, ...], tuple[int, ...]], Step]
"""Makes the step of a loop or branch that spans devices, from its node and its slots."""


def partition(
    graph: Graph, placement: Placement, drive: Drive, variables: Sequence[str] = (), written: Sequence[str] = ()
) -> Plan:
    """Makes the plan of a placed graph.

    Args:
      graph: what to run.
      placement: where its nodes run.
      drive: makes the step of a loop or branch that spans devices.
      variables: the names of the variables whose values the plan takes, before the inputs of the graph.
      written: the names of those whose new values it gives, after the outputs of the graph.

    Returns:
      The plan.
    """
    program = _Program(graph, placement, variables, written)
    return _Assembly(program, drive).plan()


class _Program:
    """A placed graph in clusters, without its variables.

    Attributes:
      graph: the graph.
      inputs: what the plan takes: the values of variables, then the inputs of the graph.
      results: what it gives: each with the device that it must be on, empty where that is left open.
      cluster: the cluster that computes each value; inputs and constants have none.
      order: the clusters in the order of the plan.
      after: for each cluster, values that must be computed before it begins.
      taken: the values that are needed outside of the cluster that computes them.
    """

    def __init__(self, graph: Graph, placement: Placement, variables: Sequence[str], written: Sequence[str]) -> None:
        self.graph = graph
        self._placement = placement
        types = {node.attrs["variable"]: node for node in graph.nodes if node.op in (READ_VARIABLE, ASSIGN_VARIABLE)}
        held = {name: _held(types[name], index) for index, name in enumerate(variables)}
        self._state = dict(held)
        self._read: dict[Value, Value] = {}
        self.inputs = [*held.values(), *graph.inputs]
        self.cluster: dict[Value, Cluster] = {}
        self.after: dict[Cluster, dict[Value, None]] = {}
        clustering = Clustering()
        for node in graph.nodes:
            self._add(node, clustering)
        self.order = clustering.in_order()
        homes = [placement.devices[types[name]] for name in written]
        self.results = [
            *((self.resolve(value), "") for value in graph.outputs),
            *((self._state[name], home) for name, home in zip(written, homes, strict=True)),
        ]
        self.taken = {value for value, _ in self.results}
        for cluster in self.order:
            self.taken.update(value for value in self.operands(cluster) if self.cluster.get(value) is not cluster)
            self.taken.update(self.after.get(cluster, ()))

    def resolve(self, value: Value) -> Value:
        """The value itself, or what it is that reading a variable gives."""
        return self._read.get(value, value)

    def operands(self, cluster: Cluster) -> Iterator[Value]:
        """What the nodes of a cluster take."""
        for node in cluster.nodes:
            yield from map(self.resolve, node.inputs)

    def _add(self, node: Node, clustering: Clustering) -> None:
        if node.op is READ_VARIABLE:
            self._read[node.outputs[0]] = self._state[node.attrs["variable"]]
        elif node.op is ASSIGN_VARIABLE:
            self._state[node.attrs["variable"]] = self.resolve(node.inputs[0])
        elif node.op is not CONSTANT:
            self._add_op(node, clustering)

    def _add_op(self, node: Node, clustering: Clustering) -> None:
        on_host = node.op in HOST_CALLS or node in self._placement.spanning
        before = [value for control in node.control_inputs for value in self._marks(control)]
        values = [*map(self.resolve, node.inputs), *before]
        sources = [self.cluster[value] for value in values if value in self.cluster]
        device = HOST if on_host else self._placement.devices[node]
        cluster = clustering.add(node, device, sources, alone=on_host)
        self.cluster.update(dict.fromkeys(node.outputs, cluster))
        late = [value for value in before if value in self.cluster and self.cluster[value] is not cluster]
        if late:
            self.after.setdefault(cluster, {}).update(dict.fromkeys(late))

    def _marks(self, node: Node) -> Sequence[Value]:
        """Values that are computed when a node has run."""
        if node.op is ASSIGN_VARIABLE:
            return [self.resolve(node.inputs[0])]
        return [self.resolve(value) for value in node.outputs[:1]]


def _held(node: Node, index: int) -> Value:
    """The value of a variable before the program, from a node that touches it."""
    type = node.attrs["type"] if node.op is READ_VARIABLE else node.inputs[0].type
    return Value(type, None, index, node.attrs["variable"])


class _Assembly:
    """Makes the steps of a program, and numbers the slots."""

    def __init__(self, program: _Program, drive: Drive) -> None:
        self._program = program
        self._drive = drive
        self._steps: list[Step] = []
        self._constants: dict[int, np.ndarray[Any, Any]] = {}
        self._slots: dict[tuple[Value, str], int] = {}
        self._count = 0
        # What is there before or after the program may be updated in place by others.
        self._shared = {*program.inputs, *(value for value, _ in program.results)}

    def plan(self) -> Plan:
        program = self._program
        for value in program.inputs:
            self._new_slot(value)
        for cluster in program.order:
            self._add(cluster)
        outputs = [self._slot(value, device) for value, device in program.results]
        num_inputs = len(program.inputs)
        return Plan(
            program.graph.name,
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
        """The slot of a value where it was computed, or on a device, where it is moved if need be."""
        node = value.node
        found = self._slots.get((value, ""))
        if found is None:
            assert node is not None
            assert node.op is CONSTANT, value
            found = self._new_slot(value)
            self._constants[found] = node.attrs["value"].array
        cluster = self._program.cluster.get(value)
        if not device or (cluster is not None and cluster.device == device):
            return found
        moved = self._slots.get((value, device))
        if moved is None:
            moved = self._new_slot(value, device)
            name = value.name if node is None else node.name
            self._steps.append(Transfer(name, device, (found,), (moved,), own=value in self._shared))
        return moved

    def _add(self, cluster: Cluster) -> None:
        after = tuple(self._slot(value) for value in self._program.after.get(cluster, ()))
        if cluster.device == HOST:
            self._add_host_step(cluster.nodes[0], after)
        else:
            self._add_segment(cluster, after)

    def _add_host_step(self, node: Node, after: tuple[int, ...]) -> None:
        inputs = tuple(self._slot(self._program.resolve(value)) for value in node.inputs)
        outputs = tuple(map(self._new_slot, node.outputs))
        if node.op in HOST_CALLS:
            function = host_function(node.attrs["function"])
            self._steps.append(
                HostCall(node.name, HOST, inputs, outputs, after, function=function, ordered=node.op is HOST_CALL)
            )
        else:
            self._steps.append(self._drive(node, inputs, outputs, after))

    def _add_segment(self, cluster: Cluster, after: tuple[int, ...]) -> None:
        graph, taken, given = _segment_graph(self._program, cluster)
        if not given:
            return
        inputs = tuple(self._slot(value, cluster.device) for value in taken)
        outputs = tuple(map(self._new_slot, given))
        self._steps.append(Segment(graph.name, cluster.device, inputs, outputs, after, graph=graph))


def _segment_graph(program: _Program, cluster: Cluster) -> tuple[Graph, list[Value], list[Value]]:
    """The nodes of a cluster as a graph of their own, the values that it takes, and those that it gives."""
    first, last = cluster.nodes[0].name, cluster.nodes[-1].name
    builder = GraphBuilder(first if first == last else f"{first}__{last}")
    inside: dict[Value, Value] = {}
    copies: dict[Node, Node] = {}
    taken: list[Value] = []

    def copy(node: Node, inputs: Sequence[Value], controls: Sequence[Node]) -> None:
        new = copies[node] = builder.append(
            node.op, inputs, node.attrs, types=[output.type for output in node.outputs], regions=node.regions,
            control_inputs=controls, device=node.device, name=node.name, location=node.location,
        )  # fmt: skip
        inside.update(zip(node.outputs, new.outputs, strict=True))

    def use(value: Value) -> Value:
        if value not in inside:
            if value.node is not None and value.node.op is CONSTANT:
                copy(value.node, (), ())
            else:
                inside[value] = builder.input(value.type, value.name or (value.node.name if value.node else ""))
                taken.append(value)
        return inside[value]

    for node in cluster.nodes:
        inputs = [use(program.resolve(value)) for value in node.inputs]
        copy(node, inputs, [copies[control] for control in node.control_inputs if control in copies])
    given = [value for node in cluster.nodes for value in node.outputs if value in program.taken]
    return builder.build([inside[value] for value in given]), taken, given
