"""Adds the graph of one replica to a trace, to run on several devices at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphc.compiler.base import Location, at, nest, user_location
from graphc.compiler.base.errors import InvalidArgumentError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor, Variable, apply, apply_all, context, replica_scope
from graphc.compiler.function import MappedArguments
from graphc.compiler.ir import OPS, Attrs, Graph, TensorType
from graphc.compiler.ops import INDEX, REPLICAS, STATUS
from graphc.compiler.tracing import CallState, Region, Trace, current_trace
from graphc.training.distribute.axes import Replica
from graphc.training.distribute.replication import check_law, differing_outputs, reduced_once

__all__ = ["Places", "emit_replicas", "refuse_pins"]

_LATER = 2**30


@dataclass(frozen=True)
class Places:
    """The devices that replicas run on.

    Attributes:
      devices: the names of the devices, in replica order.
      groups: the number of replicas; each has the same number of devices.
      axis: the name of the replica axis.
    """

    devices: tuple[str, ...]
    groups: int
    axis: str


class _ReplicaRegion(Region):
    """The trace of one replica, which records where Variables are assigned."""

    def __init__(self, parent: Trace, name: str) -> None:
        super().__init__(parent, name, once=object())
        self.assignments: dict[str, Location | None] = {}

    def assign(self, variable: Variable | CallState, value: Any) -> None:
        """Records the line, and assigns like any region."""
        self.assignments[variable.name] = user_location()
        super().assign(variable, value)


def emit_replicas(
    fn: Callable[..., Any], given: MappedArguments, places: Places, replica: Replica, what: str, name: str, *,
    lifts: bool = True,
) -> tuple[list[Any], list[bool], nest.Structure, Any]:  # fmt: skip
    """Traces a function for one replica, and adds the program of all replicas to the trace.

    Args:
      fn: the function.
      given: its arguments, and the axis along which each is split.
      places: the devices of the replicas.
      replica: each replica's view of the others.
      what: the name of the calling function, for messages: "pmap".
      name: the name of the function.
      lifts: whether Python values in the function's result become tensors.

    Returns:
      The leaves of the result; for each, whether it differs between replicas and so has a leading axis for them; their
      structure; and the result of one replica.

    Raises:
      InvalidArgumentError: a variable is assigned a value that differs, or a collective runs under a condition that
        does.
      UnimplementedError: the function pins ops, changes an object from outside, or assigns items of its arguments.
    """
    around = current_trace()  # callers are compiled in every mode
    label = f"the function {name!r} that {what} runs on several devices"
    refuse_pins(label)
    region = _ReplicaRegion(around, label)
    parts = [
        region.argument(_part(value.type, given.axes[place], places.groups), given.paths[place])
        for place, value in given.values.items()
    ]
    with replica_scope(replica):
        leaves, structure, result = given.traced(region, fn, parts, what, name, lifts=lifts)
    outputs = [leaf for leaf in leaves if isinstance(leaf, SymbolicTensor)]
    region.refuse_writes(label)
    if given.assigned:
        error = UnimplementedError(
            f"{label} assigns items of the argument {given.assigned[0]!r}, of which each replica has its own part, so "
            "the caller's would stay as it is; assign to a copy, gx.asarray(x, copy=True)"
        )
        raise at(error, user_location())
    states = list(region.states.values())
    written = [state for state in states if state.written]
    shared = [(outer, inner) for outer, inner in region.captures.values()]
    shared += [(state.variable.value(), state.entry) for state in states]
    results = [*outputs, *(state.current for state in written)]
    values = [*map(around.lift, given.values.values()), *(outer for outer, _ in shared)]
    in_axes = [*(given.axes[place] for place in given.values), *[None] * len(shared)]
    graph = region.close([*parts, *(inner for _, inner in shared)], results)
    _check_pins(graph, label)
    found = differing_outputs(graph, [axis is not None for axis in in_axes])
    check_law(graph, found)
    differs = [*found.outputs]
    for place, state in enumerate(written, len(outputs)):
        if isinstance(state.variable, CallState):
            differs[place] = True  # each replica reports whether it has failed
        elif differs[place]:
            _refuse_assignment(state.variable.name, region.assignments.get(state.variable.name))
    attrs = Attrs(
        devices=places.devices, groups=places.groups, axis=places.axis, in_axes=tuple(in_axes), differs=tuple(differs)
    )
    made = apply_all(REPLICAS, values, attrs, (reduced_once(graph, found),))
    _leave(around, [state.variable for state in written], made[len(outputs) :])
    supply = zip(made, differs, strict=True)
    found = [next(supply) if isinstance(leaf, SymbolicTensor) else (leaf, False) for leaf in leaves]
    return [leaf for leaf, _ in found], [different for _, different in found], structure, result


def refuse_pins(label: str) -> None:
    """Raises an error if a device scope pins what replicas make."""
    if context.device:
        error = UnimplementedError(f"{label} is called inside a device scope; call it outside")
        raise at(error, user_location())


def _part(type: TensorType, axis: int, groups: int) -> TensorType:
    shape = list(type.shape)
    shape[axis] //= groups
    return TensorType(tuple(shape), type.dtype, type.weak)


def _check_pins(graph: Graph, label: str) -> None:
    pinned = next((node for node in graph.walk() if node.device), None)
    if pinned is not None:
        error = UnimplementedError(f"{label} pins ops to {pinned.device}; take the pin out of it")
        raise at(error, pinned.location)


def _refuse_assignment(name: str, location: Location | None) -> None:
    error = InvalidArgumentError(
        f"Variable {name!r} is assigned a value that differs between replicas, but replicas share their variables; "
        "reduce it first, with gx.distribute.all_mean(...) or gx.pmean(...), or in a data-parallel step update it "
        "through an optimizer, which does"
    )
    raise at(error, location)


def _leave(around: Trace, variables: Sequence[Variable | CallState], values: Sequence[Tensor]) -> None:
    """Sets the new values of Variables, and the call states to those of the replica that failed first.

    Results of a failed replica reach others through collectives, so that they may fail later as well.
    """
    pairs = list(zip(variables, values, strict=True))
    for variable, value in pairs:
        if isinstance(variable, Variable):
            around.assign(variable, value)
    status = next((value for variable, value in pairs if variable.name == STATUS.name), None)
    if status is None:
        return
    # The program numbers its failures in order. Python's exceptions come first: they have negative numbers, in the
    # order
    # in which they were raised.
    python = apply(OPS["where"], (apply(OPS["less"], (status, np.int32(0))), np.int32(0), np.int32(_LATER)))
    rank = apply(OPS["add"], (apply(OPS["abs"], (status,)), python))
    rank = apply(OPS["where"], (apply(OPS["equal"], (status, np.int32(0))), np.int32(2 * _LATER - 1), rank))
    first = apply(OPS["argmin"], (rank,), Attrs(axis=None))
    first = apply(OPS["astype"], (first,), Attrs(dtype=INDEX.dtype))
    for variable, value in pairs:
        if isinstance(variable, CallState):
            around.assign(variable, value[first])
