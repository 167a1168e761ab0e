"""Dataflow analyses of a function's variables: definite assignment, binding and liveness."""

from graphc.compiler.autograph.frontend.dataflow.binding import Bindings
from graphc.compiler.autograph.frontend.dataflow.definite_assignment import always_bound
from graphc.compiler.autograph.frontend.dataflow.liveness import Branch, Construct, Frame, find_state, swallows

__all__ = ["Bindings", "Branch", "Construct", "Frame", "always_bound", "find_state", "swallows"]
