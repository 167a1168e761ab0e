"""Layer 5: what programs cost: what devices exchange, memory, and time, in numbers and in words."""

from graphc.costs.collectives import CollectiveReport, collectives_of, have_groups
from graphc.costs.device_times import DeviceTime, device_times
from graphc.costs.memory import Memory, memory_of
from graphc.costs.units import format_bytes, format_seconds, three_digits, unit_of

__all__ = [
    "CollectiveReport",
    "DeviceTime",
    "Memory",
    "collectives_of",
    "device_times",
    "format_bytes",
    "format_seconds",
    "have_groups",
    "memory_of",
    "three_digits",
    "unit_of",
]
