"""``pmap``: runs one function on several devices."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import Any

from graphc.compiler.base import at, nest, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import FUNCTIONS, context, converted, replica_scope
from graphc.compiler.devices import all_devices, common_name, find_device
from graphc.compiler.function import Mapped, MappedArguments, SameFunction, axes_of_results
from graphc.compiler.ops import REPLICA_AXIS
from graphc.compiler.tracing import is_tracing
from graphc.training.distribute.axes import Replica
from graphc.training.distribute.processes import check_joined
from graphc.training.distribute.replicated import Places, emit_replicas

__all__ = ["found_devices", "pmap", "refuse_nested"]


def pmap(
    fn: Callable[..., Any], axis_name: str | None = None, *, in_axes: Any = 0, out_axes: Any = 0,
    devices: Sequence[Any] | None = None,
) -> Callable[..., Any]:  # fmt: skip
    """Maps a function over devices: each device runs it for one row of the arguments, in parallel (``jax.pmap``).

    The result is compiled, even in eager code. It can be called in compiled functions, differentiated, and mapped by
    :func:`vmap`. The replicas communicate through :func:`psum` and other collectives. Variables are on all devices; a
    replica may assign only values that are the same on all replicas, such as results of :func:`pmean`. Each replica
    draws its own random numbers, all from one step of the generator.

    Args:
      fn: a function of one row of each argument.
      axis_name: the name of the replica axis in collectives.
      in_axes: the row axis of each argument, see :func:`vmap`; None for an argument that all replicas share.
      out_axes: the row axis of each result, see :func:`vmap`; None for a result that is the same on all replicas.
      devices: names such as ``"gpu:0"`` or ``jax.Device`` objects, at least as many as there are rows; all of the
        default platform when None. The first ones are used.

    Returns:
      The function of all rows.

    Raises:
      InvalidTypeError: ``fn`` is not a function; otherwise see :func:`vmap`.
      InvalidArgumentError: a device is named twice; when called: there are more rows than devices, a result with
        ``out_axes`` None or a value assigned to a Variable differs between replicas; otherwise see :func:`vmap`.
      NotFoundError: a device does not exist.
      UnimplementedError: called in the function of another pmap or in a device scope, or its function pins ops.

    Example:
      >>> import graphc as gx
      >>> share = gx.pmap(lambda x: x / gx.psum(x, "i"), axis_name="i")
      >>> share(gx.asarray([5.0])).tolist()
      [1.0]
    """
    if not callable(fn):
        raise at(InvalidTypeError(f"pmap: expected a function, got {fn!r:.60}"), user_location())
    names = found_devices("pmap", devices)
    axis = REPLICA_AXIS if axis_name is None else axis_name
    try:
        compiled = _kept(SameFunction(fn), axis, in_axes, out_axes, names)
    except TypeError:  # an argument is not hashable
        compiled = _made(fn, axis, in_axes, out_axes, names)

    @functools.wraps(fn)
    def mapped(*args: Any, **kwargs: Any) -> Any:
        return compiled(*args, **kwargs)

    return mapped


def found_devices(what: str, given: Sequence[Any] | None) -> tuple[str, ...]:
    """Returns the names of devices; None means all of the default platform, including those of other processes.

    Raises:
      FailedPreconditionError: ``jax.distributed`` is on, but ``gx.distribute.initialize`` was not called.
      NotFoundError: a device does not exist.
      InvalidArgumentError: there is no device, or a device is named twice.
    """
    check_joined()
    found = all_devices() if given is None else [find_device(device) for device in given]
    if not found or len(set(found)) < len(found):
        error = InvalidArgumentError(f"{what}: devices must be one or more different devices, got {given!r}")
        raise at(error, user_location())
    return tuple(map(common_name, found))


@lru_cache(maxsize=64, typed=True)
def _kept(same: SameFunction, axis: str, in_axes: Any, out_axes: Any, names: tuple[str, ...]) -> Mapped:
    return _made(same.fn, axis, in_axes, out_axes, names)


def _made(fn: Callable[..., Any], axis: str, in_axes: Any, out_axes: Any, names: tuple[str, ...]) -> Mapped:
    label = str(getattr(fn, "__name__", type(fn).__name__))
    return Mapped(partial(_on_devices, fn, axis, in_axes, out_axes, names), on_retrace="ignore", name=label)


def _on_devices(
    fn: Callable[..., Any], axis: str, in_axes: Any, out_axes: Any, names: tuple[str, ...], /, *args: Any, **kwargs: Any
) -> Any:
    label = str(getattr(fn, "__name__", type(fn).__name__))
    given = MappedArguments.of("pmap", label, in_axes, args, kwargs)
    if given.size > len(names) or not given.size:
        error = InvalidArgumentError(
            f"pmap: {label!r} is mapped over {given.size} rows, and there are {len(names)} devices; give each device "
            "one row, of which gx.vmap maps another function over more"
        )
        raise at(error, user_location())
    refuse_nested("pmap", label)
    if not is_tracing():  # for the Variables that it makes
        rows = {place: FUNCTIONS["take"](value, 0, axis=given.axes[place]) for place, value in given.values.items()}
        positional, named = given.rebuilt(rows)
        with replica_scope(Replica(axis, given.size, averages=False, rehearsed=True)):
            fn(*positional, **named)
        return None

    def row(*args: Any, **kwargs: Any) -> Any:
        parts, structure = nest.flatten((args, kwargs))
        for place, split in given.axes.items():
            parts[place] = FUNCTIONS["squeeze"](parts[place], axis=split)
        positional, named = nest.unflatten(structure, parts)
        return converted(fn)(*positional, **named)

    places = Places(names[: given.size], given.size, axis)
    replica = Replica(axis, given.size, averages=False)
    results, differs, structure, result = emit_replicas(row, given, places, replica, "pmap", label)
    one = [value[0] if different else value for value, different in zip(results, differs, strict=True)]
    wanted = axes_of_results("pmap", out_axes, result, one)
    return nest.unflatten(structure, list(map(_laid_out, results, differs, wanted, [given.size] * len(results))))


def refuse_nested(what: str, name: str) -> None:
    """Raises an error for replicas inside replicas."""
    if isinstance(context.replica, Replica):
        error = InvalidArgumentError(
            f"{what}: {name!r} is called on one replica of another function that runs on several devices; map over all "
            "devices at once, and use gx.vmap inside"
        )
        raise at(error, user_location())


def _laid_out(value: Any, differs: bool, axis: int | None, size: int) -> Any:
    """Returns a result with the replicas along an axis, or the common one."""
    if axis is None:
        if differs:
            error = InvalidArgumentError(
                "pmap: a result with out_axes=None differs between replicas; reduce it, with gx.pmean or another "
                "collective, or give it an axis"
            )
            raise at(error, user_location())
        return value
    if not differs:
        value = FUNCTIONS["broadcast_to"](value, (size, *value.shape))
    return value if axis == 0 else FUNCTIONS["moveaxis"](value, 0, axis)
