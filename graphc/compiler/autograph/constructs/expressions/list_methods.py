"""Operators and methods of a list whose length is known at run time only."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from graphc.compiler.autograph.constructs.branches.branch import choose, itself
from graphc.compiler.autograph.constructs.branches.logic import require
from graphc.compiler.autograph.constructs.storage.cells import ContentsCell
from graphc.compiler.autograph.values.choice import Choice, holds_choice, is_constant
from graphc.compiler.autograph.values.course import by_trip
from graphc.compiler.autograph.values.exact import whole_number
from graphc.compiler.autograph.values.growing_list import Growing, grown, samples
from graphc.compiler.autograph.values.join import Join, leaf_type, note_aliases, same, to_tensors
from graphc.compiler.autograph.values.number import common_kind, joined, number, numbered
from graphc.compiler.autograph.values.protocol import as_tensor, host_sequence_of, look_into
from graphc.compiler.autograph.values.spans import ValueRange
from graphc.compiler.base import nest
from graphc.compiler.base.errors import InvalidTypeError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Tensor
from graphc.compiler.ir import TensorType
from graphc.compiler.tracing import Trace, context, current_trace


def _position(value: Growing, index: Any, message: str) -> Any:
    """Returns the place in the buffer of an item of the list; the call fails, as Python does, where there is none."""
    length = value.length
    loops = {course.loop for course in map(host_sequence_of, (index, length)) if course is not None}
    computed = by_trip(_place, (index, length)) if len(loops) == 1 else NotImplemented
    # Python knows the place in each iteration, so that nothing is left to check.
    if computed is not NotImplemented and (positions := computed.course.values) is not None and min(positions) >= 0:
        return computed
    index = as_tensor(index)
    if isinstance(index, Tensor):
        position = FUNCTIONS["where"](index < 0, index + value.length, index)
        within = FUNCTIONS["logical_and"](position >= 0, position < value.length)
    elif isinstance(index, int):
        position = value.length + index if index < 0 else index
        within = value.length >= -index if index < 0 else value.length > index
    else:
        value.fail()
    require(within, lambda: IndexError(message))
    return position


def _place(index: int, length: int) -> int:
    """Returns the place of an item, -1 if there is none."""
    position = index + length if index < 0 else index
    return position if 0 <= position < length else -1


def begin_growing(owner: list[Any]) -> None:
    """Makes a list one that grows in the loop whose body is traced, as an index beyond its end tells."""
    trace = context.trace
    assert trace is not None
    what = "the use of a list by the index of a loop"
    trace.writing(ContentsCell(owner, what))
    owner[:] = [grown(trace, what, list(owner), (), len(owner))]


def _length(owner: list[Any], value: Growing) -> Any:
    del owner
    if host_sequence_of(value.length) is not None:
        return value.length  # which Python knows in each iteration of a loop
    return joined(number(value.length, int), frozenset((int,)), ValueRange(0, value.capacity))


def _load(owner: list[Any], value: Growing, index: Any) -> Any:
    del owner
    if type(index) is slice:
        value.fail()
    return value.item(_position(value, index, "list index out of range"))


def _store(owner: list[Any], value: Growing, index: Any, item: Any) -> None:
    position = _position(value, index, "list assignment index out of range")
    value.appends.log = None  # the log holds for appends at the end only
    _change(owner, "the assignment to an item of a list", _put(value, position, item, value.added))


def _change(owner: list[Any], what: str, value: Growing) -> None:
    assert context.trace is not None
    context.trace.writing(ContentsCell(owner, what))
    owner[0] = value


def _put(value: Growing, position: Any, item: Any, added: Any) -> Growing:
    """Returns the list with an item at a place of the buffer, where there must be room."""
    assert context.trace is not None
    join = Join(("in the list", "put into it"), context.trace.refuse)
    buffers, structure = nest.flatten(value.buffer)
    leaves, item_structure = nest.flatten(item)
    join.structures("the items of a list", (samples([value])[0], item), (structure, item_structure))
    new: list[Any] = []
    for buffer, leaf in zip(buffers, leaves, strict=True):
        row = TensorType(buffer.shape[1:], buffer.dtype)
        if join.leaf("the items of a list", (buffer[0], leaf), row) != row:
            join.leaf("the items of a list", (buffer[0], FUNCTIONS["asarray"](leaf, dtype=leaf_type(leaf).dtype)), row)
        new.append(buffer.at[position].set(value.appends.put(leaf)))
    return Growing(nest.unflatten(structure, new), value.count, added, value.appends)


def _with_room(value: Growing, item: Any) -> Growing:
    """Returns the list, which is about to get one item more."""
    assert context.trace is not None
    value.appends.count += 1
    if value.appends.log is not None:
        value.appends.log.append((context.trace, nest.flatten(item)[0]))
    return value if value.appends.are_awaited(context.trace) else value.with_room(1)


def _append(owner: list[Any], value: Growing, item: Any) -> None:
    value = _with_room(value, item)
    _change(owner, "the call of list.append", _put(value, value.length, item, value.added + 1))


def _extend(owner: list[Any], value: Growing, items: Any) -> None:
    if not isinstance(items, list | tuple):
        value.fail()
    look_into(items)
    for item in nest.as_tuple(items):
        _append(owner, owner[0], item)  # owner[0]: each append replaces it


def _extend_in_place(owner: list[Any], value: Growing, items: Any) -> list[Any]:
    _extend(owner, value, items)
    return owner


def _rolled(shift: int, buffer: Any) -> Any:
    return FUNCTIONS["roll"](buffer, shift, axis=0)


def _pop(owner: list[Any], value: Growing, index: Any = -1, *, error: str = "pop from empty list") -> Any:
    if not isinstance(index, int) or index not in (0, -1):  # a roll of the buffer moves all items or none
        value.fail()
    require(value.length > 0, lambda: IndexError(error))
    value.appends.log = None
    buffer = value.buffer
    item = value.item(value.length - 1 if index else 0)
    if index == 0:  # the last one may stay in the buffer, behind the end
        buffer = nest.map_structure(partial(_rolled, -1), buffer)
    _change(owner, "the call of list.pop", Growing(buffer, value.count, value.added - 1, value.appends))
    return item


def _delete(owner: list[Any], value: Growing, index: Any) -> None:
    _pop(owner, value, index, error="list assignment index out of range")


def _clear(owner: list[Any], value: Growing) -> None:
    assert context.trace is not None
    value.appends.log = None
    empty = Growing(value.buffer, context.trace.constant(0), 0, value.appends)
    _change(owner, "the call of list.clear", empty)


METHODS: dict[str, Callable[..., Any]] = {
    "__delitem__": _delete,
    "__getitem__": _load,
    "__iadd__": _extend_in_place,
    "__len__": _length,
    "__setitem__": _store,
    "append": _append,
    "clear": _clear,
    "extend": _extend,
    "pop": _pop,
}
"""By the names of the operators and methods of a list of unknown length, the functions that stand for them."""


# ``items[k]`` where ``k`` is a tensor: one of the items of a Python list or tuple, chosen when the program runs.


def choose_item(items: Sequence[Any], index: SymbolicTensor) -> Any:
    """Returns the item at a place that is a tensor, counted from the end if it is negative."""
    trace = current_trace()
    size = len(items)
    position = place_in(size, index, f"{type(items).__name__} index out of range")
    if not size:
        return None  # what follows is never reached
    if all(is_constant(item, trace) for item in items):  # strings, functions and the like: no tensor holds them
        return Choice(number(position, int), tuple(items)) if size > 1 else items[0]
    if any(holds_choice(item) or is_constant(item, trace) for item in items):  # no array can be stacked of these
        chosen = items[0]
        for slot, item in enumerate(items[1:], 1):
            chosen = choose(position == slot, partial(itself, item), partial(itself, chosen), "the item")
        return chosen
    columns, types, structure = columns_of(trace, items)
    leaves = [
        column[0] if type is None else _list_choice_taken(trace, column, type, position)
        for column, type in zip(columns, types, strict=True)
    ]
    value = nest.unflatten(structure, leaves)
    note_aliases(trace, "the item of a list", value, items)  # `xs[k] is xs[0]` may hold
    return value


def place_in(size: int, index: SymbolicTensor, message: str) -> Any:
    """Returns the place that an index means in a sequence of so many items; where there is none the call fails."""
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
        for column, leaf in enumerate(leaves):
            if types[column] is not None or not same(first[column], leaf):
                types[column] = join.leaf("the item", (first[column], leaf), types[column])
            columns[column].append(leaf)
    return columns, types, structure


def _list_choice_taken(trace: Trace, column: Sequence[Any], type: TensorType, position: Any) -> Any:
    rows = to_tensors(trace, column, [type] * len(column))
    return numbered(FUNCTIONS["stack"](rows)[position], common_kind(column))
