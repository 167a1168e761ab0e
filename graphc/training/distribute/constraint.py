"""``shard``: an op that fixes the layout of a tensor on a mesh for XLA."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeAlias, cast

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    UnimplementedError,
)
from graphc.compiler.core import ArrayLike, Tensor, apply, context, mesh_text, note_spread
from graphc.compiler.devices import device_name, devices, find_device
from graphc.compiler.ir import OPS, Attrs, Graph, OpDef, TensorType
from graphc.compiler.ops import asarray
from graphc.compiler.tracing import ReadGuard, attribute, fixed, is_tracing, reads_here

__all__ = ["SHARD", "Axes", "current", "named", "shard"]

Axes: TypeAlias = Sequence[str | tuple[str, ...] | None]


class _Current(threading.local):
    """The current mesh of each thread, set by sharding scopes.

    Attributes:
      mesh: the mesh of the innermost scope.
    """

    mesh: Mesh | None = None


current = _Current()


def named(mesh: Mesh, axes: Any, shape: Sequence[int] | None, what: str) -> NamedSharding:
    """Makes a sharding from axis names.

    Args:
      mesh: the devices.
      axes: for each axis of the array, the name of a mesh axis, a tuple of several, or None.
      shape: the shape of the array; None where that is not known yet.
      what: a description of the array, for messages.

    Raises:
      InvalidArgumentError: the mesh has no such axis, one is named twice, or the array cannot be divided so.
      InvalidTypeError: ``axes`` has another type.
    """
    if not isinstance(axes, tuple | list | P):
        message = f"{what}: expected a tuple with the name of a mesh axis or None for each axis, got {axes!r:.60}"
        raise at(InvalidTypeError(message), user_location())
    given: list[Any] = list(cast("Any", axes))
    parts = list(map(_names, given))
    names = [name for part in parts for name in part]
    problem = ""
    if unknown := [name for name in names if name not in mesh.axis_names]:
        problem = f"the mesh has no axis {unknown[0]!r}; it has {', '.join(map(repr, mesh.axis_names))}"
    elif len(set(names)) < len(names):
        problem = f"{tuple(given)} names an axis of the mesh twice"
    elif shape is not None and len(parts) > len(shape):
        problem = f"{tuple(given)} has more axes than the shape {tuple(shape)}"
    else:
        for place, (part, size) in enumerate(zip(parts, shape or (), strict=False)):
            count = int(np.prod([mesh.shape[name] for name in part]))
            if size % count:
                problem = (
                    f"axis {place} of shape {tuple(shape or ())} does not divide by the {count} devices along {part}"
                )
                break
    if problem:
        raise at(InvalidArgumentError(f"{what}: {problem}"), user_location())
    return NamedSharding(mesh, P(*given))


def _names(part: Any) -> tuple[Any, ...]:
    """Returns the mesh axes that one axis of an array is split over."""
    return () if part is None else cast("tuple[Any, ...]", part) if isinstance(part, tuple) else (part,)


def shard(x: ArrayLike, axes: Axes, *, mesh: Mesh | None = None) -> Tensor:
    """Fixes the layout of a tensor on the devices of a mesh, without changing its values.

    In a compiled function, XLA keeps this layout, and partitions everything else around it; gradients have the layout
    of the tensor. In tensor-parallel layers, it defines how activations are split.

    Args:
      x: a tensor.
      axes: for each axis, the name of the mesh axis that it is split over, a tuple of several, or None for whole; axes
        that are left out are whole.
      mesh: the devices; that of the scope around (:meth:`Sharding.scope`) when None.

    Raises:
      FailedPreconditionError: there is neither a mesh nor a sharding scope.
      InvalidArgumentError: the mesh has no such axis, or the tensor cannot be divided so.
      UnimplementedError: called in a step that runs on each replica separately.

    Example:
      >>> import graphc as gx
      >>> with gx.distribute.Sharding({"data": 1}).scope():
      ...     y = gx.distribute.shard(gx.ones((4, 2)), ("data", None))
      >>> y.sharding.num_devices
      1
    """
    if context.replica is not None:
        message = (
            "distribute.shard in a step that runs on each replica by itself, which sees its part alone; leave it out"
        )
        raise at(UnimplementedError(message), user_location())
    mesh = _current_mesh() if mesh is None else mesh
    x = asarray(x)
    sharding = named(mesh, axes, x.shape, "distribute.shard")
    if not is_tracing():
        note_spread(sharding)
    return apply(SHARD, (x,), Attrs(axes=tuple(axes), mesh=_text(mesh)))


def _current_mesh() -> Mesh:
    """Returns the mesh of the enclosing scope; a trace keeps it for calls without a scope."""
    mesh = current.mesh
    if mesh is None:
        message = "distribute.shard: which mesh? Call it inside `with sharding.scope():`, or give mesh="
        raise at(FailedPreconditionError(message), user_location())
    if (reads := reads_here()) is not None:
        source = attribute(fixed(current, "the scope of a sharding"), "mesh")
        guard = ReadGuard(source, "{v} is {0} or {v} is None", (mesh,), mesh_text(mesh))
        reads.add(guard)
    return mesh


def _text(mesh: Mesh) -> str:
    """Formats a mesh for a graph: its axes, and its devices unless they are the first of the default platform."""
    sizes = mesh_text(mesh)
    found = [*mesh.devices.flat]
    if found == [*devices()][: len(found)]:
        return sizes
    return f"{sizes} on {', '.join(device_name(device).removeprefix('/device:').lower() for device in found)}"


@lru_cache(maxsize=64)
def _mesh(text: str) -> Mesh:
    """Returns the mesh for a text from :func:`_text`."""
    sizes, _, names = text.partition(" on ")
    axes = dict(part.split("=") for part in sizes.split(", "))
    shape = tuple(map(int, axes.values()))
    found = [*map(find_device, names.split(", "))] if names else [*devices()][: int(np.prod(shape))]
    return Mesh(np.array(found).reshape(shape), tuple(axes))


def _shard(x: Any, *, axes: Axes, mesh: str) -> Any:
    return jax.lax.with_sharding_constraint(x, NamedSharding(_mesh(mesh), P(*axes)))


def _same(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    del attrs, regions
    return tuple(types)


SHARD = OPS.add(
    "distribute.shard",
    OpDef(
        "distribute.shard",
        impl=_shard,
        infer=_same,
        takes_open=True,
        params=("x",),
        doc="The tensor, laid out on a mesh of devices.",
    ),
)
