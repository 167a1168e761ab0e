"""Physical devices by name, and the number of simulated CPU devices.

``GRAPHC_CPU_DEVICES=8`` splits the CPU into eight devices, for trying data-parallel programs on one machine. It is
read when graphc is imported, before JAX makes its devices.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any, Protocol, cast

import jax
import jax.numpy as jnp

from graphc.base import at, user_location
from graphc.base.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError
from graphc.core.context import device_scope
from graphc.ir import DeviceSpec

__all__ = [
    "Device",
    "canonical_device",
    "device",
    "device_name",
    "devices",
    "find_device",
    "placed",
    "simulate_cpu_devices",
    "to_device",
]


class Device(Protocol):
    """What a physical device tells of itself; every ``jax.Device`` does (which type checkers cannot see)."""

    @property
    def id(self) -> int:
        """Its number among those of its platform, over all processes."""
        ...

    @property
    def platform(self) -> str:
        """``cpu``, ``gpu`` or ``tpu``."""
        ...

    @property
    def device_kind(self) -> str:
        """The model."""
        ...

    @property
    def process_index(self) -> int:
        """The process that it belongs to."""
        ...

    def memory_stats(self) -> dict[str, int] | None:
        """Its memory in bytes, where the platform tells."""
        ...


def simulate_cpu_devices() -> None:
    """Applies ``GRAPHC_CPU_DEVICES``.

    Raises:
      InvalidArgumentError: the variable is not a positive number.
      FailedPreconditionError: JAX made its devices already.
    """
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


@lru_cache(maxsize=1)
def devices() -> tuple[Device, ...]:
    """The devices of this process: those of the default platform first, then the CPU's.

    Returns:
      JAX devices; ``str(device)`` names each.
    """
    local = cast("Any", jax.local_devices)
    found: list[Device] = list(local())
    if found[0].platform != "cpu":
        found.extend(local(backend="cpu"))
    return tuple(found)


def device_name(device: Device) -> str:
    """The canonical name of a physical device, such as ``/device:CPU:0``.

    Example:
      >>> import jax
      >>> device_name(jax.devices("cpu")[0])
      '/device:CPU:0'
    """
    kind = "CPU" if device.platform == "cpu" else device.platform.upper()
    kind = {"CUDA": "GPU", "ROCM": "GPU"}.get(kind, kind)
    peers = [peer for peer in devices() if peer.platform == device.platform]
    return f"/device:{kind}:{peers.index(device)}"


def canonical_device(spec: str | DeviceSpec | Device) -> str:
    """The canonical text of a device spec.

    Raises:
      InvalidArgumentError: the spec is malformed.
      NotFoundError: no such device exists here; the message lists those that do.
    """
    return device_name(find_device(spec))


def find_device(spec: str | DeviceSpec | Device) -> Device:
    """The physical device that a spec names; an index left out means 0.

    Raises:
      InvalidArgumentError: the spec is malformed.
      NotFoundError: no such device exists here; the message lists those that do.
    """
    if not isinstance(spec, str | DeviceSpec):
        return spec
    parsed = DeviceSpec.parse(spec) if isinstance(spec, str) else spec
    wanted = (parsed.device_type or devices()[0].platform).upper()
    wanted = {"CUDA": "GPU", "ROCM": "GPU"}.get(wanted, wanted)
    name = f"/device:{wanted}:{parsed.device_index or 0}"
    for device in devices():
        if device_name(device) == name:
            return device
    known = ", ".join(device_name(device) for device in devices())
    raise at(NotFoundError(f"there is no device {spec!s}; this process has {known}"), user_location())


def to_device(array: Any, device: Device) -> Any:
    """The array on a device; see :func:`placed`."""
    return array if isinstance(array, jax.Array) and array.devices() == {device} else _moved(array, device)


def placed(array: jax.Array, sharding: Any) -> jax.Array:
    """The array with a sharding: itself when it has it already, else a copy.

    What ``jax.device_put`` returns may be another object with the same memory. A program that takes the one as its own,
    to update a variable in place, would destroy the other; so this copies first.
    """
    return array if array.sharding.is_equivalent_to(sharding, array.ndim) else _moved(array, sharding)


def _moved(array: Any, place: Any) -> Any:
    return jax.device_put(jnp.array(array, copy=True) if isinstance(array, jax.Array) else array, place)


def device(spec: str | DeviceSpec | None) -> AbstractContextManager[None]:
    """Pins the ops inside a ``with`` block, and the variables made there, to a device.

    Eager ops run there. In a compiled function all pins must name one device, where the whole function then runs; pins
    to several are refused.

    Args:
      spec: such as ``"gpu:0"``, ``"/device:CPU:1"``; None lifts the pins around.

    Raises:
      InvalidArgumentError: the spec is malformed.
      NotFoundError: there is no such device; the message lists those that exist.

    Example:
      >>> with device("cpu:0"):
      ...     pass
    """
    return device_scope("" if spec is None else canonical_device(spec))
