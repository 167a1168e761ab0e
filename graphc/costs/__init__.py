"""Layer 5: what programs cost: what devices exchange, memory, and time, in numbers and in words."""

from graphc.costs.collectives import KINDS, CollectiveReport, collectives_of
from graphc.costs.memory import Memory, memory_of
from graphc.costs.units import format_bytes, format_seconds, three_digits, unit_of

__all__ = [
    "KINDS",
    "CollectiveReport",
    "Memory",
    "collectives_of",
    "format_bytes",
    "format_seconds",
    "memory_of",
    "three_digits",
    "unit_of",
]
