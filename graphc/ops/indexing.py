"""Reading and replacing elements by NumPy's index notation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from graphc.base import at, user_location
from graphc.base.errors import InvalidArgumentError
from graphc.core import FUNCTIONS, SCALARS, ArrayLike, Tensor, apply, context, operand, scalar_array, type_of_any
from graphc.ir import OPS, Attrs, Graph, OpDef, TensorType
from graphc.ops.subscripts import IndexEncoder, checked_position
from graphc.ops.table import infer_by_evaluation

__all__ = ["get_item", "update_item"]

Array = jax.Array
_HOW = ("set", "add", "multiply", "min", "max")


def _key(x: Any, tensors: Sequence[Any], index: tuple[Any, ...]) -> tuple[Any, tuple[Any, ...]]:
    """The array with its windows cut out, and the index that remains, as JAX takes it."""
    rest = iter(tensors)
    key: list[Any] = []
    axis = 0
    for item in index:
        if item == "...":
            axis = len(x.shape) - sum(_uses_axis(other) for other in index[index.index(item) :])
            key.append(Ellipsis)
        elif item == "tensor":
            key.append(next(rest))
        elif isinstance(item, tuple):
            part = cast("tuple[Any, ...]", item)
            if _is_window(part):
                x = lax.dynamic_slice_in_dim(x, next(rest), part[1], axis)
                part = (None,)
            key.append(slice(*part))
        else:
            key.append(item)
        axis += _uses_axis(item)
    return x, tuple(key)


def _is_window(item: Any) -> bool:
    return isinstance(item, tuple) and cast("tuple[Any, ...]", item)[0] == "window"


def _uses_axis(item: Any) -> bool:
    return item is not None and item != "..."


def _get_item(x: Any, *tensors: Any, index: tuple[Any, ...]) -> Array:
    x, key = _key(x, tensors, index)
    return x[key]


_get_item_by_evaluation = infer_by_evaluation(_get_item)


def _infer_get_item(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    x = types[0]
    shape = _basic_shape(x, types[1:], attrs["index"])
    if shape is None:
        return _get_item_by_evaluation(types, attrs, regions)
    return (TensorType(shape, x.dtype, x.weak),)


def _basic_shape(x: TensorType, tensors: Sequence[TensorType], index: tuple[Any, ...]) -> tuple[int, ...] | None:
    """The shape of ``x[index]`` where no array is in the index, else None; a hundred times faster than asking JAX."""
    if any(tensor.shape for tensor in tensors) or not all(x.shape) or any(map(_is_window, index)):
        return None
    # NumPy knows the answer. The array takes no memory, and 0 is a position that every axis has.
    array = np.broadcast_to(np.empty((), np.bool_), x.shape)
    return array[_key(array, [0] * len(tensors), index)[1]].shape


def _update_item(x: Any, values: Any, *tensors: Any, index: tuple[Any, ...], how: str) -> Array:
    values = jnp.asarray(values)  # a constant of weak type comes as a Python number
    if jnp.promote_types(x.dtype, values.dtype) != x.dtype and not _same_kind(values, x):
        raise TypeError(
            f"values of dtype {values.dtype} cannot be put into a tensor of dtype {x.dtype} without loss; "
            f"convert one of them with gx.astype"
        )
    _, key = _key(x, tensors, index)
    return getattr(x.at[key], how)(values.astype(x.dtype))


def _same_kind(values: Any, x: Any) -> bool:
    kinds = (jnp.bool_, jnp.integer, jnp.floating, jnp.complexfloating)
    return any(jnp.issubdtype(values.dtype, kind) and jnp.issubdtype(x.dtype, kind) for kind in kinds)


_update_item_by_evaluation = infer_by_evaluation(_update_item)


def _infer_update_item(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    x, values = types[:2]
    if values.dtype == x.dtype and not x.weak:
        shape = _basic_shape(x, types[2:], attrs["index"])
        if shape is not None and values.shape in (shape, ()):
            return (x,)
    return _update_item_by_evaluation(types, attrs, regions)


GET_ITEM = OPS.add(
    "get_item",
    OpDef(
        "get_item",
        impl=_get_item,
        infer=_infer_get_item,
        params=("x", "*index"),
        doc="The elements that an index names.",
    ),
)

UPDATE_ITEM = OPS.add(
    "update_item",
    OpDef(
        "update_item",
        impl=_update_item,
        infer=_infer_update_item,
        params=("x", "values", "*index"),
        doc="A copy in which the elements that an index names are replaced or changed.",
    ),
)


_POSITION = Attrs(index=("tensor",))


def get_item(x: ArrayLike, index: Any) -> Tensor:
    """The elements that an index names: ``x[index]``.

    Args:
      x: a tensor.
      index: NumPy's notation: ints, slices, ``...``, ``None``, integer arrays, and boolean masks that have values.
        Ints, also in lists and NumPy arrays, must be in range. A tensor's values are not looked at: what is out of
        range is clamped to the nearest element, as in JAX; negative ones count from the end.

    Raises:
      OutOfRangeError: an int out of range, or too many indices.
      InvalidTypeError: an index that is no index.
      InvalidArgumentError: a mask without values, whose result would have no static shape.

    Example:
      >>> import graphc as gx
      >>> gx.arange(12).reshape(3, 4)[1:, -1].numpy()
      array([ 7, 11], dtype=int32)
    """
    if type(index) is int and context.eager and isinstance(x, Tensor) and x.shape:
        return apply(GET_ITEM, (x, checked_position(index, 0, x.shape[0])), _POSITION)
    tensor = _as_operand(x)
    items, tensors = IndexEncoder(type_of_any(tensor).shape, index, windows=context.trace is None).encode()
    return apply(GET_ITEM, (tensor, *tensors), Attrs(index=items))


def update_item(x: ArrayLike, index: Any, values: ArrayLike, how: str = "set") -> Tensor:
    """A copy in which the elements that an index names are replaced or changed: ``x.at[index].set(values)``.

    Args:
      x: a tensor.
      index: as in :func:`get_item`; positions in a tensor that are out of range are left out, as in JAX.
      values: broadcast to the shape of ``x[index]``; of a dtype that ``x`` can hold.
      how: ``set``, ``add``, ``multiply``, ``min`` or ``max``. Where the index names an element twice, ``set`` takes
        any of its values and the others apply all.

    Raises:
      OutOfRangeError: an int out of range, or too many indices.
      InvalidTypeError: values that do not fit the dtype, or an index that is no index.
      InvalidArgumentError: values that do not fit the shape, or an unknown ``how``.

    Example:
      >>> import graphc as gx
      >>> gx.zeros(3).at[1].set(5.0).numpy()
      array([0., 5., 0.], dtype=float32)
    """
    if how not in _HOW:
        raise at(
            InvalidArgumentError(f"update_item: how is {how!r}, expected one of {', '.join(_HOW)}"), user_location()
        )
    tensor = _as_operand(x)
    items, tensors = IndexEncoder(type_of_any(tensor).shape, index, windows=False).encode()
    return apply(UPDATE_ITEM, (tensor, values, *tensors), Attrs(index=items, how=how))


def _as_operand(x: Any) -> Any:
    value = operand(x)
    return scalar_array(value) if type(value) in SCALARS else value


FUNCTIONS.add("get_item", get_item)
FUNCTIONS.add("update_item", update_item)
