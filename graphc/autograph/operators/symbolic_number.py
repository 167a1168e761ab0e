"""Python numbers that depend on tensors, while a function is traced.

What arithmetic with them means is in :mod:`graphc.autograph.operators.numbers`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, cast

from graphc.autograph.operators.loop_index import LoopIndex
from graphc.base.errors import ConcretizationError
from graphc.core import SymbolicTensor, apply
from graphc.ir import Attrs
from graphc.ops import AS_NUMBER

__all__ = ["SymbolicNumber", "common_kind", "kind_of", "number", "numbered"]

_KINDS = (bool, int, float, complex)


class SymbolicNumber(SymbolicTensor):
    """A Python number that depends on tensors.

    Args:
      tensor: its value, a 0-d tensor; of weak type but for a bool.
      kind: the Python type that it has in eager code.
    """

    __slots__ = ("kind",)

    __graphc_number__ = True

    def __init__(self, tensor: SymbolicTensor, kind: type[Any]) -> None:
        super().__init__(tensor.raw, tensor.trace)
        self.kind = kind

    def snapshot(self) -> SymbolicNumber:
        """The number itself, which has no items to assign."""
        return self

    fork = snapshot

    def __hash__(self) -> int:
        error = ConcretizationError(
            f"a number that depends on tensors ({self.made_at()}) is used as a key of a dict or an element of a set, "
            "where it needs a value; choose with gx.switch, or index a tensor"
        )
        raise self.trace.refuse(error)


def number(value: Any, kind: type[Any]) -> SymbolicNumber:
    """What ``kind(value)`` is, without the checks that it can be.

    Args:
      value: a tensor of one element.
      kind: bool, int, float or complex.
    """
    if isinstance(value, SymbolicNumber) and value.kind is kind:
        return value
    return SymbolicNumber(cast("SymbolicTensor", apply(AS_NUMBER, (value,), Attrs(kind=kind.__name__))), kind)


def kind_of(value: Any) -> type[Any] | None:
    """The Python type of a number, known or not; None for what is no number."""
    if isinstance(value, SymbolicNumber):
        return value.kind
    kind = cast("type[Any]", type(value))
    return int if kind is LoopIndex else kind if kind in _KINDS else None


def common_kind(values: Iterable[Any]) -> type[Any] | None:
    """The Python type that all of the values have as numbers; None if there is none."""
    kinds = {kind_of(value) for value in values}
    return kinds.pop() if len(kinds) == 1 else None


def numbered(value: Any, kind: type[Any] | None) -> Any:
    """A tensor that holds a number of this kind, as that number; other values as they are."""
    return value if kind is None or not isinstance(value, SymbolicTensor) else SymbolicNumber(value, kind)
