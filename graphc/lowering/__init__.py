"""Layer 4: a graph becomes one function that JAX traces, and that an XLA executable."""

from graphc.lowering.executable import Executable, TypesDiffer, run_on_variables
from graphc.lowering.frames import raise_at
from graphc.lowering.lower import LoweredGraph, Lowering, compiler_options, lower

__all__ = [
    "Executable",
    "LoweredGraph",
    "Lowering",
    "TypesDiffer",
    "compiler_options",
    "lower",
    "raise_at",
    "run_on_variables",
]
