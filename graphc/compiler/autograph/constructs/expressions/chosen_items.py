"""Stores and finds items of a list of known length where tensors decide the place or the item."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from graphc.compiler.autograph.constructs.branches.branch import itself
from graphc.compiler.autograph.constructs.branches.checks import require
from graphc.compiler.autograph.constructs.branches.logic import if_exp, or_
from graphc.compiler.autograph.constructs.expressions.comparisons import equal_items
from graphc.compiler.autograph.constructs.expressions.list_choice import place_in
from graphc.compiler.autograph.constructs.expressions.text import formatted, joined
from graphc.compiler.autograph.constructs.storage.cells import ContentsCell
from graphc.compiler.base import nest
from graphc.compiler.core import SymbolicTensor
from graphc.compiler.tracing import context, current_trace

__all__ = ["METHODS", "store_chosen"]

Native = Callable[..., Any]


def _either(condition: Any, first: Any, second: Any) -> Any:
    return if_exp(condition, partial(itself, first), partial(itself, second))


def store_chosen(owner: list[Any], index: SymbolicTensor, value: Any) -> None:
    """``owner[index] = value``."""
    position = place_in(len(owner), index, "list assignment index out of range")
    # Any of them may be the one, so that each becomes a choice.
    items = [_either(position == place, value, item) for place, item in enumerate(owner)]
    current_trace().writing(ContentsCell(owner, "the assignment to an item of a list"))
    list.__setitem__(owner, slice(None), items)


def _is_known(owner: list[Any], value: Any) -> bool:
    """Returns True if Python can compare all items with a value by itself."""
    return not any(isinstance(leaf, SymbolicTensor) for item in (*owner, value) for leaf in nest.flatten(item)[0])


def _find(owner: list[Any], value: Any, error: Callable[[], Exception]) -> Any:
    """Returns the place of the first item that equals a value, which must be there."""
    found: Any = False
    place: Any = 0
    for position in reversed(range(len(owner))):  # the choice made last wins, and that is the first item
        equal = equal_items(owner[position], value)
        place = _either(equal, position, place)
        found = or_(partial(itself, equal), partial(itself, found))
    require(found, error)
    return place


def _index(native: Native, owner: list[Any], value: Any, *bounds: Any) -> Any:
    if context.trace is None or bounds or _is_known(owner, value):
        return native(value, *bounds)
    return _find(owner, value, lambda: ValueError(joined(formatted(value, "r", ""), " is not in list")))


def _count(native: Native, owner: list[Any], value: Any) -> Any:
    if context.trace is None or _is_known(owner, value):
        return native(value)
    total: Any = 0
    for item in owner:
        total = total + _either(equal_items(item, value), 1, 0)
    return total


METHODS: dict[str, Callable[..., Any]] = {"count": _count, "index": _index}
"""By the names of the methods of a list of known length, the functions that stand for them."""
