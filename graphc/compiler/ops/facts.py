"""Facts about a tensor that do not need its values: shape, size, kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from graphc.compiler.base.errors import GraphcError, InvalidArgumentError
from graphc.compiler.core import (
    FUNCTIONS,
    SCALARS,
    ArrayLike,
    ArrayMethods,
    SymbolicTensor,
    Tensor,
    Variable,
    apply,
    as_strings,
    operand,
)
from graphc.compiler.ir import OPEN, RANK_OF, SHAPE_OF, SIZE_OF, TensorType
from graphc.compiler.tracing import type_of_any

__all__ = ["broadcast_shapes", "iscomplexobj", "isrealobj", "isscalar", "ndim", "shape", "shape_tensor", "size"]


def shape(x: ArrayLike) -> tuple[int, ...]:
    """Returns the size of each axis, as Python ints.

    In a hand-built graph, a size that is known only at run time is a tensor; if the number of axes is unknown, the
    whole shape is one.

    Args:
      x: a tensor or array-like.

    Example:
      >>> import graphc as gx
      >>> gx.shape([[1, 2, 3], [4, 5, 6]])
      (2, 3)
    """
    type = _open_type(x)
    if type is None:
        return _shape("shape", x)
    sizes = apply(SHAPE_OF, (x,))
    if not type.ranked:
        return sizes
    return tuple([sizes[axis] if size == OPEN else size for axis, size in enumerate(type.shape)])


def ndim(x: ArrayLike) -> int:
    """Returns the number of axes, as a Python int; a tensor if it is known only when a graph runs.

    Args:
      x: a tensor or array-like.

    Example:
      >>> import graphc as gx
      >>> gx.ndim(3.0)
      0
    """
    type = _open_type(x)
    if type is not None and not type.ranked:
        return apply(RANK_OF, (x,))
    return len(_shape("ndim", x) if type is None else type.shape)


def size(x: ArrayLike, axis: int | Sequence[int] | None = None) -> int:
    """Returns the number of elements, as a Python int; a tensor if it is known only when a graph runs.

    Args:
      x: a tensor or array-like.
      axis: the axis or axes to count along; None for all.

    Raises:
      InvalidArgumentError: ``x`` does not have an axis.

    Example:
      >>> import graphc as gx
      >>> gx.size(gx.zeros((2, 3))), gx.size(gx.zeros((2, 3)), 1)
      (6, 3)
    """
    type = _open_type(x)
    if type is not None:
        return apply(SIZE_OF, (x,)) if axis is None else FUNCTIONS["prod"](shape_tensor(x)[np.array(axis)])
    sizes = _shape("size", x)
    axes = range(len(sizes)) if axis is None else (axis,) if isinstance(axis, int) else axis
    try:
        return int(np.prod([sizes[axis] for axis in axes], dtype=np.int64))
    except IndexError:
        raise InvalidArgumentError(f"size: axis {axis} is out of range for shape {sizes}").here() from None


def iscomplexobj(x: ArrayLike) -> Any:
    """Returns True if the dtype is complex, as a Python bool.

    Args:
      x: a tensor or array-like.
    """
    return _type("iscomplexobj", x).dtype.kind == "c"


def isrealobj(x: ArrayLike) -> Any:
    """Returns True if the dtype is not complex, as a Python bool.

    Args:
      x: a tensor or array-like.
    """
    return _type("isrealobj", x).dtype.kind != "c"


def isscalar(element: Any) -> Any:
    """Returns True for a number, or a tensor without axes, as a Python bool.

    Args:
      element: any value.

    Example:
      >>> import graphc as gx
      >>> gx.isscalar(3.0), gx.isscalar(gx.ones(1)), gx.isscalar("a")
      (True, False, False)
    """
    if type(element) in SCALARS:
        return True
    return hasattr(element, "dtype") and getattr(element, "shape", None) == ()


def broadcast_shapes(*shapes: int | Sequence[int]) -> tuple[int, ...]:
    """Returns the broadcast shape of several shapes, by NumPy's rules.

    Args:
      *shapes: shapes, or ints for shapes of one axis.

    Raises:
      InvalidArgumentError: the shapes do not fit.

    Example:
      >>> import graphc as gx
      >>> gx.broadcast_shapes((2, 1), (3,))
      (2, 3)
    """
    try:
        return np.broadcast_shapes(*(shape if isinstance(shape, int) else tuple(shape) for shape in shapes))
    except ValueError:
        raise InvalidArgumentError(
            f"broadcast_shapes: {', '.join(map(str, shapes))} cannot be broadcast together"
        ).here() from None


def shape_tensor(x: ArrayLike) -> Tensor:
    """Returns the shape as an int32 tensor, even in a graph whose shapes are known only at run time.

    Args:
      x: a tensor or array-like.
    """
    if _open_type(x) is not None:
        return apply(SHAPE_OF, (x,))
    return FUNCTIONS["asarray"](np.array(_shape("shape_tensor", x), np.int32))


def _open_type(x: Any) -> TensorType | None:
    """Returns the type of a tensor with unknown sizes; None for other values."""
    type = x.type if isinstance(x, SymbolicTensor | Variable) else None
    return type if type is not None and type.is_open else None


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
        return x.type  # without reading a variable
    try:
        value = operand(x)
    except GraphcError as error:
        error.args = (f"{name}: {error.args[0]}",)
        raise error.here() from None
    return type_of_any(np.asarray(value) if type(value) in SCALARS else value)


for _name in __all__:
    FUNCTIONS.add(_name, globals()[_name])
