"""``sorted`` of tensors without values, and of what has such tensors for keys: one sort for each part of the keys."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any, NoReturn, cast

import numpy as np

from graphc.autograph.constructs.branches.branch import itself, truth
from graphc.autograph.constructs.branches.checks import require_limit
from graphc.autograph.constructs.calls.call import call
from graphc.autograph.constructs.expressions.comparisons import compare, ordered
from graphc.autograph.constructs.expressions.list_choice import choose_item, columns_of
from graphc.autograph.constructs.failures.origins import in_python
from graphc.autograph.constructs.loops.generators import GeneratorExpression
from graphc.autograph.constructs.loops.iterators import SpaceIterator
from graphc.autograph.constructs.overrides import Functions, of_values
from graphc.autograph.constructs.purity.watch import made
from graphc.autograph.constructs.storage.cells import ContentsCell
from graphc.autograph.values.choice import Choice
from graphc.autograph.values.choice_join import holds_choice, is_constant
from graphc.autograph.values.growing_list import refuse_growing
from graphc.autograph.values.index import is_symbolic
from graphc.autograph.values.join import note_aliases, same, to_tensors
from graphc.autograph.values.number import common_kind, kind_of, number, numbered
from graphc.base import nest
from graphc.base.errors import UnimplementedError
from graphc.core import FUNCTIONS, SymbolicTensor
from graphc.tracing import current_trace

__all__ = ["OVERRIDES"]

_REMEDY = "use gx.sort(x) or gx.argsort(x) of one tensor, with a list as gx.stack(items)"


def _sorted(native: Callable[..., Any], iterable: Any, /, *, key: Any = None, reverse: Any = False) -> list[Any]:
    """``sorted``."""
    refuse_growing(iterable)
    items: list[Any] = list(iterable) if isinstance(iterable, _ITERATED) else call(list)(iterable)
    refuse_growing(items)
    if isinstance(key, _Comparing):
        keys = key.ranks(items)
    else:
        convert = itself if key is None else functools.partial(in_python, call(key))
        keys = [ordered(convert(item)) for item in items]
    if len(items) > 1 and any(map(_is_late, _parts(keys))):
        return made(_sorted_by_tensors(items, keys, truth(reverse)))

    def key_of(place: int) -> Any:
        return keys[place]

    return made([items[place] for place in native(range(len(items)), key=key_of, reverse=reverse)])


_ITERATED = (SymbolicTensor, SpaceIterator, GeneratorExpression)


def _refuse(what: str) -> NoReturn:
    error = UnimplementedError(f"sorted() {what}, whose values are not known while the function is traced; {_REMEDY}")
    raise current_trace().refuse(error)


def _sorted_by_tensors(items: list[Any], keys: list[Any], reverse: bool) -> list[Any]:
    """Items in the order of keys that are scalars, or tuples of them, of which the first that differ decide."""
    if any(_form(key) != _form(keys[0]) for key in keys):
        _refuse("would compare structures of tensors that differ")
    columns = [list(column) for column in zip(*map(_parts, keys), strict=True)]
    order: Any = None
    # Each sort keeps the order of those before it where its own keys are equal.
    for column in reversed(columns):
        stacked = _stacked(column)
        if stacked is not None:
            stacked = stacked if order is None else stacked[order]
            found = FUNCTIONS["argsort"](stacked, descending=reverse, stable=True)
            order = found if order is None else order[found]
    return items if order is None else _in_order(items, order)


def _parts(key: Any) -> list[Any]:
    """Returns what Python compares of a key, in its order."""
    return [part for item in cast("Sequence[Any]", key) for part in _parts(item)] if _is_sequence(key) else [key]


def _form(key: Any) -> Any:
    return tuple(map(_form, key)) if _is_sequence(key) else None


def _is_sequence(key: Any) -> bool:
    return isinstance(key, list | tuple)


def _is_late(part: Any) -> bool:
    return is_symbolic(part) or isinstance(part, Choice)


def _stacked(column: list[Any]) -> SymbolicTensor | None:
    """One part of all keys as a tensor that orders them; None if all are equal."""
    trace = current_trace()
    if any(isinstance(key, Choice) for key in column):
        column = _ranks(column, lambda one, other: (compare(">", one, other), compare("<", one, other)))
    if not any(map(is_symbolic, column)):
        ranked = sorted(column)
        return trace.lift(np.array([ranked.index(value) for value in column], np.int32))
    if not all(isinstance(key, SymbolicTensor) or kind_of(key) in (bool, int, float) for key in column):
        _refuse("would compare tensors with what are none")
    (column,), (type,), _ = columns_of(trace, column)
    if type is None:
        return None
    if type.shape:
        _refuse(f"would compare tensors of the shape {type.shape}")
    stacked = FUNCTIONS["stack"](to_tensors(trace, column, [type] * len(column)))
    if type.dtype.kind in "fV":
        message = f"sorted() of NaN gives an order in Python that depends on how it sorts; {_REMEDY}"
        require_limit(FUNCTIONS["all"](stacked == stacked), lambda: UnimplementedError(message))
    return stacked


def _ranks(items: Sequence[Any], order: Callable[[Any, Any], tuple[Any, Any]]) -> list[Any]:
    """For each item how many others come before it.

    Args:
      items: what is ranked.
      order: says of two items whether the first comes after the second, and whether before.
    """
    ranks: list[Any] = [0] * len(items)
    for (one, first), (other, second) in combinations(enumerate(items), 2):
        after, before = order(first, second)
        ranks[one] = ranks[one] + call(int)(after)
        ranks[other] = ranks[other] + call(int)(before)
    return ranks


def _in_order(items: list[Any], order: Any) -> list[Any]:
    """Items at the places that a tensor says."""
    trace = current_trace()
    places = range(len(items))
    if all(is_constant(item, trace) for item in items):
        return [Choice(number(order[place], int), tuple(items)) for place in places]
    if any(map(holds_choice, items)):
        return [choose_item(items, order[place]) for place in places]
    structures = {nest.flatten(item)[1] for item in items}
    if len(structures) > 1:
        columns_of(trace, items)  # says how they differ
    columns: list[list[Any]] = []
    for column in zip(*[nest.flatten(item)[0] for item in items], strict=True):
        if all(is_constant(leaf, trace) for leaf in column) and not all(same(column[0], leaf) for leaf in column):
            columns.append([Choice(number(order[place], int), column) for place in places])
            continue
        (leaves,), (type,), _ = columns_of(trace, column)
        if type is not None:
            rows = FUNCTIONS["stack"](to_tensors(trace, leaves, [type] * len(items)))[order]
            kind = common_kind(leaves)
            leaves = [numbered(rows[place], kind) for place in places]
        columns.append(leaves)
    result = [nest.unflatten(structures.copy().pop(), leaves) for leaves in zip(*columns, strict=True)]
    for value in result:
        note_aliases(trace, "an item of what sorted() gives", value, items)
    return result


def _sort(native: Callable[..., Any], owner: list[Any], /, *, key: Any = None, reverse: Any = False) -> None:
    """``list.sort``: the list gets what ``sorted`` gives."""
    del native
    new = call(sorted)(owner, key=key, reverse=reverse)
    current_trace().writing(ContentsCell(owner, "the call of list.sort"))
    owner[:] = new


# --- comparing functions


class _Comparing:
    """What ``functools.cmp_to_key`` gives.

    Args:
      native: Python's own.
      compare: the function of two items, converted.
    """

    def __init__(self, native: Any, compare: Callable[[Any, Any], Any]) -> None:
        self._native = native
        self._compare = compare

    def __call__(self, item: Any) -> Any:
        """Returns what Python compares in place of an item."""
        return self._native(item)

    def ranks(self, items: list[Any]) -> list[Any]:
        """For each item how many others come before it."""
        return _ranks(items, self._order)

    def _order(self, one: Any, other: Any) -> tuple[Any, Any]:
        found = self._compare(one, other)
        return compare(">", found, 0), compare("<", found, 0)


def _cmp_to_key(native: Callable[..., Any], mycmp: Any) -> _Comparing:
    """``functools.cmp_to_key``."""
    return _Comparing(native(mycmp), call(mycmp))


OVERRIDES: Functions = {
    sorted: of_values(_sorted),
    list.sort: _sort,
    functools.cmp_to_key: _cmp_to_key,
}
