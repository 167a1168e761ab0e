"""What programs cost: what devices exchange, memory, and time, in numbers and in words."""

from graphc.compiler.runtime.costs.node_costs import (
    Memory,
    Moment,
    NodeCost,
    bytes_of,
    live_bytes,
    memory_of,
    node_costs,
)
from graphc.compiler.runtime.costs.times import (
    CollectiveReport,
    DeviceTime,
    collectives_of,
    device_times,
    have_groups,
    node_times,
)
from graphc.compiler.runtime.costs.units import (
    PrintedReport,
    format_bytes,
    format_seconds,
    plain_table,
    three_digits,
    unit_of,
)

__all__ = [
    "CollectiveReport",
    "DeviceTime",
    "Memory",
    "Moment",
    "NodeCost",
    "PrintedReport",
    "bytes_of",
    "collectives_of",
    "device_times",
    "format_bytes",
    "format_seconds",
    "have_groups",
    "live_bytes",
    "memory_of",
    "node_costs",
    "node_times",
    "plain_table",
    "three_digits",
    "unit_of",
]
