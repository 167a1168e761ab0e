"""Stores, deletes and finds items of a list of known length where tensors decide the place or the item."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from graphc.autograph.constructs.branches.branch import itself
from graphc.autograph.constructs.branches.checks import require
from graphc.autograph.constructs.branches.logic import if_exp, or_
from graphc.autograph.constructs.expressions.comparisons import compare
from graphc.autograph.constructs.expressions.list_choice import choose_item, place_in
from graphc.autograph.constructs.expressions.text import formatted, joined
from graphc.autograph.constructs.storage.cells import ContentsCell
from graphc.autograph.values.number import number
from graphc.base import nest
from graphc.core import FUNCTIONS, SymbolicTensor
from graphc.tracing import context, current_trace

__all__ = ["METHODS", "delete_chosen", "store_chosen"]

Native = Callable[..., Any]


def _become(owner: list[Any], what: str, items: list[Any]) -> None:
    current_trace().writing(ContentsCell(owner, what))
    list.__setitem__(owner, slice(None), items)


def _either(condition: Any, first: Any, second: Any) -> Any:
    return if_exp(condition, partial(itself, first), partial(itself, second))


def store_chosen(owner: list[Any], index: SymbolicTensor, value: Any) -> None:
    """``owner[index] = value``."""
    position = place_in(len(owner), index, "list assignment index out of range")
    items = [_either(position == place, value, item) for place, item in enumerate(owner)]
    _become(owner, "the assignment to an item of a list", items)


def delete_chosen(owner: list[Any], index: SymbolicTensor) -> None:
    """``del owner[index]``."""
    position = place_in(len(owner), index, "list assignment index out of range")
    _become(owner, "the deletion of an item of a list", _without(owner, position))


def _without(items: list[Any], position: Any) -> list[Any]:
    """Returns the items but for one: those after it move to the front."""
    return [_either(position > place, items[place], items[place + 1]) for place in range(len(items) - 1)]


def _pop(native: Native, owner: list[Any], index: Any = -1) -> Any:
    if not isinstance(index, SymbolicTensor) or not owner:
        return native(index)
    position = place_in(len(owner), index, "pop index out of range")
    item = choose_item(owner, position)
    _become(owner, "the call of list.pop", _without(owner, position))
    return item


def _insert(native: Native, owner: list[Any], index: Any, value: Any) -> None:
    if not isinstance(index, SymbolicTensor):
        native(index, value)
        return
    size = len(owner)
    position = number(FUNCTIONS["clip"](FUNCTIONS["where"](index < 0, index + size, index), 0, size), int)
    moved = [_inserted(owner, value, position, place) for place in range(size + 1)]
    _become(owner, "the call of list.insert", moved)


def _inserted(items: list[Any], value: Any, position: Any, place: int) -> Any:
    before = items[place] if place < len(items) else value
    behind = _either(position == place, value, items[place - 1]) if place else value
    return behind if place == len(items) else _either(position > place, before, behind)


def _is_known(owner: list[Any], value: Any) -> bool:
    """Returns True if Python can compare all items with a value by itself."""
    return not any(isinstance(leaf, SymbolicTensor) for item in (*owner, value) for leaf in nest.flatten(item)[0])


def _equal(item: Any, value: Any) -> Any:
    return item is value or compare("==", item, value)


def _find(owner: list[Any], value: Any, error: Callable[[], Exception]) -> Any:
    """Returns the place of the first item that equals a value, which must be there."""
    found: Any = False
    place: Any = 0
    for position in reversed(range(len(owner))):
        equal = _equal(owner[position], value)
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
        total = total + _either(_equal(item, value), 1, 0)
    return total


def _remove(native: Native, owner: list[Any], value: Any) -> None:
    if context.trace is None or _is_known(owner, value):
        native(value)
        return
    position = _find(owner, value, lambda: ValueError("list.remove(x): x not in list"))
    _become(owner, "the call of list.remove", _without(owner, position))


METHODS: dict[str, Callable[..., Any]] = {
    "count": _count,
    "index": _index,
    "insert": _insert,
    "pop": _pop,
    "remove": _remove,
}
"""By the names of the methods of a list of known length, the functions that stand for them."""
