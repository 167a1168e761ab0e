"""The machine's devices, their settings, and the pinning of ops to them."""

from graphc.compiler.devices.device import (
    NO_PINS,
    Device,
    DeviceFunction,
    ListedDevice,
    Pins,
    all_devices,
    canonical_device,
    common_name,
    device_name,
    devices,
    find_common,
    find_device,
    is_device,
    laid_out,
    list_devices,
    local_devices,
    named_device,
    on_one,
    placed,
    say_once,
    set_visible_devices,
    shard_on,
    simulate_cpu_devices,
    to_device,
)
from graphc.compiler.devices.settings import has_made_devices, leave_threads_behind, refuse_to_compile

__all__ = [
    "NO_PINS", "Device", "DeviceFunction", "ListedDevice", "Pins", "all_devices", "canonical_device", "common_name",
    "device_name", "devices", "find_common", "find_device", "has_made_devices", "is_device", "laid_out",
    "leave_threads_behind", "list_devices", "local_devices", "named_device", "on_one", "placed", "refuse_to_compile",
    "say_once", "set_visible_devices", "shard_on", "simulate_cpu_devices", "to_device",
]  # fmt: skip
