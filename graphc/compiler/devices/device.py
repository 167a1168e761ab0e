"""Physical devices by name, and simulated CPU devices.

This process is ``/job:localhost/replica:0/task:0``, and there is no other. ``GRAPHC_CPU_DEVICES=8`` splits the CPU into
eight devices, to try data-parallel programs on one machine. It is read when graphc is imported, before JAX makes its
devices.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from types import MethodType
from typing import Any, Final, NamedTuple, Protocol, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.sharding import Sharding

from graphc.compiler.base import Location, config, user_location
from graphc.compiler.base.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    InvalidTypeError,
    NotFoundError,
    UnimplementedError,
)
from graphc.compiler.ir import DeviceSpec

_TASK = DeviceSpec("localhost", 0, 0)
_CPU = "/device:CPU:0"
_KINDS = ("CPU", "GPU", "TPU")
"""The types of JAX's devices, whether present or not; plug-ins add more."""


class Device(Protocol):
    """The attributes of a physical device; every ``jax.Device`` has them (which type checkers cannot see)."""

    @property
    def id(self) -> int:
        """The device's number among those of its platform, over all processes."""
        ...

    @property
    def platform(self) -> str:
        """The platform: ``cpu``, ``gpu`` or ``tpu``."""
        ...

    @property
    def device_kind(self) -> str:
        """The device's model."""
        ...

    @property
    def process_index(self) -> int:
        """The process that the device belongs to."""
        ...

    def memory_stats(self) -> dict[str, int] | None:
        """Returns the device's memory statistics in bytes, if the platform provides them."""
        ...


def simulate_cpu_devices() -> None:
    """Applies ``GRAPHC_CPU_DEVICES``."""
    text = os.environ.get("GRAPHC_CPU_DEVICES")
    if not text:
        return
    if not text.isdigit() or int(text) < 1:
        raise InvalidArgumentError(f"GRAPHC_CPU_DEVICES must be a positive number, got {text!r}")
    try:
        jax.config.update("jax_num_cpu_devices", int(text))
    except RuntimeError as error:
        raise FailedPreconditionError(
            f"GRAPHC_CPU_DEVICES={text} comes too late: JAX made its devices before graphc was imported"
        ) from error


def devices(kind: str | None = None) -> tuple[Device, ...]:
    """Returns the devices of this process: those of the default platform first, then the CPU's.

    Args:
      kind: a type such as ``"gpu"``, in any case, to return only its devices; None for all.

    Returns:
      The JAX devices; ``str(device)`` names each.

    Raises:
      InvalidArgumentError: there is no such type.
      InvalidTypeError: ``kind`` is not a string.

    Example:
      >>> devices("cpu")[0].platform
      'cpu'
    """
    by_name = _by_name()
    if kind is None:
        return tuple(by_name.values())
    if not isinstance(kind, str):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InvalidTypeError(f"gx.devices: expected a device type such as 'gpu', or None, got {kind!r:.60}").here()
    wanted = _kind(kind)
    kinds = dict.fromkeys((*_KINDS, *(name.split(":")[1] for name in by_name)))
    if wanted not in kinds:
        types = ", ".join(repr(name.lower()) for name in kinds)
        raise InvalidArgumentError(f"gx.devices: there is no device type {kind!r}; the types are {types}").here()
    return tuple([device for name, device in by_name.items() if name.split(":")[1] == wanted])


def local_devices() -> list[Device]:
    """Returns this process's devices of the default platform."""
    platform = devices()[0].platform
    return [device for device in devices() if device.platform == platform]


def all_devices() -> list[Device]:
    """Returns the default platform's devices of all processes, in the same order everywhere, process 0 first."""
    if jax.process_count() == 1:
        return local_devices()
    return sorted(cast("list[Device]", jax.devices()), key=lambda device: (device.process_index, device.id))


@lru_cache(maxsize=1)
def _by_name() -> dict[str, Device]:
    """Returns the devices by canonical name."""
    local = cast("Any", jax.local_devices)
    own: list[Device] = list(local())
    if own[0].platform != "cpu":
        own.extend(local(backend="cpu"))
    named: dict[str, Device] = {}
    for device in own:
        kind = _kind(device.platform)
        index = sum(name.split(":")[1] == kind for name in named)
        named[f"/device:{kind}:{index}"] = device
    return named


@lru_cache(maxsize=1)
def _names() -> dict[Device, str]:
    return {device: name for name, device in _by_name().items()}


def _kind(platform: str) -> str:
    """Returns the device type in specs for a JAX platform."""
    return {"CUDA": "GPU", "ROCM": "GPU"}.get(platform.upper(), platform.upper())


def device_name(device: Device) -> str:
    """Returns the canonical name of a physical device, such as ``/device:CPU:0``."""
    return _names().get(device) or _name_elsewhere(device)


@lru_cache
def _name_elsewhere(device: Device) -> str:
    """Returns the name of a device of another process."""
    everywhere = cast("Any", jax.devices)
    others: list[Device] = [
        other for other in everywhere(device.platform) if other.process_index == device.process_index
    ]
    index = others.index(device) if device in others else device.id
    return f"/task:{device.process_index}/device:{_kind(device.platform)}:{index}"


def is_device(name: str) -> bool:
    """Returns True if a canonical name is that of a device of this process."""
    return name in _by_name()


def common_name(device: Device) -> str:
    """Returns the name of a device that all processes of a program share; with one process, the canonical one."""
    return device_name(device) if jax.process_count() == 1 else _name_elsewhere(device)


def find_common(name: str) -> Device:
    """Returns the device with a :func:`common_name`; the error for none lists this process's devices."""
    if jax.process_count() == 1:
        return find_device(name)
    matching = next((device for device in all_devices() if _name_elsewhere(device) == name), None)
    return find_device(name) if matching is None else matching


def named_device(spec: DeviceSpec, location: Location | None = None) -> str:
    """Returns the canonical name of the device that a spec names, whether or not it exists; open fields are 0."""
    for part, said, here in (
        ("job", spec.job, _TASK.job), ("replica", spec.replica, _TASK.replica), ("task", spec.task, _TASK.task)
    ):  # fmt: skip
        if said is not None and said != here:
            raise NotFoundError(
                f"there is no device {spec}: this process is {_TASK}, which is not part of a cluster; "
                f"leave out the {part}"
            ).at(location or user_location())
    kind = spec.device_type or devices()[0].platform
    return f"/device:{_kind(kind)}:{spec.device_index or 0}"


def canonical_device(spec: str | DeviceSpec | Device, location: Location | None = None, *, quiet: bool = False) -> str:
    """Returns the name of the physical device for a spec; see :func:`find_device`."""
    return device_name(find_device(spec, location, quiet=quiet))


def find_device(spec: str | DeviceSpec | Device, location: Location | None = None, *, quiet: bool = False) -> Device:
    """Returns the physical device that a spec names; an omitted index means 0.

    With ``gx.config.soft_placement``, the first CPU replaces a device that does not exist; each line reports it once.

    Args:
      quiet: whether the fallback to the CPU was already reported when the scope was opened.
    """
    existing = _by_name().get(spec) if isinstance(spec, str) else None  # most are canonical
    if existing is not None:
        return existing
    if not isinstance(spec, str | DeviceSpec):
        if isinstance(spec, jax.Device):
            return spec
        message = f"expected a device such as 'gpu:0', a gx.DeviceSpec or one of gx.devices(), got {spec!r:.60}"
        raise InvalidTypeError(message).at(location or user_location())
    name = named_device(DeviceSpec.parse(spec) if isinstance(spec, str) else spec, location)
    existing = _by_name().get(name)
    if existing is not None:
        return existing
    location = location or user_location()
    names = ", ".join(_by_name())
    if config.soft_placement:
        if not quiet:
            say_once(f"there is no device {spec!s}, so {_CPU} is used; this process has {names}", location, name)
        return _by_name()[_CPU]
    message = f"there is no device {spec!s}; this process has {names}"
    raise NotFoundError(f"{message}. {_more_cpus(name)}gx.config.soft_placement = True falls back to the CPU").at(
        location
    )


def _more_cpus(name: str) -> str:
    """Returns how to simulate enough CPUs for the one that is asked for; empty for another kind of device."""
    kind, _, index = name.removeprefix("/device:").partition(":")
    if kind != "CPU":
        return ""
    count = int(index) + 1
    return f"Start Python with GRAPHC_CPU_DEVICES={count} in the environment to split the CPU into {count} devices; "


_log = logging.getLogger("graphc")
_said: set[tuple[str, Location | None]] = set()


def say_once(message: str, location: Location | None, key: str) -> None:
    """Logs a warning, once for each key and line of the user's code."""
    if (key, location) not in _said:
        _said.add((key, location))
        _log.warning("%s", message if location is None else f"{message}\n  at {location}")


def on_one(device: Device, compiled: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a compiled function that runs on a device, wherever its input arrays are."""

    def run(*arrays: Any, **static: Any) -> Any:
        fixed = [isinstance(array, jax.Array) and not isinstance(array, Tracer) for array in arrays]
        moved = [to_device(array, device) if stays else array for array, stays in zip(arrays, fixed, strict=True)]
        with jax.default_device(device):  # pyright: ignore[reportArgumentType]
            return compiled(*moved, **static)

    return run


def to_device(array: Any, device: Device) -> Any:
    """Returns the array on a device; see :func:`placed`."""
    return array if isinstance(array, jax.Array) and array.devices() == {device} else _moved(array, device)


def placed(array: jax.Array, sharding: Any) -> jax.Array:
    """Returns the array with a sharding: itself if it has the sharding already, else a copy."""
    # The result of ``jax.device_put`` may be another object with the same memory. A program that donates one of them,
    # to update a variable in place, would destroy the other.
    return array if array.sharding.is_equivalent_to(sharding, array.ndim) else _moved(array, sharding)


def laid_out(array: Any, sharding: Any) -> Any:
    """Returns the array with a sharding, which may include devices of several processes."""
    # Each process then has the whole value and passes its own devices their parts; JAX itself would first compare the
    # whole value across processes, each time.
    if sharding.is_fully_addressable or (isinstance(array, jax.Array) and not array.is_fully_addressable):
        return jax.device_put(array, sharding)
    host = np.asarray(array)
    host = host.astype(jax.dtypes.canonicalize_dtype(host.dtype), copy=False)
    return jax.make_array_from_callback(host.shape, sharding, lambda index: host[index])


def shard_on(array: jax.Array, device: Device) -> jax.Array | None:
    """Returns a device's part of a replicated array, without copying; None if it has none."""
    if not array.is_fully_replicated:
        return None
    return next((shard.data for shard in array.addressable_shards if shard.device == device), None)


def _moved(array: Any, target: Any) -> Any:
    if not isinstance(array, jax.Array):
        return jax.device_put(array, target)
    goals = cast("set[Any]", target.device_set if isinstance(target, Sharding) else {target})
    there = shard_on(array, next(iter(goals))) if len(goals) == 1 else None
    if there is not None:
        return jnp.array(there, copy=True)  # a tenth of the time on four devices
    if len(goals) == 1:
        # A program that copies it first would wait on its device for all programs before it.
        return jax.device_put(array, target, may_alias=False)
    copy = jnp.array(array, copy=True)  # JAX does not copy the part for a device that already has one
    return laid_out(copy, target) if isinstance(target, Sharding) else jax.device_put(copy, target)


# TensorFlow's device lists, and the choice of visible devices.


class ListedDevice(NamedTuple):
    """TensorFlow's description of a device."""

    name: str  # such as ``/device:GPU:0``, which ``gx.device`` accepts
    device_type: str


def list_devices(device_type: str | None = None, physical: bool = False) -> list[ListedDevice]:
    """Returns the devices, optionally only those of a type.

    Args:
      device_type: a type such as ``"GPU"``; None for all.
      physical: whether to name the machine's devices, ``/physical_device:GPU:0``.

    Example:
      >>> import graphc as gx
      >>> gx.list_devices("CPU")[0].name
      '/device:CPU:0'
    """
    names = [device_name(device) for device in devices(device_type)]
    return [
        ListedDevice(name.replace("/device", "/physical_device") if physical else name, name.split(":")[1])
        for name in names
    ]


def set_visible_devices(listed: Any, device_type: str | None = None) -> None:
    """Restricts this process to some of the GPUs of :func:`list_devices`; see :attr:`Config.visible_devices`.

    Args:
      listed: a device, or several.
      device_type: their type.

    Raises:
      UnimplementedError: devices of another type cannot be hidden.
      RuntimeError: the devices were already listed.
    """
    entries: list[ListedDevice] = [listed] if isinstance(listed, ListedDevice) else list(listed)
    if device_type not in (None, "GPU"):
        raise UnimplementedError(
            f"set_visible_devices: only GPUs can be hidden, not {device_type}s; GRAPHC_CPU_DEVICES sets the number "
            "of CPUs"
        ).here()
    config.visible_devices = [int(entry.name.split(":")[2]) for entry in entries if entry.device_type == "GPU"]


# Pins: the combined meaning of the enclosing device scopes.


class DeviceFunction:
    """A function that chooses devices; equal only to itself, whether or not the function is hashable."""

    # A compiled function keeps a trace for each set of scopes.

    __slots__ = ("_identity", "function", "later")

    def __init__(self, function: Callable[[Any], Any], *, later: bool = False) -> None:
        self.function = function
        self.later = later  # whether the devices that it names may be made later
        # A method is a new object at each attribute access.
        method = isinstance(function, MethodType)
        self._identity = (id(function.__self__), id(function.__func__)) if method else (id(function),)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DeviceFunction) and self._identity == other._identity

    def __hash__(self) -> int:
        return hash(self._identity)

    def __str__(self) -> str:
        return str(getattr(self.function, "__qualname__", type(self.function).__qualname__))


@dataclass(frozen=True, slots=True)
class Pins:
    """The enclosing device scopes; false if there are none.

    Attributes:
      layers: the scopes, outermost first.
      text: the device that their specs name, even if it does not exist; empty if they leave it open. Choices of
        functions do not count.
      around: the pins before the innermost scope was entered; None if they are not kept.
      bound: the device and description of the object that everything here is co-located with; None if there is none.
    """

    layers: tuple[DeviceSpec | DeviceFunction, ...] = ()
    text: str = field(default="", compare=False)
    around: Pins | None = field(default=None, compare=False, repr=False)
    bound: tuple[str, str] | None = field(default=None, compare=False)

    def __bool__(self) -> bool:
        return bool(self.layers)

    @property
    def asks(self) -> bool:
        """True if the scopes contain device functions."""
        for layer in self.layers:  # noqa: SIM110  each eager op in a scope asks, and any() takes three times as long
            if isinstance(layer, DeviceFunction):
                return True
        return False

    @property
    def spec(self) -> DeviceSpec:
        """The merged spec of the scopes: inner specs take precedence, outer ones fill in what they leave open."""
        merged: DeviceSpec | None = None
        for layer in reversed(self.layers):
            if isinstance(layer, DeviceSpec):
                merged = layer if merged is None else layer.merge(merged)
        return DeviceSpec() if merged is None else merged

    def __str__(self) -> str:
        return ", then ".join(map(str, self.layers))


NO_PINS: Final = Pins()
