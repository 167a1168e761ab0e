"""Shapes of tensors that are known only when the graph runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from graphc.compiler.base import at, user_location
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ir import OPEN

if TYPE_CHECKING:
    from graphc.compiler.core.symbolic_tensor import SymbolicTensor

__all__ = ["open_shape"]


def open_shape(tensor: SymbolicTensor) -> tuple[int, ...]:
    """Returns the size of each axis, with None for an open one.

    Raises:
      InvalidArgumentError: the number of axes is unknown.
    """
    type = tensor.type
    if not type.ranked:
        error = InvalidArgumentError(
            f"the number of axes of this tensor ({type}, {tensor.made_at()}) is unknown while the graph is built; "
            "gx.shape returns its shape as a tensor"
        )
        raise at(error, user_location())
    # None rather than a number, so that Python code that computes with an open size fails instead of going wrong.
    return tuple([cast("Any", None) if size == OPEN else size for size in type.shape])
