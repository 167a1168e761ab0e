"""Layer 10: what a compiled function does: compared with eager code, and explained."""

from graphc.inspect.compare import compare
from graphc.inspect.equality import Agreement, Difference
from graphc.inspect.explain import explain
from graphc.inspect.explanation import ArgumentReport, Explanation, LineReport, LoopEntry, VariableReport
from graphc.inspect.render import format_bytes, format_seconds
from graphc.inspect.report import Comparison, CompileCost, Machine, Memory, ModeReport
from graphc.inspect.timing import Timing

__all__ = [
    "Agreement",
    "ArgumentReport",
    "Comparison",
    "CompileCost",
    "Difference",
    "Explanation",
    "LineReport",
    "LoopEntry",
    "Machine",
    "Memory",
    "ModeReport",
    "Timing",
    "VariableReport",
    "compare",
    "explain",
    "format_bytes",
    "format_seconds",
]
