"""``items[k]`` where ``k`` is a tensor: one of the items of a Python list or tuple, chosen when the program runs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from graphc.compiler.autograph.constructs.branches.branch import choose, itself
from graphc.compiler.autograph.constructs.branches.checks import require
from graphc.compiler.autograph.values.choice import Choice
from graphc.compiler.autograph.values.choice_join import holds_choice, is_constant
from graphc.compiler.autograph.values.join import Join, note_aliases, same, to_tensors
from graphc.compiler.autograph.values.number import common_kind, number, numbered
from graphc.compiler.autograph.values.whole_numbers import whole_number
from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor
from graphc.compiler.ir import TensorType
from graphc.compiler.tracing import Trace, current_trace

__all__ = ["choose_item", "columns_of", "place_in"]


def choose_item(items: Sequence[Any], index: SymbolicTensor) -> Any:
    """Returns the item at a place that is a tensor, counted from the end if it is negative.

    Raises:
      InvalidArgumentError, InvalidTypeError: the items differ in structure, shape or dtype.
      UnimplementedError: they are neither tensors nor numbers.
    """
    trace = current_trace()
    size = len(items)
    position = place_in(size, index, f"{type(items).__name__} index out of range")
    if not size:
        return None  # what follows is never reached
    if all(is_constant(item, trace) for item in items):  # strings, functions and the like: no tensor holds them
        return Choice(number(position, int), tuple(items)) if size > 1 else items[0]
    if any(holds_choice(item) or is_constant(item, trace) for item in items):  # no array can be stacked of these
        chosen = items[0]
        for place, item in enumerate(items[1:], 1):
            chosen = choose(position == place, partial(itself, item), partial(itself, chosen), "the item")
        return chosen
    columns, types, structure = columns_of(trace, items)
    leaves = [
        column[0] if type is None else _taken(trace, column, type, position)
        for column, type in zip(columns, types, strict=True)
    ]
    value = nest.unflatten(structure, leaves)
    note_aliases(trace, "the item of a list", value, items)  # `xs[k] is xs[0]` may hold
    return value


def place_in(size: int, index: SymbolicTensor, message: str) -> Any:
    """Returns the place that an index means in a sequence of so many items; where there is none the call fails.

    Raises:
      InvalidTypeError: it is no index.
    """
    if index.shape or index.dtype.kind not in "iub":  # b: True is an index in Python
        error = InvalidTypeError(f"only a 0-d integer tensor can be an index, got {index.type}")
        raise current_trace().refuse(error)
    position: Any = whole_number(index)
    within = FUNCTIONS["logical_and"](position >= -size, position < size)
    require(within, lambda: IndexError(message))
    return number(FUNCTIONS["where"](position < 0, position + size, position), int)


def columns_of(trace: Trace, items: Sequence[Any]) -> tuple[list[list[Any]], list[TensorType | None], nest.Structure]:
    """Returns the corresponding leaves of all items, and their types joined; None where all are one object."""
    join = Join(("in one place", "in another"), trace.refuse)
    first, structure = nest.flatten(items[0])
    columns = [[leaf] for leaf in first]
    types: list[TensorType | None] = [None] * len(first)
    for item in items[1:]:
        leaves, other = nest.flatten(item)
        join.structures("the item", (items[0], item), (structure, other))
        for place, leaf in enumerate(leaves):
            if types[place] is not None or not same(first[place], leaf):
                types[place] = join.leaf("the item", (first[place], leaf), types[place])
            columns[place].append(leaf)
    return columns, types, structure


def _taken(trace: Trace, column: Sequence[Any], type: TensorType, position: Any) -> Any:
    rows = to_tensors(trace, column, [type] * len(column))
    return numbered(FUNCTIONS["stack"](rows)[position], common_kind(column))
