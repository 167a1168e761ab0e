"""A trace, lowered and compiled, and what that cost."""

from __future__ import annotations

import time
from typing import Any

from graphc.compiler.function import Arguments, TracedFunction
from graphc.compiler.lowering import Executable
from graphc.tools.inspect.report import CompileCost

__all__ = ["lower_and_compile"]


def lower_and_compile(traced: TracedFunction, arguments: Arguments) -> tuple[Any, Any, CompileCost]:
    """Lowers and compiles a trace of one program.

    Returns:
      JAX's lowered program (``jax.stages.Lowered``), the compiled one (``jax.stages.Compiled``), and what both cost the
      first time, which may have been in a call before.
    """
    start = time.perf_counter()
    lowered = traced.lower(arguments)
    middle = time.perf_counter()
    executable = lowered.compile()
    end = time.perf_counter()
    first = traced.executable.times if isinstance(traced.executable, Executable) else None
    if first is None or first.lower is None or first.compile is None:
        return lowered, executable, CompileCost(traced.seconds, middle - start, end - middle)
    return lowered, executable, CompileCost(traced.seconds, first.lower, first.compile)
