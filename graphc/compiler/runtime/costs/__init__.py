"""Layer 7: what programs cost: what devices exchange, memory, and time, in numbers and in words."""

from graphc.compiler.runtime.costs.collectives import CollectiveReport, collectives_of, have_groups
from graphc.compiler.runtime.costs.device_times import DeviceTime, device_times
from graphc.compiler.runtime.costs.memory import Memory, memory_of
from graphc.compiler.runtime.costs.node_costs import Moment, NodeCost, bytes_of, live_bytes, node_costs
from graphc.compiler.runtime.costs.node_times import node_times
from graphc.compiler.runtime.costs.tables import PrintedReport, plain_table
from graphc.compiler.runtime.costs.units import format_bytes, format_seconds, three_digits, unit_of

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
