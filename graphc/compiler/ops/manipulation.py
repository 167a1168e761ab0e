"""Manipulation functions: they rearrange, join, split and repeat tensors, or convert their dtype."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from graphc.compiler.ops.deferred import (
    columns_of_rows,
    concat_of_rows,
    depth_of_rows,
    hstack_of_rows,
    stack_of_rows,
    vstack_of_rows,
)
from graphc.compiler.ops.refusals import broadcasts
from graphc.compiler.ops.table import define, row
from graphc.compiler.ops.values import fitted

# Splitting of a tensor into parts.


def parts(split: Any, x: Any, indices_or_sections: Any, axis: int) -> Any:
    """Returns the parts of a tensor along an axis: as many as requested (by ``split``), or those between positions."""
    # As in NumPy, parts past the end are empty; JAX refuses such positions.
    if isinstance(indices_or_sections, int):
        return split(x, indices_or_sections, axis=axis)
    size = x.shape[axis]
    ends = [slice(position).indices(size)[1] for position in (*indices_or_sections, size)]
    starts = [0, *ends[:-1]]
    return [lax.slice_in_dim(x, start, max(start, end), axis=axis) for start, end in zip(starts, ends, strict=True)]


Array = jax.Array


def _astype(x: Any, dtype: Any, copy: bool = True) -> Array:
    # Converting to its own dtype makes a weakly typed array strongly typed.
    return lax.convert_element_type(jnp.astype(x, dtype), dtype)


def _reshape(x: Any, shape: Any, copy: bool | None = None) -> Array:
    return jnp.reshape(x, shape)


def _concat(*arrays: Any, axis: int | None = 0) -> Array:
    shapes = [jnp.shape(array) for array in arrays]
    if axis is not None and all(-len(shape) <= axis < len(shape) for shape in shapes):
        # Empty tensors add nothing, and XLA fails, or aborts the process, if the result is then cut to an empty one
        # (JAX 0.10).
        others = {(*shape[: axis % len(shape)], *shape[axis % len(shape) + 1 :]) for shape in shapes}
        filled = [array for array, shape in zip(arrays, shapes, strict=True) if shape[axis]]
        if len(others) == 1 and 0 < len(filled) < len(arrays):
            return jnp.concatenate(filled, axis=axis, dtype=jnp.result_type(*arrays))
    return jnp.concatenate(arrays, axis=axis)


def _stack(*arrays: Any, axis: int = 0) -> Array:
    return jnp.stack(arrays, axis=axis)


def _hstack(*arrays: Any) -> Array:
    return jnp.hstack(arrays)


def _vstack(*arrays: Any) -> Array:
    return jnp.vstack(arrays)


def _split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    return parts(jnp.split, x, indices_or_sections, axis)


def _dynamic_slice(x: Any, starts: Any, sizes: Any) -> Array:
    return lax.dynamic_slice(x, tuple(starts), sizes)


def _dynamic_update_slice(x: Any, update: Any, starts: Any) -> Array:
    return lax.dynamic_update_slice(x, update, tuple(starts))


def _tile(x: Any, repetitions: Any) -> Array:
    return jnp.tile(x, repetitions)


def _repeat(x: Any, repeats: Any, axis: int | None = None) -> Array:
    return jnp.repeat(x, repeats if isinstance(repeats, int) else np.asarray(repeats), axis=axis)


def _pad(x: Any, pad_width: Any, mode: str = "constant", constant_values: Any = 0) -> Array:
    options = {"constant_values": constant_values} if mode == "constant" else {}
    return jnp.pad(x, pad_width, mode=mode, **options)


def _fold_reshape(x: Any, shape: Any, copy: bool | None = None) -> Any:
    return np.reshape(x, shape)


def _fold_concat(*arrays: Any, axis: int | None = 0) -> Any:
    return np.concatenate(arrays, axis=axis)


def _fold_stack(*arrays: Any, axis: int = 0) -> Any:
    return np.stack(arrays, axis=axis)


def _append(x: Any, values: Any, axis: int | None = None) -> Array:
    return jnp.append(x, values, axis)


def _column_stack(*arrays: Any) -> Array:
    return jnp.column_stack(arrays)


def _dstack(*arrays: Any) -> Array:
    return jnp.dstack(arrays)


def _atleast(function: Any) -> Any:
    """Applies a function to each tensor: one returns one, several return a tuple."""

    def impl(*arrays: Any) -> Any:
        return tuple(function(array) for array in arrays)

    return impl


def _insert(x: Any, values: Any, obj: Any, axis: int | None = None) -> Array:
    _check_positions(obj, x, axis, 1)
    return jnp.insert(x, np.asarray(obj), values, axis)


def _delete(x: Any, obj: Any, axis: int | None = None) -> Array:
    _check_positions(obj, x, axis, 0)
    return jnp.delete(x, np.asarray(obj), axis)


def _check_positions(obj: Any, x: Any, axis: int | None, behind: int) -> None:
    """Raises for positions out of range, which JAX clamps."""
    size = x.size if axis is None else x.shape[axis]
    for position in np.ravel(obj):
        if not -size <= position < size + behind:
            raise IndexError(f"position {position} is out of range for {size} elements")


def _fill_diagonal(x: Any, value: Any, wrap: bool = False) -> Array:
    values: Any = fitted(value, x)
    if wrap and x.ndim == 2:  # not supported by JAX
        positions = range(0, x.size, x.shape[1] + 1)
        values = jnp.resize(values, (len(positions),)) if values.ndim else values
        return jnp.ravel(x).at[np.asarray(positions)].set(values).reshape(x.shape)
    return jnp.fill_diagonal(x, values, inplace=False)


def _array_split(x: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    return parts(jnp.array_split, x, indices_or_sections, axis)


def _hsplit(x: Any, indices_or_sections: Any) -> Any:
    if not x.ndim:
        raise ValueError("expected at least one axis")
    return parts(jnp.split, x, indices_or_sections, 0 if x.ndim == 1 else 1)


def _vsplit(x: Any, indices_or_sections: Any) -> Any:
    if x.ndim < 2:
        raise ValueError("expected at least two axes")
    return parts(jnp.split, x, indices_or_sections, 0)


def _dsplit(x: Any, indices_or_sections: Any) -> Any:
    if x.ndim < 3:
        raise ValueError("expected at least three axes")
    return parts(jnp.split, x, indices_or_sections, 2)


_SPLIT = "x, indices_or_sections: Axes"


_PARTS = "tuple[Tensor, ...]"


_AS_GIVEN = "Tensor | tuple[Tensor, ...]"

_ARRAY_API = (
    row("astype", _astype, "x, dtype: DType, copy: bool = True, device: Device = None",
        "The tensor converted to dtype; always a new tensor, whatever copy is."),
    # Axes.
    row("reshape", _reshape, "x, shape: Shape, copy: bool | None = None",
        "The same elements in another shape; one size may be -1. Always a new tensor, whatever copy is.",
        fold=_fold_reshape),
    row("ravel", jnp.ravel, "x", "The flattened tensor.", fold=np.ravel, aliases=("flatten",)),
    row("permute_dims", jnp.transpose, "x, axes: Axis = None",
        "The tensor with its axes permuted; reversed for None.", fold=np.transpose, aliases=("transpose",)),
    row("matrix_transpose", jnp.matrix_transpose, "x", "The tensor with its last two axes swapped."),
    row("moveaxis", jnp.moveaxis, "x, source: Axes, destination: Axes",
        "The tensor with axes moved to other positions."),
    row("swapaxes", jnp.swapaxes, "x, axis1: int, axis2: int", "The tensor with two axes swapped."),
    row("expand_dims", jnp.expand_dims, "x, axis: Axes",
        "The tensor with axes of size 1 inserted.", fold=np.expand_dims),
    row("squeeze", jnp.squeeze, "x, axis: Axis = None", "The tensor with axes of size 1 removed.", fold=np.squeeze),
    row("broadcast_to", jnp.broadcast_to, "x, shape: Shape",
        "The tensor broadcast to a shape.", fold=np.broadcast_to, need=broadcasts("x")),
    row("broadcast_arrays", jnp.broadcast_arrays, "*arrays",
        "The tensors broadcast to a common shape.", returns="tuple[Tensor, ...]"),
    # Joining and splitting.
    row("concat", _concat, "arrays: Tensors, axis: int | None = 0",
        "Tensors joined along an existing axis; flattened for None.", fold=_fold_concat, aliases=("concatenate",),
        instead=concat_of_rows),
    row("stack", _stack, "arrays: Tensors, axis: int = 0",
        "Tensors joined along a new axis.", fold=_fold_stack, instead=stack_of_rows),
    row("hstack", _hstack, "arrays: Tensors",
        "Tensors joined along axis 1; along axis 0 if 1-d.", instead=hstack_of_rows),
    row("vstack", _vstack, "arrays: Tensors", "Joined along axis 0, as rows.", instead=vstack_of_rows),
    row("split", _split, "x, indices_or_sections: Axes, axis: int = 0",
        "The tensor split along axis into equal parts, or before given positions.", returns="tuple[Tensor, ...]"),
    row("unstack", jnp.unstack, "x, axis: int = 0", "The slices along axis.", returns="tuple[Tensor, ...]"),
    row("dynamic_slice", _dynamic_slice, "x, starts, sizes: Shape",
        "The block of given sizes at starts, one for each axis; shifted to fit into the tensor if necessary."),
    row("dynamic_update_slice", _dynamic_update_slice, "x, update, starts",
        "A copy with update stored at starts, one for each axis; shifted to fit into the tensor if necessary."),
    # Repetition and order.
    row("tile", _tile, "x, repetitions: Shape", "The tensor repeated along each axis."),
    row("repeat", _repeat, "x, repeats: Shape, axis: int | None = None",
        "The tensor with each element repeated along axis; one count for all, or one for each."),
    row("flip", jnp.flip, "x, axis: Axis = None", "The tensor reversed along axis."),
    row("roll", jnp.roll, "x, shift: Axes, axis: Axis = None",
        "The tensor rolled along axis; elements past the end return at the start."),
    row("rot90", jnp.rot90, "x, k: int = 1, axes: Axes = (0, 1)",
        "The tensor rotated k times by 90 degrees, in the plane of two axes."),
    row("pad", _pad, "x, pad_width: PadWidth, mode: str = 'constant', constant_values: float = 0",
        "The tensor padded before and after each axis; pad_width is an int or a pair for each axis."),
    # Parts of matrices.
    row("tril", jnp.tril, "x, k: int = 0", "The tensor with zeros above diagonal k."),
    row("triu", jnp.triu, "x, k: int = 0", "The tensor with zeros below diagonal k."),
    row("diag", jnp.diag, "x, k: int = 0", "Diagonal k of a matrix, or the matrix with this diagonal."),
    row("diagonal", jnp.diagonal, "x, offset: int = 0, axis1: int = 0, axis2: int = 1",
        "The diagonal of two axes, as the last axis."),
    row("meshgrid", jnp.meshgrid, "*arrays, indexing: str = 'xy'",
        "The coordinates of a grid, from 1-d coordinates; indexing is 'xy' or 'ij'.", returns="tuple[Tensor, ...]"),
)  # fmt: skip

_NUMPY = (
    row("append", _append, "x, values, axis: int | None = None",
        "x with values appended along axis; flattened for None."),
    row("insert", _insert, "x, obj: Axes, values, axis: int | None = None",
        "The tensor with values inserted before positions along axis."),
    row("delete", _delete, "x, obj: Axes, axis: int | None = None", "The tensor without some positions along axis."),
    row("resize", jnp.resize, "x, new_shape: Shape", "The elements in another shape, repeated to fill it."),
    row("column_stack", _column_stack, "arrays: Tensors",
        "Tensors joined as columns of a matrix.", instead=columns_of_rows),
    row("dstack", _dstack, "arrays: Tensors", "Joined along the third axis.", instead=depth_of_rows),
    row("array_split", _array_split, f"{_SPLIT}, axis: int = 0",
        "The tensor split into parts whose sizes may differ by one.", returns=_PARTS),
    row("hsplit", _hsplit, _SPLIT, "The tensor split along axis 1; along axis 0 if 1-d.", returns=_PARTS),
    row("vsplit", _vsplit, _SPLIT, "The tensor split along axis 0.", returns=_PARTS),
    row("dsplit", _dsplit, _SPLIT, "The tensor split along axis 2.", returns=_PARTS),
    row("atleast_1d", _atleast(jnp.atleast_1d), "*arrays", "Tensors with at least one axis.", returns=_AS_GIVEN),
    row("atleast_2d", _atleast(jnp.atleast_2d), "*arrays", "Tensors with at least two axes.", returns=_AS_GIVEN),
    row("atleast_3d", _atleast(jnp.atleast_3d), "*arrays", "Tensors with at least three axes.", returns=_AS_GIVEN),
    row("fliplr", jnp.fliplr, "x", "The tensor reversed along axis 1."),
    row("flipud", jnp.flipud, "x", "The tensor reversed along axis 0."),
    row("rollaxis", jnp.rollaxis, "x, axis: int, start: int = 0", "The tensor with an axis moved to before start."),
    row("diagflat", jnp.diagflat, "x, k: int = 0", "The matrix whose diagonal k is the flattened tensor."),
    row("fill_diagonal", _fill_diagonal, "x, value, wrap: bool = False",
        "A copy with value on the diagonal; wrap repeats it below in a tall matrix."),
)  # fmt: skip

define(globals(), _NUMPY, light=_ARRAY_API)
