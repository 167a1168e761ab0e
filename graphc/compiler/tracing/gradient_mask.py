"""Gradient masks: zero gradients for traced code whose results do not count in every run.

After an exception that a ``try`` statement catches depending on tensors, the rest of the statement's body is traced as
if the exception had not been raised. When it was raised, the values of that rest are unused, so their gradients are
zero. But zero times the infinite slope of a square root is NaN, which would reach the inputs of the rest. The rest
therefore computes on masked tensors: equal ones, through which no gradient flows back when the rest does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphc.compiler.core import SymbolicTensor, Tensor, apply
from graphc.compiler.ir import OPS, Value

__all__ = ["GradientMask"]


class GradientMask:
    """Masks the gradients of the inputs that a trace's ops take from before the mask.

    Args:
      lift: converts any tensor to one of the trace.
      counts: returns a boolean scalar that is True if the code traced now counts.
    """

    def __init__(self, lift: Callable[[Any], SymbolicTensor], counts: Callable[[], Any]) -> None:
        self._lift = lift
        self._counts = counts
        self._condition: Any = None
        self._guarded: dict[Value, Tensor] = {}
        self._inside: set[Value] = set()
        self._is_open = True

    def values(self, values: Sequence[Any]) -> list[Any]:
        """Returns the inputs of an op, masked."""
        return [self._value(value) for value in values] if self._is_open else list(values)

    def _value(self, value: Any) -> Any:
        if not isinstance(value, Tensor) or value.dtype.kind not in "fcV":
            return value
        raw = self._lift(value).raw
        if raw in self._inside:
            return value
        found = self._guarded.get(raw)
        if found is None:
            self._is_open = False
            try:
                if self._condition is None:
                    self._condition = self._counts()
                found = apply(OPS["where"], (self._condition, value, apply(OPS["stop_gradient"], (value,))))
            finally:
                self._is_open = True
            self._guarded[raw] = found
        return found

    def note(self, outputs: Sequence[SymbolicTensor]) -> None:
        """Registers the outputs of an op with masked inputs, which need no mask."""
        if self._is_open:
            self._inside.update([output.raw for output in outputs])

    def renew(self) -> None:
        """Discards the cached masks: the condition became narrower, or part of the trace was rolled back."""
        self._condition = None
        self._guarded.clear()
        self._inside.clear()
