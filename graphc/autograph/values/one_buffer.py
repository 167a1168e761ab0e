"""Lists whose items are the rows of one array, as a loop leaves a list that it has filled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from graphc.autograph.values.course_number import CourseNumber, by_trip
from graphc.autograph.values.index import LoopIndex
from graphc.base import nest
from graphc.core import FUNCTIONS, SymbolicTensor, Tensor
from graphc.tracing import context

__all__ = ["FEWEST", "is_one_buffer", "item_by_trip", "row_of", "stacked"]

FEWEST = 5
"""Of fewer items each is worth nodes of its own."""


def is_one_buffer(items: Sequence[Any]) -> bool:
    """Returns True if the items are neighbouring rows of one array, or nested values whose leaves are."""
    if len(items) < FEWEST or not isinstance(items[0], SymbolicTensor | tuple):
        return False
    columns, structures = zip(*map(nest.flatten, items), strict=True)
    if any(structure != structures[0] for structure in structures):
        return False
    return bool(columns[0]) and all(map(_are_neighbours, zip(*columns, strict=True)))


def _are_neighbours(leaves: Sequence[Any]) -> bool:
    places = [_place(leaf) for leaf in leaves]
    if None in places or any(leaf.trace is not leaves[0].trace for leaf in leaves):
        return False
    array, first = places[0] or (None, 0)
    return all(place == (array, first + count) for count, place in enumerate(places))


def _place(leaf: Any) -> tuple[Any, int] | None:
    """Returns of which array a tensor is which row; None if it is none."""
    node = leaf.raw.node if type(leaf) is SymbolicTensor else None
    if node is None or node.op.name != "get_item":
        return None
    index = node.attrs["index"]
    return (node.inputs[0], index[0]) if len(index) == 1 and type(index[0]) is int else None


def stacked(items: Sequence[Any]) -> tuple[nest.Structure, list[Tensor]]:
    """Returns the structure of the items, and the leaves of all of them as arrays."""
    columns = zip(*[nest.flatten(item)[0] for item in items], strict=True)
    return nest.flatten(items[0])[1], [FUNCTIONS["stack"](list(column)) for column in columns]


def row_of(structure: nest.Structure, leaves: Sequence[Any]) -> Any:
    """Returns an item that is made of rows: it stands for the item of the list, to which nothing may be assigned."""
    trace = context.trace
    if trace is not None:
        for leaf in leaves:
            trace.root.aliases.freeze(leaf, "the item of a list")
    return nest.unflatten(structure, leaves)


def item_by_trip(items: Any, index: Any) -> Any:
    """Returns ``items[index]`` where the index is another in each iteration; NotImplemented if that takes Python."""
    if type(items) not in (list, tuple) or not isinstance(index, LoopIndex | CourseNumber):
        return NotImplemented
    found = by_trip(_at_place, (index, *items))
    if found is not NotImplemented or not isinstance(index, LoopIndex) or not is_one_buffer(items):
        return found
    structure, arrays = stacked(items)  # in the loop, where tapes see it; a pass moves it before the loop
    return row_of(structure, [array[index] for array in arrays])


def _at_place(index: int, *items: Any) -> Any:
    return items[index]
