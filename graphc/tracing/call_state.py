"""CallState: a value that lives for one call of a compiled function."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphc.ir import TensorType
from graphc.tracing.context import context

__all__ = ["CallState"]


class CallState:
    """A value that starts anew at each call of a compiled function, such as the call's status.

    A trace reads and assigns it as it does a Variable, and branches and loops carry it as they carry one. In the
    outermost trace it is an ordinary tensor, not an input or output of the program.

    Args:
      name: unique within a function; it holds a dot, so that it is no Variable's.
      initial: the value at the start of each call.
      differentiable: whether gradients flow from what is read to what was assigned; to a Variable they do not.
    """

    __slots__ = ("differentiable", "initial", "name", "type")

    def __init__(self, name: str, initial: np.ndarray[Any, Any], *, differentiable: bool = False) -> None:
        self.name = name
        self.initial = initial
        self.differentiable = differentiable
        self.type = TensorType(initial.shape, initial.dtype)

    def value(self) -> Any:
        """Returns the value at this point of the trace that is open."""
        assert context.trace is not None
        return context.trace.read(self)

    def assign(self, value: Any) -> None:
        """Sets the value from this point of the trace on."""
        assert context.trace is not None
        context.trace.assign(self, value)
