"""What a compiled function does: compared with eager code, and explained."""

from graphc.tools.inspect.compare import compare
from graphc.tools.inspect.equality import Agreement, Difference
from graphc.tools.inspect.explain import explain
from graphc.tools.inspect.explanation import ArgumentReport, Explanation, LineReport, LoopEntry, VariableReport
from graphc.tools.inspect.exports import to_dot, to_jaxpr, to_model_explorer, to_stablehlo, write_tensorboard
from graphc.tools.inspect.report import Comparison, CompileCost, Machine, ModeReport
from graphc.tools.inspect.timing import CallTiming

__all__ = [
    "Agreement", "ArgumentReport", "CallTiming", "Comparison", "CompileCost", "Difference", "Explanation", "LineReport",
    "LoopEntry", "Machine", "ModeReport", "VariableReport", "compare", "explain", "to_dot", "to_jaxpr",
    "to_model_explorer", "to_stablehlo", "write_tensorboard",
]  # fmt: skip
