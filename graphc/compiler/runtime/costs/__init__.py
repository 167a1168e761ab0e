"""What programs cost: what devices exchange, memory, and time, in numbers and in words."""

from graphc.compiler.runtime.costs.node_costs import (
    Memory,
    NodeCost,
    PrintedReport,
    bytes_of,
    format_bytes,
    format_seconds,
    memory_of,
    node_costs,
    plain_table,
    three_digits,
    unit_of,
)
from graphc.compiler.runtime.costs.times import (
    CollectiveReport,
    DeviceTime,
    collectives_of,
    device_times,
    have_groups,
    node_times,
)

__all__ = [
    "CollectiveReport", "DeviceTime", "Memory", "NodeCost", "PrintedReport", "bytes_of",
    "collectives_of", "device_times", "format_bytes", "format_seconds", "have_groups", "memory_of",
    "node_costs", "node_times", "plain_table", "three_digits", "unit_of",
]  # fmt: skip
