"""Compositions: elements that positions name: gathered, scattered, masked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphc.base import at, user_location
from graphc.base.errors import ConcretizationError
from graphc.core import Tensor, context, current_trace, is_symbolic
from graphc.ops import functions as gx

__all__ = [
    "TopK",
    "Unique",
    "UniqueWithCounts",
    "boolean_mask",
    "dynamic_partition",
    "gather",
    "gather_nd",
    "known",
    "reverse_sequence",
    "scatter_nd",
    "searchsorted",
    "sequence_mask",
    "slice_of",
    "tensor_scatter_nd",
    "top_k",
    "unique",
    "unique_with_counts",
]


def known(function: str, argument: str, value: Any, remedy: str) -> np.ndarray[Any, Any]:
    """The values of a tensor that a shape depends on.

    Raises:
      ConcretizationError: it has none, in a compiled function.
    """
    if is_symbolic(value):
        error = ConcretizationError(
            f"{function}: the shape of the result depends on the values of {argument}, which a compiled function does "
            f"not know while it is traced; {remedy}"
        )
        raise at(current_trace().refuse(error), user_location())
    return np.asarray(value.numpy() if isinstance(value, Tensor) else value)


def gather(params: Any, indices: Any, axis: Any, batch_dims: int) -> Any:
    """The slices along axis at these positions, the first batch_dims axes being those of both."""
    axis = batch_dims if axis is None else axis
    if not batch_dims:
        return gx.take(params, indices, axis=axis)
    params, indices = gx.asarray(params), gx.asarray(indices)
    batch_dims = batch_dims % indices.ndim if batch_dims < 0 else batch_dims
    axis = axis % params.ndim
    rows = _grid(indices.shape, batch_dims)
    found = gx.moveaxis(params, axis, batch_dims)[(*rows, indices)]
    own = tuple(range(batch_dims, indices.ndim))
    return gx.moveaxis(found, own, tuple(place + axis - batch_dims for place in own))


def _grid(shape: Sequence[int], count: int) -> list[Any]:
    """For each of the first axes of a shape, the position along it."""
    return [np.arange(shape[axis], dtype=np.int32).reshape(-1, *[1] * (len(shape) - axis - 1)) for axis in range(count)]


def _positions(indices: Any) -> tuple[Any, ...]:
    """Positions as NumPy's index notation has them; their last axis is that of the axes that they name."""
    return tuple(gx.unstack(gx.asarray(indices), -1))


def gather_nd(params: Any, indices: Any, batch_dims: int) -> Any:
    """The elements (or slices) at positions whose last axis names one position for each axis."""
    indices = gx.asarray(indices)
    rows = _grid(indices.shape[:-1], batch_dims)
    return gx.asarray(params)[(*rows, *_positions(indices))]


def scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    """Zeros with updates added at positions."""
    updates = gx.asarray(updates)
    return gx.zeros(shape, dtype=updates.dtype).at[_positions(indices)].add(updates)


def tensor_scatter_nd(how: str, tensor: Any, indices: Any, updates: Any) -> Any:
    """A copy with updates put, added, or taken where they are larger or smaller, at positions."""
    updates = gx.negative(updates) if how == "sub" else updates
    places = gx.asarray(tensor).at[_positions(indices)]
    return getattr(places, {"update": "set", "sub": "add"}.get(how, how))(updates)


def boolean_mask(tensor: Any, mask: Any, axis: int | None) -> Any:
    """The elements where a mask, over one axis or several, is true."""
    remedy = "use tf.where(mask, tensor, 0), whose shape is known"
    values = known("tf.boolean_mask", "mask", mask, remedy)
    return gx.asarray(tensor)[(*[slice(None)] * (axis or 0), values.astype(bool))]


def dynamic_partition(data: Any, partitions: Any, num_partitions: int) -> list[Any]:
    """The rows of each of so many parts."""
    remedy = "use tf.where for each part"
    parts = known("tf.dynamic_partition", "partitions", partitions, remedy)
    return [gx.asarray(data)[parts == part] for part in range(num_partitions)]


def slice_of(x: Any, begin: Any, size: Any) -> Any:
    """The block of a size, -1 for all the rest of an axis, that begins at a position."""
    x = gx.asarray(x)
    if is_symbolic(begin) and not _in_graph():
        return gx.dynamic_slice(x, begin, size)
    if _in_graph() and any(is_symbolic(one) for one in (begin, size, *_items(begin), *_items(size))):
        return _block(x, *[gx.unstack(one) if is_symbolic(one) else _items(one) for one in (begin, size)])
    starts = [int(start) for start in (begin.numpy() if hasattr(begin, "numpy") else begin)]
    sizes = [int(one) for one in size]
    return x[tuple(slice(one, None if count < 0 else one + count) for one, count in zip(starts, sizes, strict=True))]


def _in_graph() -> bool:
    """Whether a graph is built by hand, in which sizes may be tensors."""
    return context.trace is not None and context.trace.root.is_graph


def _items(value: Any) -> list[Any]:
    return [] if is_symbolic(value) else list(value.numpy() if hasattr(value, "numpy") else value)


def _block(x: Any, starts: Sequence[Any], sizes: Sequence[Any]) -> Any:
    """The block whose starts and sizes may be tensors, also one of a size of -1."""
    ends: list[Any] = []
    for start, size, whole in zip(starts, sizes, gx.shape(x), strict=True):
        if is_symbolic(size):
            ends.append(gx.where(size < 0, whole, start + size))
        else:
            ends.append(whole if size < 0 else start + size)
    return x[tuple(slice(start, end) for start, end in zip(starts, ends, strict=True))]


class TopK(NamedTuple):
    """What ``tf.math.top_k`` returns."""

    values: Any
    indices: Any


class Unique(NamedTuple):
    """What ``tf.unique`` returns."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """What ``tf.unique_with_counts`` returns."""

    y: Any
    idx: Any
    count: Any


def top_k(x: Any, k: int, index_type: Any) -> TopK:
    """The k largest elements of the last axis, largest first, and their positions."""
    values, indices = gx.top_k(x, k)
    return TopK(values, gx.astype(indices, index_type))


def unique(x: Any, out_idx: Any) -> Unique:
    """The different values, in the order in which they first occur, and which of them each element is."""
    return Unique(*unique_with_counts(x, out_idx)[:2])


def unique_with_counts(x: Any, out_idx: Any) -> UniqueWithCounts:
    """The different values, in the order in which they first occur, which each element is, and how often."""
    remedy = "use gx.unique(x, size=n)"
    values = known("tf.unique", "x", x, remedy)
    found, first, inverse, counts = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    whole = [gx.asarray(part, dtype=out_idx) for part in (places[inverse.ravel()], counts[order])]
    return UniqueWithCounts(gx.asarray(found[order], dtype=values.dtype), *whole)


def sequence_mask(lengths: Any, maxlen: Any, dtype: Any) -> Any:
    """For each length, as many times true, then false up to maxlen."""
    if maxlen is None:
        maxlen = int(known("tf.sequence_mask", "lengths", lengths, "pass maxlen").max(initial=0))
    return gx.astype(gx.arange(maxlen) < gx.expand_dims(lengths, -1), dtype)


def searchsorted(sorted_sequence: Any, values: Any, side: str, out_type: Any) -> Any:
    """Where in a sorted sequence values belong, row by row."""
    row, values = gx.asarray(sorted_sequence), gx.asarray(values)
    if row.ndim == 1:
        return gx.astype(gx.searchsorted(row, values, side), out_type)
    compare = gx.less if side == "left" else gx.less_equal
    before = compare(gx.expand_dims(row, -2), gx.expand_dims(values, -1))
    return gx.astype(gx.sum(gx.astype(before, "int32"), -1), out_type)


def reverse_sequence(x: Any, seq_lengths: Any, seq_axis: int, batch_axis: int | None) -> Any:
    """The first so many elements of each row along seq_axis in the other order."""
    x, lengths = gx.asarray(x), gx.asarray(seq_lengths)
    batch_axis = 0 if batch_axis is None else batch_axis
    shape = [1] * x.ndim
    shape[seq_axis] = x.shape[seq_axis]
    steps = gx.reshape(gx.arange(x.shape[seq_axis], dtype="int32"), tuple(shape))
    shape = [1] * x.ndim
    shape[batch_axis] = x.shape[batch_axis]
    ends = gx.reshape(lengths, tuple(shape))
    return gx.take_along_axis(x, gx.broadcast_to(gx.where(steps < ends, ends - 1 - steps, steps), x.shape), seq_axis)
