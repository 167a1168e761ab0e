"""Layer 15: what a compiled function does: compared with eager code, and explained."""

from graphc.inspect.compare import compare
from graphc.inspect.equality import Agreement, Difference
from graphc.inspect.explain import explain
from graphc.inspect.explanation import ArgumentReport, Explanation, LineReport, LoopEntry, VariableReport
from graphc.inspect.exports import to_dot, to_jaxpr, to_model_explorer, to_stablehlo, write_tensorboard
from graphc.inspect.report import Comparison, CompileCost, Machine, ModeReport
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
    "ModeReport",
    "Timing",
    "VariableReport",
    "compare",
    "explain",
    "to_dot",
    "to_jaxpr",
    "to_model_explorer",
    "to_stablehlo",
    "write_tensorboard",
]
