"""Turns a graph into a single function that JAX traces, and that into an XLA executable."""

from graphc.compiler.lowering.executable import Executable, Program, TypesDiffer
from graphc.compiler.lowering.launch import (
    DISPATCH,
    InFlight,
    LaunchPolicy,
    XlaFunction,
    current_policy,
    current_run_timeout,
    described,
    in_flight,
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
)
from graphc.compiler.lowering.replicas import BATCH_AXES, register_meeting
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
    "BATCH_AXES",
    "DISPATCH",
    "UNSHARED",
    "Check",
    "Executable",
    "InFlight",
    "LaunchPolicy",
    "LoweredGraph",
    "Lowering",
    "Program",
    "Transaction",
    "TypesDiffer",
    "XlaFunction",
    "any_is_away",
    "compiler_options",
    "copied",
    "current_policy",
    "current_run_timeout",
    "described",
    "evaluate",
    "forward_key",
    "in_flight",
    "lower",
    "needed_inputs",
    "raise_at",
    "register_meeting",
    "restore",
    "run_on_variables",
    "run_timeout",
]
