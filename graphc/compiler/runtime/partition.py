"""The partitioner: cuts a placed graph into the steps of a plan.

Ops of one device form a segment, as long as no two segments would wait for each other, and no other device would wait
for an op that it does not need, such as one of another micro-batch. Calls of Python functions, and loops and branches
that span devices, are separate steps. A value that another device needs is transferred once. Constants are part of
every segment that uses them. Variables are inputs and outputs of the plan: a read returns the value at that point of
the program.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from graphc.compiler.ir import CONSTANT, Graph, GraphBuilder, Node, Value
from graphc.compiler.ops import ASSIGN_VARIABLE, HOST_CALL, HOST_CALLS, READ_VARIABLE, host_function
from graphc.compiler.runtime.placer import Placement
from graphc.compiler.runtime.plan import HOST, Plan, Step
from graphc.compiler.runtime.steps import HostCall, Segment, Transfer

# Clusters: groups of nodes of a placed graph that become a single step.
#
# The nodes of a cluster run on one device and wait for the same other clusters, so that none of them waits
# unnecessarily, and no two clusters wait for each other. Nodes of different chains stay separate.


@dataclass(eq=False)
class Cluster:
    """A group of nodes that becomes one step."""

    number: int  # the cluster's number, in order of creation
    device: str
    nodes: list[Node]  # the nodes, in program order
    needs: int  # the clusters that must run before it, directly or indirectly, as one bit for each number

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
        """Adds a node to the cluster that it fits, or to a new one."""
        # alone: whether it gets a separate cluster, which no other node joins.
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


# Chains: parts of a cluster that must be separate so that other devices do not wait unnecessarily.
#
# The micro-batches of a stage wait for the same inputs, and so do the time steps of a recurrent layer: a single cluster
# would contain them all, and the next stage would begin when all are done. If another device needs one result of a
# cluster before the next one, the nodes that compute each become separate clusters, and stages overlap. So does the
# rest that no other device needs, if it is more than a few instructions per element.

Edges = Mapping[Node, Sequence[Node]]
"""The predecessors of each node by data or control edges, in program order."""


def chains(clusters: Iterable[Cluster], edges: Edges) -> dict[Node, int]:
    """Returns the chain number of each node in clusters that must be split into several chains."""
    home = {node: cluster for cluster in clusters for node in cluster.nodes}
    bits, together = _senders(home, edges)
    numbers: dict[Node, int] = {}
    for cluster in dict.fromkeys(home.values()):
        senders = [node for node in cluster.nodes if node in bits]
        own = sum(bits[node] for node in senders)
        kinds = list(dict.fromkeys(together[node] & own for node in senders))
        first = len(numbers) + 1
        chain = _spread({node: first + kinds.index(together[node] & own) for node in senders}, cluster, edges)
        rest = [node for node in cluster.nodes if node not in chain]
        if senders and (len(kinds) > 1 or not all(node.op.light for node in rest)):
            numbers.update(chain | dict.fromkeys(rest, first + len(kinds)))
    return numbers


def _senders(home: Mapping[Node, Cluster], edges: Edges) -> tuple[dict[Node, int], dict[Node, int]]:
    """Finds the nodes whose results another device uses."""
    # A bit for each such node; and for each, the bits of those that all its users on other devices wait for anyway.
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


# Extraction of parts of a graph as separate graphs.


def extract(
    nodes: Sequence[Node], wanted: Container[Value], resolve: Callable[[Value], Value]
) -> tuple[Graph, list[Value], list[Value]]:
    """Returns some nodes of a graph as a separate graph, including the constants that they use."""
    # Returns the graph, its operands, and the values of its outputs.
    # resolve: returns the value to use in place of another, such as a variable's value for the result of reading it.
    first, last = nodes[0].name, nodes[-1].name
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

    for node in nodes:
        inputs = [use(resolve(value)) for value in node.inputs]
        copy(node, inputs, [copies[control] for control in node.control_inputs if control in copies])
    outputs = [value for node in nodes for value in node.outputs if value in wanted]
    return builder.build([inside[value] for value in outputs]), taken, outputs


# Stateless graphs: the values of Variables are inputs, and their new values results.


class Stateless:
    """A graph as a function of its inputs and of the values of its Variables."""

    def __init__(self, graph: Graph, variables: Sequence[str], written: Sequence[str]) -> None:
        self.graph = graph
        touching = {node.attrs["variable"]: node for node in graph.nodes if node.op in (READ_VARIABLE, ASSIGN_VARIABLE)}
        initial = {name: _held(touching[name], index) for index, name in enumerate(variables)}
        # The values of the variables, then the graph's inputs.
        self.inputs: Sequence[Value] = [*initial.values(), *graph.inputs]
        self._state = dict(initial)
        self._read: dict[Value, Value] = {}
        # The nodes, without reads and assignments of Variables and without constants.
        self.nodes = [node for node in graph.nodes if self._computes(node)]
        # The graph's outputs, then the new values of the written variables.
        self.results: Sequence[Value] = [*map(self.resolve, graph.outputs), *(self._state[name] for name in written)]
        self.homes: Sequence[Node] = [touching[name] for name in written]

    def _computes(self, node: Node) -> bool:
        if node.op is READ_VARIABLE:
            self._read[node.outputs[0]] = self._state[node.attrs["variable"]]
        elif node.op is ASSIGN_VARIABLE:
            self._state[node.attrs["variable"]] = self.resolve(node.inputs[0])
        return node.op not in (READ_VARIABLE, ASSIGN_VARIABLE, CONSTANT)

    def resolve(self, value: Value) -> Value:
        """Returns the value itself, or the variable's value for a read."""
        return self._read.get(value, value)

    def before(self, node: Node) -> list[Value]:
        """Returns the values that must be computed before a node runs, other than its inputs."""
        return [
            self.resolve(value)
            for control in node.control_inputs
            for value in (control.inputs if control.op is ASSIGN_VARIABLE else control.outputs[:1])
        ]


def _held(node: Node, index: int) -> Value:
    """Returns the value of a Variable before the program, from a node that uses it."""
    type = node.attrs["type"] if node.op is READ_VARIABLE else node.inputs[0].type
    return Value(type, None, index, node.attrs["variable"])


Drive: TypeAlias = Callable[[Node, tuple[int, ...], tuple[int, ...], tuple[int, ...]], Step]
"""Makes the step of a loop or branch that spans devices, from its node and its slots."""


def partition(
    graph: Graph, placement: Placement, drive: Drive, variables: Sequence[str] = (), written: Sequence[str] = (),
    homes: Sequence[str] = (),
) -> Plan:  # fmt: skip
    """Returns the plan of a placed graph."""
    # variables: the names of the variables whose values the plan takes, before the graph's inputs.
    # written: the names of those whose new values it returns, after the graph's outputs.
    # homes: the devices of the variables' values, so that these are not transferred there; empty if they are unknown.
    program = _Program(Stateless(graph, variables, written), placement, homes)
    return _Assembly(program, drive).plan()


class _Program:
    def __init__(self, stateless: Stateless, placement: Placement, homes: Sequence[str]) -> None:
        self.stateless = stateless
        self._placement = placement
        # The device of each value, as far as it is known.
        self.home: dict[Value, str] = dict(zip(stateless.inputs, homes, strict=False))  # the variables come first
        self._chain: dict[Node, int] = {}
        self._put_in_clusters()
        wanted = ["" for _ in stateless.graph.outputs] + [placement.devices[node] for node in stateless.homes]
        # The plan's results, each with its required device, empty if there is none.
        self.results = [
            (value, placement.default if _is_constant(value) and not home else home)
            for value, home in zip(stateless.results, wanted, strict=True)
        ]
        self.taken = set(stateless.results)  # the values that are needed outside the cluster that computes them
        for cluster in self.order:
            values = [stateless.resolve(value) for node in cluster.nodes for value in node.inputs]
            self.taken.update(value for value in values if self.cluster.get(value) is not cluster)
            self.taken.update(self.after.get(cluster, ()))

    def _put_in_clusters(self) -> None:
        """Makes clusters, and repeats it with the chains found in them until there are no new ones."""
        edges: dict[Node, list[Node]] = {}
        while True:
            self.cluster: dict[Value, Cluster] = {}  # inputs and constants have none
            self.after: dict[Cluster, dict[Value, None]] = {}  # the values to compute before a cluster begins
            clustering = Clustering()
            for node in self.stateless.nodes:
                sources = self._add(node, clustering)
                edges[node] = [value.node for value in sources if value.node is not None]
            self.order = clustering.clusters
            numbers = chains(self.order, edges)
            if not numbers:
                return
            before = max(self._chain.values(), default=0)
            self._chain.update((node, before + number) for node, number in numbers.items())

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
        slot = self._slots.get((value, ""))
        if slot is None:
            assert _is_constant(value), value
            assert node is not None
            slot = self._new_slot(value)
            array = node.attrs["value"].array
            self._constants[slot] = array.item() if value.type.weak else array
        if not device or self._program.home.get(value) == device:
            return slot
        moved = self._slots.get((value, device))
        if moved is None:
            moved = self._new_slot(value, device)
            self._steps.append(Transfer(_name(value), device, (slot,), (moved,)))
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
        graph, taken, produced = extract(cluster.nodes, self._program.taken, self._program.stateless.resolve)
        if not produced:
            return
        inputs = tuple(self._slot(value, cluster.device) for value in taken)
        outputs = tuple(map(self._new_slot, produced))
        # The micro-batches of a stage share a program, unless an error would name another one's line.
        key = (cluster.device, graph, tuple(node.location for node in graph.walk()))
        like = self._segments.get(key)
        step = Segment(graph.name, cluster.device, inputs, outputs, after, graph=graph, like=like)
        self._segments.setdefault(key, step)
        self._steps.append(step)
