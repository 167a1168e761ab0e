"""The layout of the inputs and outputs of a graph with replicas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import jax
from jax.sharding import NamedSharding

from graphc.compiler.base import at
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import note_spread, whole_on
from graphc.compiler.devices import laid_out, placed
from graphc.compiler.ir import Graph, Node, Value
from graphc.compiler.ops import HOST_CALLS, REPLICAS, replica_mesh, replica_spec

__all__ = ["ReplicaLayout", "replica_layout"]


@dataclass(frozen=True)
class ReplicaLayout:
    """The devices and shardings of the arrays of a graph with replicas.

    Attributes:
      home: the sharding with a copy on each device.
      devices: the names of the devices.
      inputs: the required sharding of each input; None where JAX decides.
      outputs: the sharding of each output.
    """

    home: NamedSharding
    devices: tuple[str, ...]
    inputs: list[NamedSharding | None]
    outputs: list[NamedSharding]

    def said(self, sharding: Any) -> Any:
        """Returns a Variable's sharding in the program's terms."""
        return self.home if sharding.is_fully_replicated else sharding

    def placed(self, arrays: Sequence[Any]) -> list[Any]:
        """Moves device arrays to their required shardings; JAX moves host arrays.

        If several processes run the program, each has either the whole array or its part on its devices.
        """
        pairs = zip(arrays, self.inputs, strict=True)
        if not self.home.is_fully_addressable:
            return [_of_processes(array, place or self.home) for array, place in pairs]
        return [
            array if place is None or not isinstance(array, jax.Array) else placed(array, place)
            for array, place in pairs
        ]


def _of_processes(array: Any, place: NamedSharding) -> Any:
    """Returns an input for a program of several processes; a number keeps its weak type."""
    if isinstance(array, bool | int | float | complex):
        return array
    if isinstance(array, jax.Array) and array.weak_type and array.ndim == 0 and array.is_fully_addressable:
        return array.item()
    return laid_out(array, place)


def replica_layout(graph: Graph) -> ReplicaLayout | None:
    """Returns the layout of a graph with replicas; None for other graphs.

    JAX reads every layout that XLA chooses in terms of the mesh of the first input, and fails if it is one of groups of
    devices. If there are such groups, XLA chooses no layout, and values that differ between groups are left on every
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
    if any(node.op in HOST_CALLS for node in graph.walk()):  # JAX needs one mesh if the host is called
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
        error = UnimplementedError(
            f"{problem}: one program runs on one set of devices; compile them as separate functions"
        )
        raise at(error, node.location)
