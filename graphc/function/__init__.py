"""Layer 8: the decorator, the trace cache and its keys, retrace reasons, and lifting of variables."""

from graphc.function.arguments import Arguments, Binder, TensorSpec
from graphc.function.bound_method import BoundFunction
from graphc.function.concrete import ConcreteFunction
from graphc.function.from_graph import Replay, from_graph
from graphc.function.function import TOOLS, Function, function
from graphc.function.mapped import Mapped, MappedArguments, SameFunction, axes_of_results, vectorized_map, vmap
from graphc.function.mode import functions_run_eagerly, run_functions_eagerly
from graphc.function.options import TraceOptions
from graphc.function.pure import to_jax
from graphc.function.retrace import TraceReport
from graphc.function.traced import TracedFunction, TraceNotes
from graphc.function.tracing import trace_function
from graphc.function.write_back import array_leaves

__all__ = [
    "TOOLS",
    "Arguments",
    "Binder",
    "BoundFunction",
    "ConcreteFunction",
    "Function",
    "Mapped",
    "MappedArguments",
    "Replay",
    "SameFunction",
    "TensorSpec",
    "TraceNotes",
    "TraceOptions",
    "TraceReport",
    "TracedFunction",
    "array_leaves",
    "axes_of_results",
    "from_graph",
    "function",
    "functions_run_eagerly",
    "run_functions_eagerly",
    "to_jax",
    "trace_function",
    "vectorized_map",
    "vmap",
]
