"""TensorFlow's device lists, and the choice of visible devices."""

from __future__ import annotations

from typing import Any, NamedTuple

from graphc.compiler.base import at, config, user_location
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.devices.device import device_name, devices

__all__ = ["ListedDevice", "list_devices", "set_visible_devices"]


class ListedDevice(NamedTuple):
    """TensorFlow's description of a device.

    Attributes:
      name: the device's name, such as ``/device:GPU:0``, which ``gx.device`` accepts.
      device_type: ``CPU``, ``GPU``, ``TPU``.
    """

    name: str
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
        error = UnimplementedError(
            f"set_visible_devices: only GPUs can be hidden, not {device_type}s; GRAPHC_CPU_DEVICES sets the number "
            "of CPUs"
        )
        raise at(error, user_location())
    config.visible_devices = [int(entry.name.split(":")[2]) for entry in entries if entry.device_type == "GPU"]
