"""CallState: a value that lives for one call of a compiled function."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphc.compiler.ir import TensorType
from graphc.compiler.tracing.context import context

__all__ = ["CallState"]


class CallState:
    """A value that is reset at each call of a compiled function, such as the call's status.

    Traces read and assign it like a Variable, and branches and loops carry it like one. In the outermost trace it is an
    ordinary tensor, not an input or output of the program.

    Args:
      name: unique within a function; contains a dot, so that it cannot clash with a Variable's name.
      initial: the value at the start of each call.
      differentiable: whether gradients flow from reads to the assigned value; for a Variable they do not.
    """

    __slots__ = ("differentiable", "initial", "name", "type")

    def __init__(self, name: str, initial: np.ndarray[Any, Any], *, differentiable: bool = False) -> None:
        self.name = name
        self.initial = initial
        self.differentiable = differentiable
        self.type = TensorType(initial.shape, initial.dtype)

    def value(self) -> Any:
        """Returns the value at the current point of the open trace."""
        assert context.trace is not None
        return context.trace.read(self)

    def assign(self, value: Any) -> None:
        """Sets the value from this point of the trace on."""
        assert context.trace is not None
        context.trace.assign(self, value)
