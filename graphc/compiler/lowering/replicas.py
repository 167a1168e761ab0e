"""The layout of the inputs and outputs of a graph with replicas."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import jax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import Variable, array_of, brought, finer_sharding, note_spread, variable_lock, whole_on
from graphc.compiler.devices import laid_out, placed
from graphc.compiler.ir import Graph, Node, Value
from graphc.compiler.ops import HOST_CALLS, REPLICAS, is_random_state, replica_mesh, replica_spec


@dataclass(frozen=True)
class ReplicaLayout:
    """The devices and shardings of the arrays of a graph with replicas."""

    home: NamedSharding  # with a copy on each device
    devices: tuple[str, ...]
    inputs: list[NamedSharding | None]  # the required ones; None where JAX decides
    outputs: list[NamedSharding]

    def said(self, sharding: Any) -> Any:
        """Returns a Variable's sharding in the program's terms."""
        return self.home if sharding.is_fully_replicated else sharding

    def placed(self, arrays: Sequence[Any]) -> list[Any]:
        """Moves device arrays to their required shardings; JAX moves host arrays."""
        # If several processes run the program, each has either the whole array or its part on its devices.
        pairs = zip(arrays, self.inputs, strict=True)
        if not self.home.is_fully_addressable:
            return [_of_processes(array, sharding or self.home) for array, sharding in pairs]
        return [
            array if sharding is None or not isinstance(array, jax.Array) else placed(array, sharding)
            for array, sharding in pairs
        ]


def _of_processes(array: Any, sharding: NamedSharding) -> Any:
    """Returns an input for a program of several processes; a number keeps its weak type."""
    if isinstance(array, bool | int | float | complex):
        return array
    if isinstance(array, jax.Array) and array.weak_type and array.ndim == 0 and array.is_fully_addressable:
        return array.item()
    return laid_out(array, sharding)


def replica_layout(graph: Graph) -> ReplicaLayout | None:
    """Returns the layout of a graph with replicas; None for other graphs."""
    # JAX reads every layout that XLA chooses in terms of the mesh of the first input, and fails if it is one of groups
    # of devices. If there are such groups, XLA chooses no layout, and values that differ between groups are left on
    # every device.
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
    shardings = [next(iter(options)) if len(options) == 1 else None for options in wanted]
    return ReplicaLayout(
        home,
        names,
        [sharding or home if grouped else sharding for sharding in shardings],
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
        raise UnimplementedError(
            f"{problem}: one program runs on one set of devices; compile them as separate functions"
        ).at(node.location)


# Moves the arguments and Variables of a program on several devices to these devices.


@contextmanager
def together(sharding: Any, arrays: Sequence[Any], variables: Sequence[Variable]) -> Generator[Sequence[Any]]:
    """Copies arrays that are not on a program's devices to each of them; yields the inputs, on the devices."""
    # Variables stay there for the next step. Random states move back: draws run where the state is, and so do the ops
    # on their results.
    if sharding is None:
        yield arrays
        return
    devices = sharding.device_set
    if _are_there(devices, arrays, variables):
        operands = list(arrays)
        with _over_finer_mesh(variables, operands):
            yield operands
        return
    away = [variable for variable in variables if variable.raw.sharding.device_set != devices]
    states = [variable for variable in away if is_random_state(variable)]
    with variable_lock:
        for variable in away:
            if not is_random_state(variable):
                variable.raw = placed(variable.raw, sharding)
    fixed = [isinstance(array, jax.Array) and array.sharding.device_set != devices for array in arrays]
    operands = [placed(array, sharding) if moved else array for array, moved in zip(arrays, fixed, strict=True)]
    with brought(states, sharding), _over_finer_mesh(variables, operands):
        yield operands


def _are_there(devices: Any, arrays: Sequence[Any], variables: Sequence[Variable]) -> bool:
    """Returns True if everything is on these devices; keeps no reference to Variables' arrays, which are donated."""
    present = [array for array in (*map(array_of, variables), *arrays) if isinstance(array, jax.Array)]
    # By identity first, since there are mostly few objects: comparing devices takes longer.
    layouts = {id(layout): layout for layout in [array.sharding for array in present]}
    return all(layout.device_set == devices for layout in layouts.values())


@contextmanager
def _over_finer_mesh(variables: Sequence[Variable], operands: list[Any]) -> Generator[None]:
    """Expresses the first input over the finest mesh inside the scope, if necessary."""
    with variable_lock:  # so that another thread's assignment is not lost
        finer = finer_sharding([*map(array_of, variables), *operands])
        index, array = cast("tuple[int, Any]", finer or (-1, None))
        variable = variables[index] if 0 <= index < len(variables) else None
        before = None if variable is None else array_of(variable).sharding
        if variable is not None:
            variable.raw = array
        elif index >= 0:
            operands[index - len(variables)] = array
    finer = array = None  # it may be donated
    try:
        yield
    finally:
        if variable is not None:
            with variable_lock:
                variable.raw = jax.device_put(variable.raw, before)


# Fully sharded parameters, split over the devices of the batch: each op that uses one gathers it temporarily.
#
# This is FSDP (Rajbhandari and others, ZeRO, 2020). The backward pass gathers a parameter again, so that a device never
# holds more than its part of all parameters and one whole parameter.

BATCH_AXES: dict[Mesh, str] = {}
"""The axis of each mesh along which batches are split, registered by ``distribute``."""


@dataclass(frozen=True, slots=True)
class Split:
    """The layouts of a parameter: while it is not used, and where it is."""

    kept: NamedSharding
    used: NamedSharding


def splits(names: Sequence[str], layouts: Sequence[Any]) -> dict[str, Split]:
    """Returns, by name, the layouts of the Variables that are split over the devices of the batch."""
    by_name: dict[str, Split] = {}
    for name, layout in zip(names, layouts, strict=True):
        if isinstance(layout, NamedSharding) and layout.mesh in BATCH_AXES:
            spec = P(*[_without(part, BATCH_AXES[layout.mesh]) for part in layout.spec])
            if spec != layout.spec:
                by_name[name] = Split(layout, NamedSharding(layout.mesh, spec))
    return by_name


def _without(part: Any, axis: str) -> Any:
    """Returns the partition of one array axis without one axis of the mesh."""
    axes = cast("tuple[Any, ...]", part) if isinstance(part, tuple) else (part,)
    names = [name for name in axes if name not in (axis, None)]
    return tuple(names) if len(names) > 1 else names[0] if names else None


def gathering(function: Callable[..., Any], layouts: Mapping[int, Split]) -> Callable[..., Any]:
    """Returns the function with some inputs gathered first, and gathered again in its derivative."""

    def gathered(*inputs: Any) -> Any:
        operands = [
            _gathered(value, layouts[index]) if index in layouts else value for index, value in enumerate(inputs)
        ]
        return function(*operands)

    return cast("Any", jax.checkpoint)(gathered)


def _gathered(value: Any, split: Split) -> Any:
    lay_out = cast("Any", jax.lax.with_sharding_constraint)
    return lay_out(lay_out(value, split.kept), split.used)  # both, so that its gradient is split in the same way
