"""The stack of rows that were taken from one array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from graphc.core import FUNCTIONS, SymbolicTensor, Tensor, apply
from graphc.ir import OPS, Attrs, Value

__all__ = ["stack_of_rows"]


def stack_of_rows(arrays: Any, axis: Any) -> Tensor | None:
    """Returns the stack of neighbouring rows of one array of a trace: a slice, with its first axis moved.

    A list that a loop has filled is one array, of which each item is a row. A tape that saw 400 rows and their stack
    would trace 400 gradients, each as large as the array, and their sums.

    Args:
      arrays: what is stacked.
      axis: the new axis.

    Returns:
      The stack; None for anything else.
    """
    if type(arrays) not in (list, tuple):
        return None
    rows = cast("Sequence[Any]", arrays)
    found = [_row(row) for row in rows]
    if len(rows) < 2 or found[0] is None or type(axis) is not int:
        return None
    source, start = found[0]
    rank = len(rows[0].shape) + 1
    if found != [(source, start + place) for place in range(len(rows))] or not -rank <= axis < rank:
        return None
    attrs = Attrs(rows[0].raw.node.attrs, index=((start, start + len(rows), None),))
    part = apply(OPS["get_item"], (SymbolicTensor(source, rows[0].trace),), attrs)
    return part if axis % rank == 0 else FUNCTIONS["moveaxis"](part, 0, axis)


def _row(tensor: Any) -> tuple[Value, int] | None:
    """Returns the array and the place, if a tensor is a row of an array of a trace at a place that is known."""
    is_own = isinstance(tensor, SymbolicTensor) and not tensor.trace.is_graph  # whose nodes people see by name
    node = tensor.raw.node if is_own else None
    if node is None or node.op.name != "get_item" or len(node.inputs) != 1 or node.control_inputs or node.device:
        return None
    (source,), index = node.inputs, node.attrs["index"]
    if source.type.is_open or source.type.weak or len(index) != 1 or type(index[0]) is not int or index[0] < 0:
        return None
    return source, index[0]
