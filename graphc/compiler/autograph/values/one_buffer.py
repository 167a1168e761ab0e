"""Lists whose items are the rows of one array, as a loop leaves a list that it has filled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

from graphc.compiler.autograph.values.course import plain_kind
from graphc.compiler.autograph.values.course_number import CourseNumber, by_trip
from graphc.compiler.autograph.values.index import LoopIndex
from graphc.compiler.autograph.values.number import kinds_of
from graphc.compiler.base import nest
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Tensor
from graphc.compiler.ops import rows_of
from graphc.compiler.tracing import context

__all__ = ["FEWEST", "GROWS", "is_one_buffer", "item_by_trip", "row_of", "stacked"]

FEWEST = 5
"""Of fewer items each is worth nodes of its own."""


def is_one_buffer(items: Sequence[Any]) -> bool:
    """Returns True if the items are evenly spaced rows of one array, or nested values whose leaves are."""
    if len(items) < FEWEST or not isinstance(items[0], SymbolicTensor | tuple):
        return False
    if isinstance(items[0], SymbolicTensor):
        return rows_of(items) is not None
    columns, structures = zip(*map(nest.flatten, items), strict=True)
    if any(structure != structures[0] for structure in structures):
        return False
    return bool(columns[0]) and None not in map(rows_of, zip(*columns, strict=True))


def _alike(items: Sequence[Any]) -> bool:
    """Returns True if the items are small tensors of one type, of which an array is made at little cost."""
    if len(items) < FEWEST or not all(isinstance(item, SymbolicTensor) for item in items):
        return False
    type = items[0].type
    small = not type.is_open and not type.weak and math.prod(type.shape) <= _SMALL
    return small and all(item.type == type for item in items) and kinds_of(items[0]) is None


_SMALL = 64
"""The elements of a tensor that may be copied into an array of all items of its list."""


def stacked(items: Sequence[Any]) -> tuple[nest.Structure, list[Tensor]]:
    """Returns the structure of the items, and the leaves of all of them as arrays."""
    if all(isinstance(item, SymbolicTensor) for item in items):
        return nest.LEAF, [FUNCTIONS["stack"](list(items))]
    columns = zip(*[nest.flatten(item)[0] for item in items], strict=True)
    return nest.flatten(items[0])[1], [FUNCTIONS["stack"](list(column)) for column in columns]


def row_of(items: Sequence[Any], structure: nest.Structure, leaves: Sequence[Any]) -> Any:
    """Returns an item of a list that is made of rows: it stands for the item, to which nothing may be assigned."""
    trace = context.trace
    if trace is not None:
        memory = trace.root.memory.of(leaf for item in items for leaf in nest.flatten(item)[0])
        for leaf in leaves:
            trace.root.aliases.freeze(leaf, "the item of a list", memory if leaf.shape else frozenset[int]())
    return nest.unflatten(structure, leaves)


GROWS: Any = object()
"""Says of a list that it will hold more items than it does when an iteration asks for one."""


def item_by_trip(items: Any, index: Any) -> Any:
    """Returns ``items[index]`` where the index is another in each iteration; NotImplemented if that takes Python.

    Where the index passes the end of a list, that is about to grow: GROWS.
    """
    if type(items) not in (list, tuple) or not isinstance(index, LoopIndex | CourseNumber):
        return NotImplemented
    values = cast("Sequence[Any]", items)
    passes = type(items) is list and isinstance(index, LoopIndex) and index.high >= len(values)
    if passes and any(plain_kind(value) is None for value in values):
        return GROWS
    # First: the item of a list of Python numbers stays an exact Python number.
    found = by_trip(_at_place, (index, *values))
    if found is not NotImplemented or not isinstance(index, LoopIndex) or not (is_one_buffer(values) or _alike(values)):
        return found
    structure, arrays = stacked(values)  # in the loop, where tapes see it; a pass moves it before the loop
    return row_of(values, structure, [array[index] for array in arrays])


def _at_place(index: int, *items: Any) -> Any:
    return items[index]
