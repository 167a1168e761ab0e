"""``x[mask] op= value`` with a mask that has no value, so that it is not known how many elements it chooses.

Between the load and the store of such a statement the operators pass on a :class:`Chosen`: all elements, and which of
them are meant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from graphc.compiler.autograph.constructs.expressions.operators import BINARY, binary, load_item
from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import FUNCTIONS, ArrayMethods, SymbolicTensor, Tensor, operand
from graphc.compiler.tracing import context, current_trace

__all__ = ["Chosen", "load_part"]


def _operator(symbol: str) -> Callable[[Chosen, Any], Chosen]:
    def method(self: Chosen, value: Any) -> Chosen:
        return self.changed(symbol, value)

    return method


class Chosen:
    """The elements of a tensor that a mask chooses.

    Args:
      tensor: the whole tensor.
      mask: over its first axes.
    """

    __slots__ = ("_behind", "_mask", "_whole")

    def __init__(self, tensor: Tensor, mask: Tensor) -> None:
        self._whole = tensor.snapshot()
        self._behind = tensor.ndim - mask.ndim
        # The mask stands over the first axes, and broadcasting fills from the last.
        self._mask = mask.reshape((*mask.shape, *[1] * self._behind))

    def changed(self, symbol: str, value: Any) -> Chosen:
        """Returns the elements after ``chosen symbol= value``."""
        fitted = self._fitted(operand(value))
        choose = FUNCTIONS["where"]
        # What is not chosen is not computed on: the operator may have no finite gradient there.
        safe = choose(self._mask, self._whole, FUNCTIONS["ones_like"](self._whole))
        self._whole = binary(symbol, safe, fitted)
        return self

    def stored_in(self, owner: Any) -> Tensor:
        """Returns the tensor as it is after the store: the operand may have assigned items that are not chosen."""
        return FUNCTIONS["where"](self._mask, self._whole, operand(owner))

    def _fitted(self, value: Any) -> Any:
        """Returns a value that goes with any number of elements, as one that goes with the whole tensor."""
        shape: tuple[int, ...] = tuple(getattr(value, "shape", ()))
        if len(shape) <= self._behind:
            return value
        if len(shape) == self._behind + 1 and shape[:1] == (1,):
            return FUNCTIONS["reshape"](value, shape[1:])
        error = InvalidArgumentError(
            f"index of a tensor of shape {self._whole.shape}: a mask whose values are not known while the function is "
            f"traced, and values of shape {shape} that would have to fit how many elements it chooses; use "
            "gx.where(mask, values, x) with values for all elements"
        )
        raise current_trace().refuse(error)


def _define_operators() -> None:
    for symbol, (_, name, _) in BINARY.items():
        if symbol != "@":  # which is not done element by element
            setattr(Chosen, name, _operator(symbol))


_define_operators()


def load_part(owner: Any, index: Any) -> Any:
    """Returns the ``owner[index]`` that ``owner[index] op= value`` reads."""
    mask = index
    if isinstance(index, tuple) and len(parts := nest.as_tuple(index)) == 1:
        (mask,) = parts
    known = context.trace is None or not isinstance(owner, ArrayMethods) or not isinstance(mask, SymbolicTensor)
    # load_item has the errors for a mask that does not fit.
    if known or mask.dtype.kind != "b" or not mask.shape or mask.shape != owner.shape[: mask.ndim]:
        return load_item(owner, index)
    return Chosen(operand(owner), mask)
