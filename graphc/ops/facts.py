"""What is known of a tensor without its values: shape, size, kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphc.base import at, user_location
from graphc.base.errors import GraphcError, InvalidArgumentError
from graphc.core import FUNCTIONS, SCALARS, ArrayLike, ArrayMethods, as_strings, operand, type_of_any
from graphc.ir import TensorType

__all__ = ["broadcast_shapes", "iscomplexobj", "isrealobj", "isscalar", "ndim", "shape", "size"]


def shape(x: ArrayLike) -> tuple[int, ...]:
    """The size of each axis, as Python ints.

    Args:
      x: a tensor, or what becomes one.

    Example:
      >>> import graphc as gx
      >>> gx.shape([[1, 2, 3], [4, 5, 6]])
      (2, 3)
    """
    return _shape("shape", x)


def ndim(x: ArrayLike) -> int:
    """The number of axes, as a Python int.

    Args:
      x: a tensor, or what becomes one.

    Example:
      >>> import graphc as gx
      >>> gx.ndim(3.0)
      0
    """
    return len(_shape("ndim", x))


def size(x: ArrayLike, axis: int | Sequence[int] | None = None) -> int:
    """The number of elements, as a Python int.

    Args:
      x: a tensor, or what becomes one.
      axis: one or several to count along; None for all.

    Raises:
      InvalidArgumentError: an axis that ``x`` has not.

    Example:
      >>> import graphc as gx
      >>> gx.size(gx.zeros((2, 3))), gx.size(gx.zeros((2, 3)), 1)
      (6, 3)
    """
    sizes = _shape("size", x)
    axes = range(len(sizes)) if axis is None else (axis,) if isinstance(axis, int) else axis
    try:
        return int(np.prod([sizes[axis] for axis in axes], dtype=np.int64))
    except IndexError:
        error = InvalidArgumentError(f"size: axis {axis} is out of range for shape {sizes}")
        raise at(error, user_location()) from None


def iscomplexobj(x: ArrayLike) -> Any:
    """Whether the dtype is complex, as a Python bool.

    Args:
      x: a tensor, or what becomes one.
    """
    return _type("iscomplexobj", x).dtype.kind == "c"


def isrealobj(x: ArrayLike) -> Any:
    """Whether the dtype is not complex, as a Python bool.

    Args:
      x: a tensor, or what becomes one.
    """
    return _type("isrealobj", x).dtype.kind != "c"


def isscalar(element: Any) -> Any:
    """Whether it is a number, or a tensor without axes, as a Python bool.

    Args:
      element: anything.

    Example:
      >>> import graphc as gx
      >>> gx.isscalar(3.0), gx.isscalar(gx.ones(1)), gx.isscalar("a")
      (True, False, False)
    """
    if type(element) in SCALARS:
        return True
    return hasattr(element, "dtype") and getattr(element, "shape", None) == ()


def broadcast_shapes(*shapes: int | Sequence[int]) -> tuple[int, ...]:
    """The shape that these have together, by NumPy's rules.

    Args:
      *shapes: shapes, or ints for shapes of one axis.

    Raises:
      InvalidArgumentError: shapes that do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.broadcast_shapes((2, 1), (3,))
      (2, 3)
    """
    try:
        return np.broadcast_shapes(*(shape if isinstance(shape, int) else tuple(shape) for shape in shapes))
    except ValueError:
        error = InvalidArgumentError(f"broadcast_shapes: {', '.join(map(str, shapes))} do not fit together")
        raise at(error, user_location()) from None


def _shape(name: str, x: Any) -> tuple[int, ...]:
    try:
        return _type(name, x).shape
    except GraphcError:
        strings = as_strings(x)
        if strings is None:
            raise
        return strings.shape


def _type(name: str, x: Any) -> TensorType:
    if isinstance(x, ArrayMethods):
        return x.type  # a variable is not read for this
    try:
        value = operand(x)
    except GraphcError as error:
        error.args = (f"{name}: {error.args[0]}",)
        raise at(error, user_location()) from None
    return type_of_any(np.asarray(value) if type(value) in SCALARS else value)


for _name in __all__:
    FUNCTIONS.add(_name, globals()[_name])
