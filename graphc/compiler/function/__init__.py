"""The decorator, the trace cache and its keys, retrace reasons, and lifting of variables."""

from graphc.compiler.function.arguments import Arguments, Binder, TensorSpec
from graphc.compiler.function.concrete import BoundFunction, ConcreteFunction
from graphc.compiler.function.from_graph import Replay, from_graph
from graphc.compiler.function.function import Function, function
from graphc.compiler.function.mapped import (
    MappedArguments,
    MappedFunction,
    SameFunction,
    axes_of_results,
    vectorized_map,
    vmap,
)
from graphc.compiler.function.options import TraceOptions, functions_run_eagerly, run_functions_eagerly
from graphc.compiler.function.pure import to_jax
from graphc.compiler.function.results import array_leaves
from graphc.compiler.function.trace_cache import TraceReport
from graphc.compiler.function.traced import TracedFunction, TraceNotes
from graphc.compiler.function.tracing import definition, trace_function

__all__ = [
    "Arguments", "Binder", "BoundFunction", "ConcreteFunction", "Function", "MappedArguments", "MappedFunction",
    "Replay", "SameFunction", "TensorSpec", "TraceNotes", "TraceOptions", "TraceReport", "TracedFunction",
    "array_leaves", "axes_of_results", "definition", "from_graph", "function", "functions_run_eagerly",
    "run_functions_eagerly", "to_jax", "trace_function", "vectorized_map", "vmap",
]  # fmt: skip
