"""Indexing with NumPy's notation: reads and functional updates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import Tracer

from graphc.compiler.base.errors import GraphcError, InvalidArgumentError
from graphc.compiler.core import (
    FUNCTIONS,
    SCALARS,
    ArrayLike,
    Tensor,
    apply,
    check_fits,
    context,
    operand,
    scalar_array,
)
from graphc.compiler.ir import Attrs, Graph, TensorType, define_op
from graphc.compiler.ops.subscripts import (
    COMBINE,
    IndexEncoder,
    checked_position,
    column_of,
    grid_of,
    misfit,
    put_column,
    put_grid,
    without_leading_ones,
)
from graphc.compiler.ops.table import infer_by_evaluation
from graphc.compiler.ops.values import fitted
from graphc.compiler.tracing import type_of_any

__all__ = ["get_item", "update_item"]

Array = jax.Array
_HOW = ("set", *COMBINE)


def _key(
    x: Any, tensors: Sequence[Any], index: tuple[Any, ...]
) -> tuple[Any, tuple[Any, ...], dict[int, Any], tuple[Any, int] | None]:
    """Returns an index in JAX's form."""
    # Returns the array with its windows sliced, the remaining index, the start of each window by axis, and the mask
    # with the number of axes after it; the index takes everything that the mask covers.
    rest = iter(tensors)
    key: list[Any] = []
    starts: dict[int, Any] = {}
    mask = None
    axis = 0
    for position, item in enumerate(index):
        if item == "...":
            axis = len(x.shape) - sum(map(_num_axes, index[position:]))
            key.append(Ellipsis)
        elif item == "tensor":
            key.append(next(rest))
        elif _is(item, "window"):
            starts[axis] = next(rest)
            x = lax.dynamic_slice_in_dim(x, starts[axis], item[1], axis)
            key.append(slice(None))
        elif _is(item, "mask"):
            mask = (next(rest), item[2])
            key.extend([slice(None)] * item[1])
        elif isinstance(item, tuple):
            key.append(slice(*cast("tuple[Any, ...]", item)))
        else:
            key.append(item)
        axis += _num_axes(item)
    return x, tuple(key), starts, mask


class _Block(NamedTuple):
    """A block of elements named by an index: positions, and whole axes."""

    starts: tuple[Any, ...]
    sizes: tuple[int, ...]
    shape: tuple[int, ...]  # its shape under the index

    def of(self, x: Any) -> Array:
        return lax.dynamic_slice(x, self.starts, self.sizes, allow_negative_indices=False)


def _block(x: Any, tensors: Sequence[Any], index: tuple[Any, ...]) -> _Block | None:
    """Returns the block that an index names; None if it names anything else."""
    # XLA slices and updates a slice without range checks, which a gather or scatter of a single element has.
    rest, starts, sizes, shape = iter(tensors), list[Any](), list[int](), list[int]()
    for position, item in enumerate(index):
        if item is None:
            shape.append(1)
        elif item == "..." or item == (None, None, None):
            behind = sum(map(_num_axes, index[position + 1 :]))
            count = x.ndim - len(starts) - behind if item == "..." else 1
            for size in x.shape[len(starts) : len(starts) + count]:
                starts.append(0)
                sizes.append(size)
                shape.append(size)
        elif item == "tensor" or type(item) is int:
            starts.append(next(rest) if item == "tensor" else item % x.shape[len(starts)])
            sizes.append(1)
        else:
            return None
    left = x.shape[len(starts) :]
    if max(x.shape) > _HIGHEST:
        return None
    return _Block(tuple(map(_start, (*starts, *[0] * len(left)))), (*sizes, *left), (*shape, *left))


def _start(start: Any) -> Any:
    if isinstance(start, int):
        return np.int32(start)
    return start if start.dtype == np.int32 else lax.convert_element_type(start, np.int32)


_HIGHEST = np.iinfo(np.int32).max


def _is(item: Any, kind: str) -> bool:
    return isinstance(item, tuple) and cast("tuple[Any, ...]", item)[0] == kind


def _num_axes(item: Any) -> int:
    if item is None or item == "...":
        return 0
    return item[1] if _is(item, "mask") else 1


def _get_item(x: Any, *tensors: Any, index: tuple[Any, ...], inside: bool = False) -> Array:
    x = jnp.asarray(x)  # a constant arrives as a NumPy array
    if inside and (block := _block(x, tensors, index)) is not None:
        return lax.reshape(block.of(x), block.shape)
    if not tensors and (column := column_of(x, index)) is not None:
        return column.of(x)
    x, key, _, _ = _key(x, tensors, index)
    return x[key]


_get_item_by_evaluation = infer_by_evaluation(_get_item)


def _infer_get_item(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    x = types[0]
    shape = _basic_shape(x, types[1:], attrs["index"])
    if shape is None:
        return _get_item_by_evaluation(types, attrs, regions)
    return (TensorType(shape, x.dtype, x.weak),)


def _basic_shape(x: TensorType, tensors: Sequence[TensorType], index: tuple[Any, ...]) -> tuple[int, ...] | None:
    """Returns the shape of ``x[index]`` without arrays in the index, else None; a hundred times faster than JAX."""
    if any(tensor.shape for tensor in tensors) or not all(x.shape) or any(_is(item, "window") for item in index):
        return None
    # NumPy computes it. The array uses no memory, and 0 is a valid position on every axis.
    array = np.broadcast_to(np.empty((), np.bool_), x.shape)
    return array[_key(array, [0] * len(tensors), index)[1]].shape


def _update_item(x: Any, values: Any, *tensors: Any, index: tuple[Any, ...], how: str, inside: bool = False) -> Array:
    x = jnp.asarray(x)  # a graph's constant is a NumPy array
    is_constant = not isinstance(values, Tracer)
    values = fitted(values, x)
    if inside and (block := _block(x, tensors, index)) is not None:
        return _put_block(x, values, block, how, is_constant=is_constant)
    if (column := column_of(x, index)) is not None:
        return put_column(x, values, column, how)
    if (grid := grid_of(x, index)) is not None:
        return put_grid(x, values, grid, how)
    cut, key, starts, mask = _key(x, tensors, index)
    if mask is not None:
        part = cut[key]
        cut = _put(cut, key, _where(part, values, *mask, how))
    else:
        if values.ndim and values.shape[0] == 1:
            values = without_leading_ones(values, cut[key].ndim)
        try:
            cut = getattr(cut.at[key], how)(values)
        except ValueError:
            raise misfit(values.shape, cut[key].shape) from None
    if not starts:
        return cut
    return lax.dynamic_update_slice(x, cut, [starts.get(axis, 0) for axis in range(x.ndim)])


def _put_block(x: Any, values: Any, block: _Block, how: str, *, is_constant: bool) -> Array:
    values = jnp.broadcast_to(without_leading_ones(values, len(block.shape)), block.shape).reshape(block.sizes)
    if how != "set":
        values = COMBINE[how](block.of(x), values)
    elif is_constant and values.size == 1 and x.dtype.kind in "biu":
        # XLA writes a constant more slowly than what it computes: a sieve took 1.3 times as long.
        for start in block.starts:
            if isinstance(start, Tracer):
                values = lax.select(start >= 0, values, block.of(x))
                break
    return lax.dynamic_update_slice(x, values, block.starts, allow_negative_indices=False)


def _where(part: Any, values: Any, mask: Any, behind: int, how: str) -> Array:
    """Returns the elements with those that a mask selects changed; its axes count as one in the values' shape."""
    values = without_leading_ones(values, part.ndim - mask.ndim + 1)
    if values.ndim > behind:
        front = values.ndim - 1 - behind
        values = values.reshape(*values.shape[:front], *[1] * mask.ndim, *values.shape[front + 1 :])
    values = jnp.broadcast_to(values, part.shape)
    changed = values if how == "set" else COMBINE[how](part, values)
    return jnp.where(mask.reshape(*mask.shape, *[1] * behind), changed, part)


def _put(x: Any, key: tuple[Any, ...], part: Any) -> Array:
    everything = all(item is Ellipsis or item == slice(None) for item in key)
    return part if everything else x.at[key].set(part)


_update_item_by_evaluation = infer_by_evaluation(_update_item)


def _infer_update_item(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    x, values = types[:2]
    if values.dtype == x.dtype and not x.weak:
        shape = _basic_shape(x, types[2:], attrs["index"])
        if shape is not None and values.shape in (shape, ()):
            return (x,)
    return _update_item_by_evaluation(types, attrs, regions)


GET_ITEM = define_op(
    "get_item",
    impl=_get_item,
    infer=_infer_get_item,
    params=("x", "*index"),
    light=True,
    doc="The elements selected by an index.",
)

UPDATE_ITEM = define_op(
    "update_item",
    impl=_update_item,
    infer=_infer_update_item,
    params=("x", "values", "*index"),
    doc="A copy with the elements selected by an index replaced or updated.",
)


_POSITION = Attrs(index=("tensor",))


def get_item(x: ArrayLike, index: Any) -> Tensor:
    """Returns the elements selected by an index: ``x[index]``.

    Args:
      x: a tensor.
      index: NumPy's notation: ints, slices, ``...``, ``None``, integer arrays, and boolean masks with known values.
        Ints, also in lists and NumPy arrays, must be in range. The values of tensors are not checked: out-of-range
        indices are clamped to the nearest element, as in JAX; negative ones count from the end.

    Raises:
      OutOfRangeError: an int is out of range, or there are too many indices.
      InvalidTypeError: the index is invalid.
      InvalidArgumentError: a mask has no value, so that the result would have no static shape.

    Example:
      >>> import graphc as gx
      >>> gx.arange(12).reshape(3, 4)[1:, -1].numpy()
      array([ 7, 11], dtype=int32)
    """
    if type(index) is int and context.eager and isinstance(x, Tensor) and x.shape:
        return apply(GET_ITEM, (x, checked_position(index, 0, x.shape[0])), _POSITION)
    tensor = _as_operand(x)
    encoder = IndexEncoder(type_of_any(tensor).shape, index)
    if (flag := encoder.flag()) is not None:
        return get_item(get_item(x, None), slice(0, int(flag)))
    items, tensors = encoder.encode()
    return apply(GET_ITEM, (tensor, *tensors), Attrs(index=items))


def update_item(x: ArrayLike, index: Any, values: ArrayLike, how: str = "set") -> Tensor:
    """Returns a copy with selected elements replaced or updated: ``x.at[index].set(values)``.

    Args:
      x: a tensor.
      index: as in :func:`get_item`; out-of-range positions in tensors are ignored, as in JAX. The values of a mask need
        not be known if ``values`` fit any number of elements.
      values: broadcast to the shape of ``x[index]``; in a dtype that ``x`` can hold.
      how: ``set``, ``add``, ``multiply``, ``min`` or ``max``. If the index selects an element twice, ``set`` stores
        either value, and the others apply all.

    Raises:
      OutOfRangeError: an int is out of range, or there are too many indices.
      InvalidTypeError: the values do not fit the dtype, or the index is invalid.
      InvalidArgumentError: the values do not fit the shape, or ``how`` is unknown.

    Example:
      >>> import graphc as gx
      >>> gx.zeros(3).at[1].set(5.0).numpy()
      array([0., 5., 0.], dtype=float32)
    """
    if how not in _HOW:
        raise InvalidArgumentError(f"update_item: how is {how!r}, expected one of {', '.join(_HOW)}").here()
    tensor = _as_operand(x)
    type = type_of_any(tensor)
    check_fits("update_item", values, type.dtype)
    try:
        values = operand(values)
    except GraphcError as error:
        error.args = (f"update_item: {error.args[0]}",)
        raise error.here() from None
    shape = tuple(getattr(values, "shape", ()))
    items, tensors = IndexEncoder(type.shape, index, values=shape).encode()
    return apply(UPDATE_ITEM, (tensor, values, *tensors), Attrs(index=items, how=how))


def _as_operand(x: Any) -> Any:
    value = operand(x)
    return scalar_array(value) if type(value) in SCALARS else value


FUNCTIONS.add("get_item", get_item)
FUNCTIONS.add("update_item", update_item)
