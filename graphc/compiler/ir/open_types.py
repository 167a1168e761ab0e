"""Relations between types with open sizes.

An open size, or an open number of axes, is known only when the graph runs. Such a type represents all types that it may
turn out to be.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.ir.types import OPEN, TensorType

__all__ = ["compatible", "compatible_shapes", "merge", "widen"]


def compatible(first: TensorType, second: TensorType) -> bool:
    """Returns True if two types could be equal once their open sizes are known.

    Example:
      >>> import numpy as np
      >>> compatible(TensorType((OPEN, 3), np.dtype("int32")), TensorType((2, OPEN), np.dtype("int32")))
      True
    """
    return first.dtype == second.dtype and first.weak == second.weak and compatible_shapes(first, second)


def compatible_shapes(first: TensorType, second: TensorType) -> bool:
    """Returns True if two types could have the same shape once their open sizes are known, whatever their dtypes."""
    if not first.ranked or not second.ranked:
        return True
    return len(first.shape) == len(second.shape) and all(map(_may_equal, first.shape, second.shape))


def merge(first: TensorType, second: TensorType) -> TensorType:
    """Returns the type of a tensor that has both types.

    Raises:
      InvalidArgumentError: no tensor has both types.

    Example:
      >>> import numpy as np
      >>> str(merge(TensorType((OPEN, 3), np.dtype("int32")), TensorType((2, OPEN), np.dtype("int32"))))
      'i32[2,3]'
    """
    if not compatible(first, second):
        raise InvalidArgumentError(f"no tensor is both {first} and {second}")
    if not first.ranked:
        return second
    if not second.ranked:
        return first
    shape = [b if a == OPEN else a for a, b in zip(first.shape, second.shape, strict=True)]
    return replace(first, shape=tuple(shape))


def widen(types: Sequence[TensorType]) -> TensorType:
    """Returns the narrowest type that includes all of these: sizes in which they differ are open.

    Args:
      types: at least one, all of one dtype and of the same weakness.

    Raises:
      InvalidArgumentError: the types differ in more than their shapes.

    Example:
      >>> import numpy as np
      >>> str(widen([TensorType((2, 3), np.dtype("int32")), TensorType((4, 3), np.dtype("int32"))]))
      'i32[?,3]'
    """
    first = types[0]
    if any(type.dtype != first.dtype or type.weak != first.weak for type in types):
        raise InvalidArgumentError(f"the types {', '.join(map(str, types))} differ in more than their shapes")
    if not all(type.ranked and len(type.shape) == len(first.shape) for type in types):
        return replace(first, shape=(), ranked=False)
    columns = zip(*[type.shape for type in types], strict=True)
    return replace(first, shape=tuple([sizes[0] if len(set(sizes)) == 1 else OPEN for sizes in columns]))


def _may_equal(first: int, second: int) -> bool:
    return first == second or OPEN in (first, second)
