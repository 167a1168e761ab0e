"""Arrays on several devices: where programs on them run, and how these are launched.

JAX partitions a program over the devices that hold its arrays. graphc adds two things: a Variable keeps its layout when
it is assigned, and on simulated CPU devices one program at a time is in flight, because XLA's collectives deadlock when
many are (seen with 200 over 8 devices on 2 cores). Both need the slow path of calls. Once an array lies on several
devices, the fast path of a call checks where its arrays are.
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

from graphc.compiler.base import SPREAD_ARRAYS, config, set_slow_path_reason, slow_path_reasons
from graphc.compiler.core.context import SPREAD, set_slow
from graphc.compiler.core.waiting import in_flight
from graphc.compiler.ir import TensorType

GROUP_AXIS: Final = "copy"
"""The mesh axis along which the devices of a group, which hold the same rows, lie."""


def is_spread(array: Any) -> bool:
    """Returns True if an array is on several devices."""
    return isinstance(array, jax.Array) and not isinstance(array, Tracer) and array.sharding.num_devices > 1


def target_sharding(arrays: Iterable[Any]) -> NamedSharding | None:
    """Returns the sharding of a copy on each device of the most spread array; None if no array is on several."""
    spread = [array for array in arrays if is_spread(array)]
    if not spread:
        return None
    widest: Any = max(spread, key=lambda array: array.sharding.num_devices)
    note_spread(widest.sharding)
    return _copies(widest)


def _copies(array: Any) -> NamedSharding:
    sharding = array.sharding
    if isinstance(sharding, NamedSharding):
        return whole_on(sharding.mesh)
    return NamedSharding(Mesh(np.array([*sharding.devices_indices_map(array.shape)]), ("device",)), P())


def whole_on(mesh: Any) -> NamedSharding:
    """Returns the sharding that places a full copy on each device of a mesh."""
    # JAX (0.10 and 0.11) reads every layout that XLA chooses in terms of the mesh of the first input, mostly of a copy,
    # and fails if that mesh cannot express it. So this mesh is as fine as possible: it expresses all layouts of
    # `groups_of`.
    return NamedSharding(_fine(mesh)[0], P())


def finer_sharding(arrays: Sequence[Any]) -> tuple[int, Any] | None:
    """Returns the position of the first array on a mesh, and it over the finest mesh; None if no mesh has groups."""
    # The array stays in the same memory. Other inputs lie over another mesh, see :func:`whole_on`.
    indices = [index for index, array in enumerate(arrays) if _has_mesh(array)]
    if not any(GROUP_AXIS in arrays[index].sharding.mesh.axis_names for index in indices):
        return None
    sharding: NamedSharding = arrays[indices[0]].sharding
    mesh, names = _fine(sharding.mesh)
    if mesh is sharding.mesh:
        return None

    def entry(axes: Any) -> Any:
        return tuple([name for axis in ((axes,) if isinstance(axes, str) else axes) for name in names[axis]])

    spec = P(*[None if axes is None else entry(axes) for axes in sharding.spec])
    return indices[0], jax.device_put(arrays[indices[0]], NamedSharding(mesh, spec))


def _has_mesh(array: Any) -> bool:
    return is_spread(array) and isinstance(array.sharding, NamedSharding)


@lru_cache(maxsize=64)
def _fine(mesh: Mesh) -> tuple[Mesh, dict[str, tuple[str, ...]]]:
    """Returns the mesh with each axis split into axes of prime sizes, and the names of these axes."""
    sizes: list[int] = []
    names: dict[str, tuple[str, ...]] = {}
    for axis, size in mesh.shape.items():
        factors = _factors(size) or [size]
        names[axis] = tuple([axis if len(factors) == 1 else f"{axis}.{index}" for index in range(len(factors))])
        sizes += factors
    if len(sizes) == len(mesh.shape):
        return mesh, names
    return Mesh(mesh.devices.reshape(sizes), [name for parts in names.values() for name in parts]), names


def _factors(number: int) -> list[int]:
    """Returns the prime factors of a number in ascending order; none for 1."""
    divisor = next((divisor for divisor in range(2, number) if number % divisor == 0), number)
    return [] if number == 1 else [divisor, *_factors(number // divisor)]


def groups_of(devices: int, rows: int) -> int:
    """Returns the number of equal groups of devices that divides the rows of a batch."""
    # The greatest common divisor, except for numbers of devices that are not prime powers: for six devices, the mesh of
    # two groups of three cannot express three groups of two.
    groups = 1
    for factor in _factors(devices):
        if rows % (groups * factor):
            break
        groups *= factor
    return groups


def note_spread(sharding: Any) -> None:
    """Makes calls check where their arrays are from now on, since some have this sharding."""
    if sharding.num_devices > 1 and SPREAD_ARRAYS not in slow_path_reasons:
        set_slow_path_reason(SPREAD_ARRAYS, "arrays are on several devices", active=True)
        if next(iter(sharding.device_set)).platform == "cpu":
            set_slow(SPREAD, enabled=True)


def type_text(aval: Any) -> str:
    """Returns JAX's type of an array before it runs as text, with the mesh of an array on several devices."""
    type = str(TensorType(tuple(aval.shape), aval.dtype, aval.weak_type))
    mesh = aval.sharding.mesh
    return type if mesh.empty else f"{type} over {mesh_text(mesh)}"


def mesh_text(mesh: Any) -> str:
    """Returns the sizes of a mesh's axes as text, such as ``data=2, model=4``."""
    return ", ".join(f"{name}={size}" for name, size in mesh.shape.items())


def layout_text(sharding: Any) -> str:
    """Returns the layout of an array over several devices as text; empty for one device."""
    if sharding.num_devices == 1:
        return ""
    if sharding.is_fully_replicated:
        return f"whole on each of {sharding.num_devices} devices"
    if not isinstance(sharding, NamedSharding):
        return f"split over {sharding.num_devices} devices"
    parts = ["*".join(cast("Any", part)) if isinstance(part, tuple) else part or "-" for part in sharding.spec]
    return f"split ({', '.join(parts)}) over {mesh_text(sharding.mesh)}"


def forget_spread() -> None:
    """Restores the fast path of calls; for tests, after which no array is on several devices."""
    set_slow_path_reason(SPREAD_ARRAYS, "", active=False)
    set_slow(SPREAD, enabled=False)


def serialize_launch(name: str, launch: Callable[[], Any], sharding: Any) -> Any:
    """Launches a program on a sharding's devices; on simulated devices it waits for the previous one."""
    if sharding.num_devices == 1 or next(iter(sharding.device_set)).platform != "cpu":
        return launch()
    return in_flight.launch(name, launch, config.max_in_flight or 1)


# The meetings of the processes of a program, which must all take the same step.

_before_program: Callable[[Any, Sequence[Any], Sequence[Any]], None] | None = None
_before_gathering: Callable[[str], None] | None = None


def register_meetings(
    before_program: Callable[[Any, Sequence[Any], Sequence[Any]], None], before_gathering: Callable[[str], None]
) -> None:
    """Sets the functions that synchronize the processes of a program, and raise if the others take another step.

    Args:
      before_program: takes the executable, its inputs and its Variables.
      before_gathering: takes a description of what gathers an array.
    """
    global _before_program, _before_gathering
    _before_program, _before_gathering = before_program, before_gathering


def sync_processes(executable: Any, sharding: Any, arrays: Sequence[Any], variables: Sequence[Any]) -> None:
    """Synchronizes with the other processes before a program on devices of several processes."""
    if _before_program is not None and sharding is not None and not sharding.is_fully_addressable:
        _before_program(executable, arrays, variables)


def is_elsewhere(array: Any) -> bool:
    """Returns True if other processes hold parts of an array."""
    return isinstance(array, jax.Array) and not (array.is_fully_addressable or array.is_fully_replicated)


def host_values(array: Any) -> np.ndarray[Any, Any]:
    """Returns the values of an array; if it is split over processes, all of them must call this together."""
    try:
        return np.asarray(array)
    except RuntimeError:
        if not is_elsewhere(array):
            raise
    if _before_gathering is not None:
        _before_gathering("the gathering of values that are split over the processes")
    copies = _copies(array)
    return np.asarray(serialize_launch("gather", lambda: jax.device_put(array, copies), copies))


def kept_layouts(new: Sequence[Any], old: Sequence[Any]) -> list[Any]:
    """Returns new values of Variables, laid out as the old ones if these are on several devices."""
    return [
        jax.device_put(value, before.sharding)
        if is_spread(before) and isinstance(value, jax.Array) and value.sharding != before.sharding
        else value
        for value, before in zip(new, old, strict=True)
    ]
