"""Layer 10: what a compiled function does, compared with eager code."""

from graphc.function import TOOLS
from graphc.inspect.compare import compare
from graphc.inspect.equality import Agreement, Difference
from graphc.inspect.render import format_bytes, format_seconds
from graphc.inspect.report import Comparison, CompileCost, Machine, Memory, ModeReport
from graphc.inspect.timing import Timing

__all__ = [
    "Agreement",
    "Comparison",
    "CompileCost",
    "Difference",
    "Machine",
    "Memory",
    "ModeReport",
    "Timing",
    "compare",
    "format_bytes",
    "format_seconds",
]

TOOLS.add("compare", compare)
