"""Layer 6: the decorator, the trace cache and its keys, reasons for retraces, lifting of variables."""

from graphc.function.arguments import Arguments, Binder, TensorSpec
from graphc.function.from_graph import from_graph
from graphc.function.function import (
    TOOLS,
    BoundFunction,
    Function,
    function,
)
from graphc.function.mode import functions_run_eagerly, run_functions_eagerly
from graphc.function.retrace import TraceReport
from graphc.function.traced import TracedFunction, TraceOptions, trace_function

__all__ = [
    "TOOLS",
    "Arguments",
    "Binder",
    "BoundFunction",
    "Function",
    "TensorSpec",
    "TraceOptions",
    "TraceReport",
    "TracedFunction",
    "from_graph",
    "function",
    "functions_run_eagerly",
    "run_functions_eagerly",
    "trace_function",
]
