"""How the inputs and outputs of a graph with replicas lie on their devices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax.sharding import NamedSharding

from graphc.base import at
from graphc.base.errors import UnimplementedError
from graphc.core import note_spread, whole_on
from graphc.devices import laid_out, placed
from graphc.ir import Graph, Node, Value
from graphc.ops import HOST_CALLS, REPLICAS, replica_mesh, replica_spec

__all__ = ["ReplicaLayout", "replica_layout"]


@dataclass(frozen=True)
class ReplicaLayout:
    """Where the arrays of a graph with replicas are.

    Attributes:
      home: that of a copy on each device.
      devices: the names of the devices.
      inputs: for each input, where it is wanted; None where JAX decides.
      outputs: for each output, where it is left.
    """

    home: NamedSharding
    devices: tuple[str, ...]
    inputs: list[NamedSharding | None]
    outputs: list[NamedSharding]

    def said(self, sharding: Any) -> Any:
        """Returns the layout of a Variable as the program says it."""
        return self.home if sharding.is_fully_replicated else sharding

    def placed(self, arrays: Sequence[Any]) -> list[Any]:
        """Brings arrays of devices to where they are wanted; JAX does that with arrays of the host.

        Where several processes run the program each has the whole of an array, or its part lies on its devices.
        """
        pairs = zip(arrays, self.inputs, strict=True)
        if not self.home.is_fully_addressable:
            return [_of_processes(array, place or self.home) for array, place in pairs]
        return [
            array if place is None or not isinstance(array, jax.Array) else placed(array, place)
            for array, place in pairs
        ]


def _of_processes(array: Any, place: NamedSharding) -> Any:
    """Returns an input of a program of several processes; a number keeps its weak type."""
    if isinstance(array, bool | int | float | complex):
        return array
    if isinstance(array, jax.Array) and array.weak_type and array.ndim == 0 and array.is_fully_addressable:
        return array.item()
    return laid_out(array, place)


def replica_layout(graph: Graph) -> ReplicaLayout | None:
    """Finds how the arrays of a graph with replicas lie; None for other graphs.

    JAX reads each layout that XLA chooses by the mesh of the first input, and fails where it is one of groups of
    devices. So where there are such groups nothing is left to XLA, and what differs between them is left on every
    device.

    Raises:
      UnimplementedError: replicas of the graph are on different devices, or other ops are pinned.
    """
    first = next((node for node in graph.walk() if node.op is REPLICAS), None)
    if first is None:
        return None
    names: tuple[str, ...] = first.attrs["devices"]
    for node in graph.walk():
        _check_devices(node, names)
    home = whole_on(replica_mesh(names, len(names), first.attrs["axis"]))
    if any(node.op in HOST_CALLS for node in graph.walk()):  # JAX wants one mesh in a program that calls the host
        home = _place(first, None)
    note_spread(home)
    inputs: dict[Value, set[NamedSharding | None]] = {}
    outputs: dict[Value, NamedSharding] = {}
    for node in graph.nodes:
        if node.op is not REPLICAS:
            for value in node.inputs:
                inputs.setdefault(value, set()).add(None)
            continue
        for value, axis in zip(node.inputs, node.attrs["in_axes"], strict=True):
            inputs.setdefault(value, set()).add(_place(node, axis))
        for value, differs in zip(node.outputs, node.attrs["differs"], strict=True):
            outputs[value] = _place(node, 0) if differs and node.attrs["groups"] == len(names) else home
    grouped = any(node.op is REPLICAS and node.attrs["groups"] != len(names) for node in graph.walk())
    wanted = [inputs.get(value, {None}) for value in graph.inputs]
    given = [next(iter(places)) if len(places) == 1 else None for places in wanted]
    return ReplicaLayout(
        home,
        names,
        [place or home if grouped else place for place in given],
        [outputs.get(value, home) for value in graph.outputs],
    )


def _place(node: Node, axis: int | None) -> NamedSharding:
    mesh = replica_mesh(node.attrs["devices"], node.attrs["groups"], node.attrs["axis"])
    return NamedSharding(mesh, replica_spec(axis, node.attrs["axis"]))


def _check_devices(node: Node, names: tuple[str, ...]) -> None:
    problem = ""
    if node.op is REPLICAS and node.attrs["devices"] != names:
        problem = f"replicas run on {', '.join(names)} and on {', '.join(node.attrs['devices'])}"
    elif node.device and node.device not in (names if len(names) == 1 else ()):
        problem = f"replicas run on {', '.join(names)}, and {node.name} is pinned to {node.device}"
    if problem:
        error = UnimplementedError(f"{problem}: one program runs on one set of devices; compile them apart")
        raise at(error, node.location)
