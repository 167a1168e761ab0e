"""The placer: assigns a device to each node of a graph.

It applies these rules in order: an op on a Variable runs where the Variable is; a pinned op runs where it is pinned;
the gradient of an op runs where the op does; any other op runs where its operands are computed, or on the default
device if they are on several or it has none. Inside a body, such as a loop's, the device of the loop's operands
replaces the default one. Constants and arguments are copied to wherever they are used. An op with bodies whose ops are
all on one device is one op there; otherwise the runtime executes it part by part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from graphc.compiler.core import check_implemented, log_placement
from graphc.compiler.devices import canonical_device
from graphc.compiler.ir import CONSTANT, Graph, Node
from graphc.compiler.lowering import forward_key
from graphc.compiler.ops import ASSIGN_VARIABLE, HOST_CALLS, READ_VARIABLE, VJP


@dataclass(frozen=True)
class Placement:
    """The devices of the nodes of a graph, including those of its regions."""

    default: str  # the device of ops that no other rule places
    # The device of each node, except for constants, host calls, and nodes that span devices.
    devices: Mapping[Node, str]
    # The ops whose bodies are on several devices: loops and branches, and gradients and maps of those.
    spanning: frozenset[Node]

    @property
    def used(self) -> tuple[str, ...]:
        """The devices in use, in order of first use."""
        return tuple(dict.fromkeys(self.devices.values()))


def place(graph: Graph, variables: Mapping[str, str], default: str) -> Placement:
    """Places the nodes of one graph; see :func:`place_all`."""
    return place_all((graph,), variables, default)


def place_all(graphs: Sequence[Graph], variables: Mapping[str, str], default: str) -> Placement:
    """Returns a device for every node."""
    # variables: the device of each Variable in use, by name; a missing one is where the nodes that use it are pinned.
    placer = _Placer(variables, default)
    for graph in graphs:
        placer.graph(graph, default)
    for node, device in placer.devices.items():
        log_placement(node.op.name, node.name, node.device, device, node.location)
    return Placement(default, placer.devices, frozenset(placer.spanning))


class _Placer:
    def __init__(self, variables: Mapping[str, str], default: str) -> None:
        self.devices: dict[Node, str] = {}
        self.spanning: set[Node] = set()
        self._variables = variables
        self._default = default

    def graph(self, graph: Graph, default: str) -> dict[str, Node]:
        """Places the nodes of a graph; returns the devices in use, each with its first node."""
        forward: dict[Any, Node] = {
            (node.op.name, node.attrs, node.regions, *node.inputs): node for node in graph.nodes
        }
        used: dict[str, Node] = {}
        for node in graph.nodes:
            there = self._of_operands(node) or default
            inside = {device: inner for region in node.regions for device, inner in self.graph(region, there).items()}
            if len(inside) > 1:
                self.spanning.add(node)
                for device, inner in inside.items():
                    used.setdefault(device, inner)
            elif node.op is not CONSTANT and node.op not in HOST_CALLS and not node.op.host:
                wanted = next(iter(inside), None) or self._device(node, forward) or there
                device = self.devices[node] = check_implemented(node.op, wanted, node.location)
                used.setdefault(device, node)
        return used

    def _device(self, node: Node, forward: Mapping[Any, Node]) -> str | None:
        """Returns the device that the node itself requires."""
        if node.op in (READ_VARIABLE, ASSIGN_VARIABLE):
            home = self._variables.get(node.attrs["variable"])
            if home is not None:
                return home
        if node.device:
            return canonical_device(node.device, node.location, quiet=True)
        if node.op is VJP:
            source = forward.get(forward_key(node))
            return None if source is None else self.devices.get(source)
        return None

    def _of_operands(self, node: Node) -> str | None:
        """Returns the common device of all operands, or the default device if they are on several."""
        homes = {self.devices.get(value.node) for value in node.inputs if value.node is not None} - {None}
        return self._default if len(homes) > 1 else next(iter(homes), None)
