"""``sorted`` of tensors without values, and of what has such tensors for keys: one sort of all keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn, cast

from graphc.autograph.operators.branches.branches import itself, truth
from graphc.autograph.operators.branches.list_choice import columns_of
from graphc.autograph.operators.branches.merging import note_stand_ins, to_tensors
from graphc.autograph.operators.calls.calls import call
from graphc.autograph.operators.expressions.generators import GeneratorExpression
from graphc.autograph.operators.failures.checks import require
from graphc.autograph.operators.host.late_values import REPLACED
from graphc.autograph.operators.lists.growing import refuse_growing
from graphc.autograph.operators.loops.iterators import SpaceIterator
from graphc.autograph.operators.numbers.loop_index import LoopIndex
from graphc.autograph.operators.numbers.symbolic_number import common_kind, kind_of, numbered
from graphc.base import nest
from graphc.base.errors import UnimplementedError
from graphc.core import FUNCTIONS, SymbolicTensor, current_trace

__all__: list[str] = []

_EMPTY: dict[Any, Any] = {}
_CONTAINERS: frozenset[Any] = frozenset(
    (list, tuple, range, set, frozenset, dict, *map(type, (_EMPTY.keys(), _EMPTY.values(), _EMPTY.items())))
)
_REMEDY = "use gx.sort(x) or gx.argsort(x) of one tensor, with a list as gx.stack(items)"


def _symbolic(value: Any) -> bool:
    return isinstance(value, SymbolicTensor | LoopIndex)


def _sorted(native: Callable[..., Any], iterable: Any, /, *, key: Any = None, reverse: Any = False) -> Any:
    """``sorted``."""
    refuse_growing(iterable)
    convert = itself if key is None else call(key)
    if isinstance(iterable, (SymbolicTensor, SpaceIterator, GeneratorExpression)) or type(iterable) in _CONTAINERS:
        items = list(cast("Iterable[Any]", iterable))
        keys = [convert(item) for item in items]
        if len(items) > 1 and any(map(_symbolic, keys)):
            return _sorted_by_tensors(items, keys, truth(reverse))
        if len(items) > 1:
            keys = [_checked(found) for found in keys]

        def key_of(place: int) -> Any:
            return keys[place]

        return [items[place] for place in native(range(len(items)), key=key_of, reverse=reverse)]

    def compared(item: Any) -> Any:
        return _checked(convert(item))

    return native(iterable, key=compared, reverse=reverse)


def _checked(key: Any) -> Any:
    """What Python is about to compare."""
    if any(map(_symbolic, nest.flatten(key)[0])):
        _refuse("would compare structures of tensors, or objects of which only some are tensors")
    return key


def _refuse(what: str) -> NoReturn:
    error = UnimplementedError(f"sorted() {what}, whose values are not known while the function is traced; {_REMEDY}")
    raise current_trace().refuse(error)


def _sorted_by_tensors(items: list[Any], keys: list[Any], reverse: bool) -> list[Any]:
    trace = current_trace()
    if not all(isinstance(key, SymbolicTensor) or kind_of(key) in (bool, int, float) for key in keys):
        _refuse("would compare tensors with what are none")
    (column,), (type,), _ = columns_of(trace, keys)
    if type is None:
        return items  # all keys are one tensor
    if type.shape:
        _refuse(f"would compare tensors of the shape {type.shape}")
    stacked = FUNCTIONS["stack"](to_tensors(trace, column, [type] * len(keys)))
    if type.dtype.kind in "fV":
        message = f"sorted() of NaN gives an order in Python that depends on how it sorts; {_REMEDY}"
        require(FUNCTIONS["all"](stacked == stacked), lambda: UnimplementedError(message))
    order = FUNCTIONS["argsort"](stacked, descending=reverse, stable=True)
    columns, types, structure = columns_of(trace, items)
    sorted_columns: list[Any] = []
    for column, type in zip(columns, types, strict=True):
        if type is not None:
            rows = FUNCTIONS["stack"](to_tensors(trace, column, [type] * len(items)))[order]
            kind = common_kind(column)
            column = [numbered(rows[place], kind) for place in range(len(items))]
        sorted_columns.append(column)
    result = [nest.unflatten(structure, leaves) for leaves in zip(*sorted_columns, strict=True)]
    for value in result:
        note_stand_ins(trace, "an item of what sorted() gives", value, items)
    return result


REPLACED[sorted] = _sorted
