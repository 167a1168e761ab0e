"""Devices as TensorFlow lists them, and which of them are used."""

from __future__ import annotations

from typing import Any, NamedTuple

from graphc.base import at, config, user_location
from graphc.base.errors import UnimplementedError
from graphc.devices.device import device_name, devices

__all__ = ["ListedDevice", "list_devices", "set_visible_devices"]


class ListedDevice(NamedTuple):
    """What TensorFlow tells of a device.

    Attributes:
      name: such as ``/device:GPU:0``, which ``gx.device`` takes.
      device_type: ``CPU``, ``GPU``, ``TPU``.
    """

    name: str
    device_type: str


def list_devices(device_type: str | None = None, physical: bool = False) -> list[ListedDevice]:
    """Returns the devices, or those of a type.

    Args:
      device_type: such as ``"GPU"``; all when None.
      physical: whether the names are those of the machine's devices, ``/physical_device:GPU:0``.

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
    """Has only these GPUs used; what :attr:`Config.visible_devices` does, by what :func:`list_devices` gives.

    Args:
      listed: devices, or one.
      device_type: of which type they are.

    Raises:
      UnimplementedError: devices of another type cannot be hidden.
      RuntimeError: devices have been asked for already.
    """
    entries: list[ListedDevice] = [listed] if isinstance(listed, ListedDevice) else list(listed)
    if device_type not in (None, "GPU"):
        error = UnimplementedError(
            f"set_visible_devices: GPUs can be hidden, {device_type}s cannot; GRAPHC_CPU_DEVICES says how many CPUs "
            "there are"
        )
        raise at(error, user_location())
    config.visible_devices = [int(entry.name.split(":")[2]) for entry in entries if entry.device_type == "GPU"]
