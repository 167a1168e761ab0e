"""Layer 4: a graph becomes one function that JAX traces, and that an XLA executable."""

from graphc.lowering.apart import Attended, current_run_timeout, run_timeout
from graphc.lowering.backpressure import InFlight, in_flight
from graphc.lowering.executable import (
    UNSHARED,
    Check,
    Executable,
    Program,
    TypesDiffer,
    any_is_away,
    copied,
    restore,
    run_on_variables,
)
from graphc.lowering.frames import raise_at
from graphc.lowering.gathering import BATCH_AXES
from graphc.lowering.lower import LoweredGraph, Lowering, compiler_options, forward_key, lower
from graphc.lowering.needed import needed_inputs
from graphc.lowering.together import register_meeting

__all__ = [
    "BATCH_AXES",
    "UNSHARED",
    "Attended",
    "Check",
    "Executable",
    "InFlight",
    "LoweredGraph",
    "Lowering",
    "Program",
    "TypesDiffer",
    "any_is_away",
    "compiler_options",
    "copied",
    "current_run_timeout",
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
