"""What a tensor whose shape only a run of the graph knows says of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from graphc.base import at, user_location
from graphc.base.errors import InvalidArgumentError
from graphc.ir import OPEN

if TYPE_CHECKING:
    from graphc.core.tensor import SymbolicTensor

__all__ = ["open_shape"]


def open_shape(tensor: SymbolicTensor) -> tuple[int, ...]:
    """Returns the size of each axis, None for one that is open.

    Raises:
      InvalidArgumentError: the number of axes is not known.
    """
    type = tensor.type
    if not type.ranked:
        error = InvalidArgumentError(
            f"the number of axes of this tensor ({type}, {tensor.made_at()}) is not known while the graph is built; "
            "gx.shape gives its shape as a tensor"
        )
        raise at(error, user_location())
    # None, and no number, so that Python code that computes with an open size fails and gives nothing wrong.
    return tuple([cast("Any", None) if size == OPEN else size for size in type.shape])
