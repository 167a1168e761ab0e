"""Arrays on several devices: where they meet, and how programs on them are launched.

JAX partitions a program over the devices that hold its arrays. Two things are graphc's: a Variable keeps its layout
when it is assigned, and on simulated CPU devices one program at a time is in flight, because XLA's collectives deadlock
there when many are (seen with 200 over 8 devices on 2 cores). Both need the long way of calls. From the first array on
several devices on, the short way of a call looks where its arrays are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import Any, Final, cast

import jax
import numpy as np
from jax.core import Tracer
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from graphc.base import SPREAD_ARRAYS, config, detours, set_detour
from graphc.core.context import SPREAD, set_slow
from graphc.ir import TensorType

__all__ = [
    "GROUP_AXIS",
    "forget_spread",
    "groups_of",
    "host_values",
    "in_fine_words",
    "in_turn",
    "is_elsewhere",
    "is_spread",
    "kept_layouts",
    "layout_text",
    "meeting_place",
    "mesh_text",
    "note_spread",
    "register_gathering",
    "register_turns",
    "type_text",
    "whole_on",
]

GROUP_AXIS: Final = "copy"
"""The axis of a mesh along which the devices of a group lie, which hold the same rows."""


def is_spread(array: Any) -> bool:
    """Returns True for an array on several devices."""
    return isinstance(array, jax.Array) and not isinstance(array, Tracer) and array.sharding.num_devices > 1


def meeting_place(arrays: Iterable[Any]) -> NamedSharding | None:
    """Finds where a program on these arrays runs if it takes several devices.

    Args:
      arrays: arrays, numbers, and None.

    Returns:
      The sharding of a copy on each of the devices that the most spread array is on; None if no array is on several.
    """
    found = [array for array in arrays if is_spread(array)]
    if not found:
        return None
    widest: Any = max(found, key=lambda array: array.sharding.num_devices)
    note_spread(widest.sharding)
    return _copies(widest)


def _copies(array: Any) -> NamedSharding:
    sharding = array.sharding
    if isinstance(sharding, NamedSharding):
        return whole_on(sharding.mesh)
    return NamedSharding(Mesh(np.array([*sharding.devices_indices_map(array.shape)]), ("device",)), P())


def whole_on(mesh: Any) -> NamedSharding:
    """Returns the sharding of a copy on each device of a mesh.

    JAX (0.10 and 0.11) reads each layout that XLA chooses by the mesh of the first input, and fails where that cannot
    say it. So the mesh of the copies, which mostly come first, is as fine as can be: it can say all layouts of
    :func:`groups_of` devices.
    """
    return NamedSharding(_fine(mesh)[0], P())


def in_fine_words(arrays: Sequence[Any]) -> tuple[int, Any] | None:
    """Finds the input whose layout must be said over the finest mesh, since others lie over another one.

    Args:
      arrays: those of a program, in the order of its inputs.

    Returns:
      The place of the first array that lies over a mesh, and the same array, in the same memory, over the finest; None
      where no array lies over groups of devices. See :func:`whole_on`.
    """
    places = [place for place, array in enumerate(arrays) if _has_mesh(array)]
    if not any(GROUP_AXIS in arrays[place].sharding.mesh.axis_names for place in places):
        return None
    sharding: NamedSharding = arrays[places[0]].sharding
    mesh, names = _fine(sharding.mesh)
    if mesh is sharding.mesh:
        return None

    def entry(axes: Any) -> Any:
        return tuple([name for axis in ((axes,) if isinstance(axes, str) else axes) for name in names[axis]])

    spec = P(*[None if axes is None else entry(axes) for axes in sharding.spec])
    return places[0], jax.device_put(arrays[places[0]], NamedSharding(mesh, spec))


def _has_mesh(array: Any) -> bool:
    return is_spread(array) and isinstance(array.sharding, NamedSharding)


@lru_cache(maxsize=64)
def _fine(mesh: Mesh) -> tuple[Mesh, dict[str, tuple[str, ...]]]:
    """Returns the mesh with each axis cut into axes of prime sizes, and the names of these."""
    sizes: list[int] = []
    names: dict[str, tuple[str, ...]] = {}
    for axis, size in mesh.shape.items():
        factors = _factors(size) or [size]
        names[axis] = tuple([axis if len(factors) == 1 else f"{axis}.{place}" for place in range(len(factors))])
        sizes += factors
    if len(sizes) == len(mesh.shape):
        return mesh, names
    return Mesh(mesh.devices.reshape(sizes), [name for parts in names.values() for name in parts]), names


def _factors(number: int) -> list[int]:
    """Returns the prime factors of a number, the smallest first; none of 1."""
    divisor = next((divisor for divisor in range(2, number) if number % divisor == 0), number)
    return [] if number == 1 else [divisor, *_factors(number // divisor)]


def groups_of(devices: int, rows: int) -> int:
    """Returns how many groups of devices divide the rows of a batch, each with as many devices as the others.

    It is the greatest common divisor, but for numbers of devices that are no power of a prime: of six, three groups of
    two cannot be said by the mesh of two groups of three.
    """
    groups = 1
    for factor in _factors(devices):
        if rows % (groups * factor):
            break
        groups *= factor
    return groups


def note_spread(sharding: Any) -> None:
    """Has calls look where their arrays are from here on, since there are some with this sharding."""
    if sharding.num_devices > 1 and SPREAD_ARRAYS not in detours:
        set_detour(SPREAD_ARRAYS, "arrays are on several devices", active=True)
        if next(iter(sharding.device_set)).platform == "cpu":
            set_slow(SPREAD, enabled=True)


def type_text(aval: Any) -> str:
    """Says what JAX knows of an array before it runs: its type, and the mesh of those on several devices."""
    type = str(TensorType(tuple(aval.shape), aval.dtype, aval.weak_type))
    mesh = aval.sharding.mesh
    return type if mesh.empty else f"{type} over {mesh_text(mesh)}"


def mesh_text(mesh: Any) -> str:
    """Returns a mesh in words: the sizes of its axes.

    Example:
      >>> mesh_text(jax.make_mesh((1,), ("data",)))
      'data=1'
    """
    return ", ".join(f"{name}={size}" for name, size in mesh.shape.items())


def layout_text(sharding: Any) -> str:
    """Says how an array lies on several devices; empty for one device."""
    if sharding.num_devices == 1:
        return ""
    if sharding.is_fully_replicated:
        return f"whole on each of {sharding.num_devices} devices"
    if not isinstance(sharding, NamedSharding):
        return f"split over {sharding.num_devices} devices"
    parts = ["*".join(cast("Any", part)) if isinstance(part, tuple) else part or "-" for part in sharding.spec]
    return f"split ({', '.join(parts)}) over {mesh_text(sharding.mesh)}"


def forget_spread() -> None:
    """Lets calls take the short way again; for tests, after which no array is on several devices."""
    set_detour(SPREAD_ARRAYS, "", active=False)
    set_slow(SPREAD, enabled=False)


Turns = Callable[[str, Callable[[], Any], int], Any]
_turns: Turns | None = None


def register_turns(turns: Turns) -> None:
    """Says how programs are launched one at a time; the lowering, a layer above, calls this once.

    Args:
      turns: takes a name for messages, the launch, and how many may be in flight; returns what the launch returns.
    """
    global _turns
    _turns = turns


def in_turn(name: str, launch: Callable[[], Any], sharding: Any) -> Any:
    """Launches a program that runs where a sharding says; on simulated devices once the one before it is done."""
    if _turns is None or sharding.num_devices == 1 or next(iter(sharding.device_set)).platform != "cpu":
        return launch()
    return _turns(name, launch, config.max_in_flight or 1)


Meeting = Callable[[str], None]
_meeting: Meeting | None = None


def register_gathering(meeting: Meeting) -> None:
    """Says how the processes that run a program together meet before they gather an array; a layer above calls this.

    Args:
      meeting: takes what they are about to do; raises if the others do something else.
    """
    global _meeting
    _meeting = meeting


def is_elsewhere(array: Any) -> bool:
    """Returns True for an array of which this process holds a part, and others the rest."""
    return isinstance(array, jax.Array) and not (array.is_fully_addressable or array.is_fully_replicated)


def host_values(array: Any) -> np.ndarray[Any, Any]:
    """Returns the values of an array; all processes call this together where it is split over them."""
    try:
        return np.asarray(array)
    except RuntimeError:
        if not is_elsewhere(array):
            raise
    if _meeting is not None:
        _meeting("the gathering of values that are split over the processes")
    copies = _copies(array)
    return np.asarray(in_turn("gather", lambda: jax.device_put(array, copies), copies))


def kept_layouts(new: Sequence[Any], old: Sequence[Any]) -> list[Any]:
    """New values of Variables, laid out as the old ones are where those are on several devices."""
    return [
        jax.device_put(value, before.sharding)
        if is_spread(before) and isinstance(value, jax.Array) and value.sharding != before.sharding
        else value
        for value, before in zip(new, old, strict=True)
    ]
