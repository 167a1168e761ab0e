"""Elements that positions name: gathered, scattered, masked, and different ones found."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from graphc.compiler.base.errors import ConcretizationError
from graphc.compiler.core import ArrayLike, Tensor, is_symbolic
from graphc.compiler.ops import functions as gx
from graphc.compiler.tracing import current_trace, graph_by_hand

__all__ = [
    "TopK", "Unique", "UniqueWithCounts", "boolean_mask", "dynamic_partition", "gather", "gather_nd", "known_sizes",
    "known_values", "reverse_sequence", "scatter_nd", "searchsorted", "sequence_mask", "slice", "tensor_scatter_nd",
    "top_k", "unique", "unique_with_counts",
]  # fmt: skip

# Values that must be known while a function is traced: sizes, and values that determine shapes.


def known_values(what: str, value: Any, remedy: str) -> np.ndarray[Any, Any]:
    """Returns the values of a tensor that a shape depends on.

    Args:
      what: the call and the argument, for the message.
      value: a tensor, array or list.
      remedy: what to write instead if there are no values yet.

    Raises:
      ConcretizationError: the tensor has no values while the function is traced.
    """
    if is_symbolic(value):
        error = ConcretizationError(
            f"{what}: the shape of the result depends on values that a compiled function does not know while it is "
            f"traced; {remedy}"
        )
        raise current_trace().refuse(error).here()
    return np.asarray(value.numpy() if hasattr(value, "numpy") else value)


def known_sizes(what: str, shape: Any) -> tuple[int, ...]:
    """Returns a shape as ints.

    Raises:
      ConcretizationError: it is a tensor that has no values while the function is traced.
    """
    requested: Any = shape
    if isinstance(shape, tuple) and all(type(size) is int for size in requested):
        return requested
    sizes = known_values(
        what, np.asarray(requested) if isinstance(shape, list | tuple) else requested, "give it as ints"
    )
    return tuple(int(size) for size in np.ravel(sizes))


_slice = slice  # Python's own, whose name a function here has


def gather(params: ArrayLike, indices: ArrayLike, axis: int | None = None, batch_dims: int = 0) -> Tensor:
    """Returns the slices along an axis at some positions, the first ``batch_dims`` axes being those of both.

    Args:
      params: a tensor.
      indices: the positions.
      axis: the axis; ``batch_dims`` when None.
      batch_dims: the number of axes that both have in common.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.gather([[1, 2], [3, 4]], [[1], [0]], batch_dims=1).tolist()
      [[2], [3]]
    """
    axis = batch_dims if axis is None else axis
    if not batch_dims:
        return gx.take(params, indices, axis=axis)
    tensor, positions = gx.asarray(params), gx.asarray(indices)
    batch_dims = batch_dims % positions.ndim if batch_dims < 0 else batch_dims
    axis = axis % tensor.ndim
    rows = _grid(positions.shape, batch_dims)
    gathered = gx.moveaxis(tensor, axis, batch_dims)[(*rows, positions)]
    own = tuple(range(batch_dims, positions.ndim))
    return gx.moveaxis(gathered, own, tuple(dimension + axis - batch_dims for dimension in own))


def _grid(shape: Sequence[int], count: int) -> list[Any]:
    """For each of the first axes of a shape, the position along it."""
    return [np.arange(shape[axis], dtype=np.int32).reshape(-1, *[1] * (len(shape) - axis - 1)) for axis in range(count)]


def _positions(indices: Any) -> tuple[Any, ...]:
    """Positions as NumPy's index notation has them; their last axis is that of the axes that they name."""
    return tuple(gx.unstack(gx.asarray(indices), -1))


def gather_nd(params: ArrayLike, indices: ArrayLike, batch_dims: int = 0) -> Tensor:
    """Returns the elements, or slices, at positions whose last axis names one position for each axis.

    Args:
      params: a tensor.
      indices: the positions.
      batch_dims: the number of axes that both have in common.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).tolist()
      [2, 3]
    """
    positions = gx.asarray(indices)
    rows = _grid(positions.shape[:-1], batch_dims)
    return gx.asarray(params)[(*rows, *_positions(positions))]


def scatter_nd(indices: ArrayLike, updates: ArrayLike, shape: Any) -> Tensor:
    """Returns zeros with updates added at positions; see :func:`gather_nd`.

    Args:
      indices: the positions.
      updates: the values to add.
      shape: the shape of the result.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.scatter_nd([[1], [1]], [2.0, 3.0], [3]).tolist()
      [0.0, 5.0, 0.0]
    """
    added = gx.asarray(updates)
    return gx.zeros(shape, dtype=added.dtype).at[_positions(indices)].add(added)


def tensor_scatter_nd(how: str, tensor: ArrayLike, indices: ArrayLike, updates: ArrayLike) -> Tensor:
    """Returns a copy with updates at positions; see :func:`gather_nd`.

    Args:
      how: ``"set"``, ``"add"``, ``"multiply"``, ``"max"`` or ``"min"``, as the methods of ``x.at[...]``.
      tensor: the tensor to copy.
      indices: the positions.
      updates: the values to store, or to combine with the existing ones.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.tensor_scatter_nd("add", [1.0, 1.0], [[0]], [2.0]).tolist()
      [3.0, 1.0]
    """
    return getattr(gx.asarray(tensor).at[_positions(indices)], how)(updates)


def boolean_mask(tensor: ArrayLike, mask: ArrayLike, axis: int | None = None) -> Tensor:
    """Returns the elements where a mask, over one axis or several, is true.

    Args:
      tensor: a tensor.
      mask: truth values; they must be known, as they decide on the shape.
      axis: the first of its axes; None for the first axis.

    Raises:
      ConcretizationError: the mask is not known while the function is traced.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.boolean_mask([1, 2, 3], [True, False, True]).tolist()
      [1, 3]
    """
    values = known_values("boolean_mask: mask", mask, "use gx.where(mask, tensor, 0), whose shape is known")
    return gx.asarray(tensor)[(*[_slice(None)] * (axis or 0), values.astype(bool))]


def dynamic_partition(data: ArrayLike, partitions: ArrayLike, num_partitions: int) -> list[Tensor]:
    """Returns the rows of each of so many parts.

    Args:
      data: a tensor.
      partitions: for each row the index of its part; the values must be known, since they determine shapes.
      num_partitions: the number of parts.

    Raises:
      ConcretizationError: they are not known while the function is traced.

    Example:
      >>> import graphc as gx
      >>> [part.tolist() for part in gx.arrays.dynamic_partition([1, 2, 3], [1, 0, 1], 2)]
      [[2], [1, 3]]
    """
    parts = known_values("dynamic_partition: partitions", partitions, "use gx.where for each part")
    return [gx.asarray(data)[parts == part] for part in range(num_partitions)]


def slice(x: ArrayLike, begin: Any, size: Any) -> Tensor:
    """Returns the block of a size that begins at a position.

    Args:
      x: a tensor.
      begin: the position along each axis.
      size: the size of each axis; -1 for all the rest of it, where the position is known.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.slice([[1, 2, 3], [4, 5, 6]], [0, 1], [2, -1]).tolist()
      [[2, 3], [5, 6]]
    """
    tensor = gx.asarray(x)
    if is_symbolic(begin) and graph_by_hand() is None:
        return gx.dynamic_slice(tensor, begin, size)
    if graph_by_hand() is not None and any(is_symbolic(one) for one in (begin, size, *_items(begin), *_items(size))):
        return _block(tensor, *[gx.unstack(one) if is_symbolic(one) else _items(one) for one in (begin, size)])
    starts = [int(start) for start in (begin.numpy() if hasattr(begin, "numpy") else begin)]
    sizes = [int(one) for one in size]
    return tensor[
        tuple(_slice(one, None if count < 0 else one + count) for one, count in zip(starts, sizes, strict=True))
    ]


def _items(value: Any) -> list[Any]:
    return [] if is_symbolic(value) else list(value.numpy() if hasattr(value, "numpy") else value)


def _block(x: Any, starts: Sequence[Any], sizes: Sequence[Any]) -> Any:
    """Returns the block whose starts and sizes may be tensors, also one of a size of -1."""
    ends: list[Any] = []
    for start, size, whole in zip(starts, sizes, gx.shape(x), strict=True):
        if is_symbolic(size):
            ends.append(gx.where(size < 0, whole, start + size))
        else:
            ends.append(whole if size < 0 else start + size)
    return x[tuple(_slice(start, end) for start, end in zip(starts, ends, strict=True))]


class TopK(NamedTuple):
    """The largest elements, and their positions."""

    values: Tensor
    indices: Tensor


class Unique(NamedTuple):
    """The different values, and which of them each element is."""

    y: Tensor
    idx: Tensor


class UniqueWithCounts(NamedTuple):
    """The different values, which of them each element is, and how often each occurs."""

    y: Tensor
    idx: Tensor
    count: Tensor  # pyright: ignore[reportIncompatibleMethodOverride]  it is TensorFlow's name


def top_k(x: ArrayLike, k: int = 1, index_type: Any = "int32") -> TopK:
    """Returns the ``k`` largest elements of the last axis, largest first, and their positions.

    Args:
      x: a tensor.
      k: the number of elements.
      index_type: the dtype of the positions.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.top_k([1.0, 3.0, 2.0], 2).indices.tolist()
      [1, 2]
    """
    values, indices = gx.top_k(x, k)
    return TopK(values, gx.astype(indices, index_type))


def unique(x: ArrayLike, out_idx: Any = "int32") -> Unique:
    """Returns the different values in the order in which they first occur; see :func:`unique_with_counts`.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.unique([3, 1, 3]).y.tolist()
      [3, 1]
    """
    return Unique(*unique_with_counts(x, out_idx)[:2])


def unique_with_counts(x: ArrayLike, out_idx: Any = "int32") -> UniqueWithCounts:
    """Returns the different values in the order in which they first occur, and how often.

    Args:
      x: a vector; its values must be known, as they decide on the shape.
      out_idx: the dtype of positions and counts.

    Raises:
      ConcretizationError: they are not known while the function is traced.

    Example:
      >>> import graphc as gx
      >>> found = gx.arrays.unique_with_counts([3, 1, 3])
      >>> found.idx.tolist(), found.count.tolist()
      ([0, 1, 0], [2, 1])
    """
    values = known_values("unique: x", x, "use gx.unique(x, size=n)")
    distinct, first, inverse, counts = np.unique(values, return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    whole = [gx.asarray(part, dtype=out_idx) for part in (ranks[inverse.ravel()], counts[order])]
    return UniqueWithCounts(gx.asarray(distinct[order], dtype=gx.asarray(x).dtype), *whole)


def sequence_mask(lengths: ArrayLike, maxlen: int | None = None, dtype: Any = "bool") -> Tensor:
    """Returns for each length as many times true, then false.

    Args:
      lengths: the lengths.
      maxlen: the size of both; None for the largest length, which must then be known.
      dtype: the dtype of the result.

    Raises:
      ConcretizationError: the lengths are not known while the function is traced.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.sequence_mask([1, 3], dtype="int32").tolist()
      [[1, 0, 0], [1, 1, 1]]
    """
    if maxlen is None:
        maxlen = int(known_values("sequence_mask: lengths", lengths, "pass maxlen").max(initial=0))
    return gx.astype(gx.arange(maxlen) < gx.expand_dims(lengths, -1), dtype)


def searchsorted(sorted_sequence: ArrayLike, values: ArrayLike, side: str = "left", out_type: Any = "int32") -> Tensor:
    """Returns where in sorted rows values belong, row by row.

    Args:
      sorted_sequence: ``[..., n]``.
      values: ``[..., m]``.
      side: ``"left"`` before equal elements, or ``"right"`` behind them.
      out_type: the dtype of the result.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.searchsorted([[1, 3], [2, 4]], [[2], [9]]).tolist()
      [[1], [2]]
    """
    row, wanted = gx.asarray(sorted_sequence), gx.asarray(values)
    if row.ndim == 1:
        return gx.astype(gx.searchsorted(row, wanted, side), out_type)
    compare = gx.less if side == "left" else gx.less_equal
    before = compare(gx.expand_dims(row, -2), gx.expand_dims(wanted, -1))
    return gx.astype(gx.sum(gx.astype(before, "int32"), -1), out_type)


def reverse_sequence(x: ArrayLike, seq_lengths: ArrayLike, seq_axis: int, batch_axis: int | None = None) -> Tensor:
    """Returns a tensor in which the first so many elements of each row stand in the other order.

    Args:
      x: a tensor.
      seq_lengths: the number of elements in each row.
      seq_axis: the axis of the elements.
      batch_axis: the axis of the rows; the first when None.

    Example:
      >>> import graphc as gx
      >>> gx.arrays.reverse_sequence([[1, 2, 3], [4, 5, 6]], [2, 3], seq_axis=1).tolist()
      [[2, 1, 3], [6, 5, 4]]
    """
    tensor, lengths = gx.asarray(x), gx.asarray(seq_lengths)
    batch_axis = 0 if batch_axis is None else batch_axis
    shape = [1] * tensor.ndim
    shape[seq_axis] = tensor.shape[seq_axis]
    steps = gx.reshape(gx.arange(tensor.shape[seq_axis], dtype="int32"), tuple(shape))
    shape = [1] * tensor.ndim
    shape[batch_axis] = tensor.shape[batch_axis]
    ends = gx.reshape(lengths, tuple(shape))
    positions = gx.broadcast_to(gx.where(steps < ends, ends - 1 - steps, steps), tensor.shape)
    return gx.take_along_axis(tensor, positions, seq_axis)
