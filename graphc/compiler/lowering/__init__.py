"""Turns a graph into a single function that JAX traces, and that into an XLA executable."""

from graphc.compiler.lowering.executable import Executable, Program, TypesDiffer
from graphc.compiler.lowering.launch import (
    DISPATCH,
    LaunchPolicy,
    XlaFunction,
    current_policy,
    current_run_timeout,
    described,
    run_timeout,
)
from graphc.compiler.lowering.lower import (
    LoweredGraph,
    Lowering,
    compiler_options,
    evaluate,
    lower,
    needed_inputs,
    raise_at,
    region_function,
)
from graphc.compiler.lowering.replicas import BATCH_AXES
from graphc.compiler.lowering.second_order import forward_key
from graphc.compiler.lowering.transaction import (
    UNSHARED,
    Check,
    Transaction,
    any_is_away,
    copied,
    restore,
    run_on_variables,
)

__all__ = [
    "BATCH_AXES", "DISPATCH", "UNSHARED", "Check", "Executable", "LaunchPolicy", "LoweredGraph", "Lowering", "Program",
    "Transaction", "TypesDiffer", "XlaFunction", "any_is_away", "compiler_options", "copied", "current_policy",
    "current_run_timeout", "described", "evaluate", "forward_key", "lower", "needed_inputs", "raise_at",
    "region_function", "restore", "run_on_variables", "run_timeout",
]  # fmt: skip
