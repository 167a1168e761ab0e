"""Gradient masks: gradients of what is traced, and does not count in every run.

After an exception that a ``try`` statement catches if tensors say so, the rest of the statement's body is traced as if
the exception had not been raised. Where it was raised nobody looks at the values of that rest, so that the gradients
by them are zero. But zero times the infinite slope of a square root is NaN, and would reach what the rest is computed
of. The rest therefore computes on guarded tensors: equal ones, to which no gradient comes back when it does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graphc.core import SymbolicTensor, Tensor, apply
from graphc.ir import OPS, Value

__all__ = ["GradientMask"]


class GradientMask:
    """Masks the gradients of what the ops of one trace are given that was computed before.

    Args:
      lift: makes any tensor one of the trace.
      counts: gives a boolean scalar: whether what is traced now counts.
    """

    def __init__(self, lift: Callable[[Any], SymbolicTensor], counts: Callable[[], Any]) -> None:
        self._lift = lift
        self._counts = counts
        self._condition: Any = None
        self._guarded: dict[Value, Tensor] = {}
        self._inside: set[Value] = set()
        self._is_open = True

    def values(self, values: Sequence[Any]) -> list[Any]:
        """Returns the inputs of an op, guarded."""
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
        """Notes what an op gave that was given guarded tensors, which need no guard."""
        if self._is_open:
            self._inside.update([output.raw for output in outputs])

    def renew(self) -> None:
        """Is called when less counts from here on, or when some of what was traced is forgotten."""
        self._condition = None
        self._guarded.clear()
        self._inside.clear()
