"""Rows that were taken from one array, joined again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Tensor, apply
from graphc.compiler.ir import OPS, Attrs, Value
from graphc.compiler.tracing import LateRow, trace_of

__all__ = [
    "columns_of_rows",
    "concat_of_rows",
    "depth_of_rows",
    "hstack_of_rows",
    "note_watched",
    "rows_of",
    "stack_of_rows",
    "vstack_of_rows",
    "was_joined",
]


def rows_of(values: Sequence[Any]) -> tuple[Value, range] | None:
    """Returns the array of which some values are evenly spaced rows, and which rows they are; None for other values.

    A list that a loop has filled is one array, of which each item is a row. So are its reverse and its slices.

    Args:
      values: what may be rows of an array of a trace. There are at least two.
    """
    if len(values) < 2:
        return None
    first, second = _row(values[0]), _row(values[1])
    if first is None or second is None or first[0] is not second[0] or first[1] == second[1]:
        return None
    (source, start), step = first, second[1] - first[1]
    places = range(start, start + step * len(values), step)
    found = all(_row(value) == (source, place) for value, place in zip(values, places, strict=True))
    found = found and all(value.trace is values[0].trace for value in values)
    root = values[0].trace.root
    if not found or source in root.watched_rows:
        return None
    root.joined_rows.append(source)
    return source, places


def note_watched(tensor: Tensor) -> None:
    """Notes that a tape watches a tensor: if it is a row, what is joined of such rows from now on is no array."""
    row = _row(tensor)
    if row is not None:
        trace_of(cast("SymbolicTensor", tensor)).root.watched_rows.add(row[0])


def was_joined(tensor: Tensor, start: int) -> bool:
    """Returns True if rows of the array of which a tensor is a row were joined, since ``start`` arrays were."""
    row = _row(tensor)
    return row is not None and row[0] in trace_of(cast("SymbolicTensor", tensor)).root.joined_rows[start:]


def _row(tensor: Any) -> tuple[Value, int] | None:
    """Returns the array and the place, if a tensor is a row of an array of a trace at a place that is known."""
    if type(tensor) is LateRow and tensor.source is not None:
        return tensor.source, tensor.place
    is_own = type(tensor) is SymbolicTensor and not tensor.trace.is_graph  # whose nodes people see by name
    node = tensor.raw.node if is_own else None
    if node is None or node.op.name != "get_item" or len(node.inputs) != 1 or node.control_inputs or node.device:
        return None
    (source,), index = node.inputs, node.attrs["index"]
    if source.type.is_open or len(index) != 1 or type(index[0]) is not int or index[0] < 0:
        return None
    return source, index[0]


def _stacked(arrays: Any) -> Tensor | None:
    """Returns the stack of rows of one array along a new first axis: a slice of it.

    A tape that saw 400 rows and their stack would trace 400 gradients, each as large as the array, and their sums, and
    XLA takes seconds for a stack of thousands.
    """
    found = rows_of(arrays) if type(arrays) in (list, tuple) else None
    if found is None or found[0].type.weak:
        return None
    source, places = found
    rows = cast("Sequence[Any]", arrays)
    whole = SymbolicTensor(source, rows[0].trace)
    if places == range(source.type.shape[0]):
        return apply(OPS["identity"], (whole,))  # another tensor, for tapes
    stop = places.stop if places.step > 0 or places.stop >= 0 else None
    step = None if places.step == 1 else places.step
    attrs = Attrs(index=((places.start, stop, step),))
    return apply(OPS["get_item"], (whole,), attrs)


def stack_of_rows(arrays: Any, axis: Any) -> Tensor | None:
    """Returns the stack of rows of one array along a new axis; None for anything else."""
    rank = len(arrays[0].shape) + 1 if _are_tensors(arrays) else 0
    if type(axis) is not int or not -rank <= axis < rank:
        return None
    part = _stacked(arrays)
    return part if part is None or axis % rank == 0 else FUNCTIONS["moveaxis"](part, 0, axis)


def concat_of_rows(arrays: Any, axis: Any) -> Tensor | None:
    """Returns rows of one array, joined along an axis that they have; None for anything else."""
    shape = arrays[0].shape if _are_tensors(arrays) else ()
    if not shape or not (axis is None or (type(axis) is int and -len(shape) <= axis < len(shape))):
        return None
    part = _stacked(arrays)
    if part is None or axis is None:
        return None if part is None else FUNCTIONS["reshape"](part, (-1,))
    axis %= len(shape)
    part = FUNCTIONS["moveaxis"](part, 0, axis) if axis else part
    return FUNCTIONS["reshape"](part, (*shape[:axis], len(arrays) * shape[axis], *shape[axis + 1 :]))


def _are_tensors(arrays: Any) -> bool:
    return type(arrays) in (list, tuple) and len(arrays) > 1 and isinstance(arrays[0], SymbolicTensor)


def _by_rank(stacks: tuple[int, int] | None, axis: int) -> Callable[[Any], Tensor | None]:
    """Returns what joins rows along a new axis if they have few axes, and along one of theirs if they have more.

    Args:
      stacks: the least number of axes with which they are joined along a new one, and the first with which they are
        not; None where none is new.
      axis: along which; 0 if they have one axis and it is theirs.
    """

    def joined(arrays: Any) -> Tensor | None:
        rank = len(arrays[0].shape) if _are_tensors(arrays) else 0
        if stacks is not None and rank < stacks[1]:
            return stack_of_rows(arrays, axis) if rank >= stacks[0] else None
        return concat_of_rows(arrays, min(axis, rank - 1)) if rank else None

    return joined


vstack_of_rows = _by_rank((1, 2), 0)
hstack_of_rows = _by_rank(None, 1)
columns_of_rows = _by_rank((1, 2), 1)
depth_of_rows = _by_rank((2, 3), 2)
