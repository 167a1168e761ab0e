"""Layer 6: turns a graph into a single function that JAX traces, and that into an XLA executable."""

from graphc.compiler.lowering.backpressure import InFlight, in_flight
from graphc.compiler.lowering.executable import Executable, Program, TypesDiffer
from graphc.compiler.lowering.frames import raise_at
from graphc.compiler.lowering.fsdp import BATCH_AXES
from graphc.compiler.lowering.launch import (
    DISPATCH,
    LaunchPolicy,
    XlaFunction,
    current_policy,
    current_run_timeout,
    described,
    run_timeout,
)
from graphc.compiler.lowering.lower import LoweredGraph, Lowering, compiler_options, evaluate, lower
from graphc.compiler.lowering.needed import needed_inputs
from graphc.compiler.lowering.second_order import forward_key
from graphc.compiler.lowering.together import register_meeting
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
