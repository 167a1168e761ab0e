"""Lists whose length is known at run time only: they grow or shrink in a loop, or in one branch of an if.

Such a list holds one item, a :class:`Growing`: a buffer with room for all items there may be, and how many there are.
Since that is a structure of tensors and numbers, loops carry it and branches merge it as they do any value. What Python
code does with the list goes through the operators, which look for it; whoever else looks into the list finds the one
item, which refuses all use.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Any, ClassVar, NoReturn, cast
from weakref import WeakSet

import numpy as np

from graphc.compiler.autograph.values.course import PerIterationNumber, by_trip, plain_kind
from graphc.compiler.autograph.values.index import LoopIndex
from graphc.compiler.autograph.values.join import Join, describe, is_number, is_tensor, leaf_type
from graphc.compiler.autograph.values.number import kinds_of
from graphc.compiler.autograph.values.protocol import ListContents, as_tensor, symbol_of
from graphc.compiler.base import nest
from graphc.compiler.base.errors import UnimplementedError
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Tensor, operand, trace_scope
from graphc.compiler.ir import TensorType
from graphc.compiler.ops import rows_of
from graphc.compiler.tracing import Alias, Region, TensorCell, Trace, context, late_rows


class AppendCounter:
    """Counts the items that a traced body appends to a list; each branch counts all that it might append."""

    __graphc_described__: ClassVar[str] = "a list of unknown length"

    def __init__(self) -> None:
        self.count = 0
        # Where a trial of a loop's body put items in at the end, and their leaves; None after any other change.
        self.log: list[tuple[Trace, list[Any]]] | None = None
        self.numbers = False  # whether the log has Python numbers, which are known after the loop only
        self.memory: frozenset[int] = frozenset()  # arguments, by position, whose memory NumPy items may have
        self.bodies: WeakSet[Region] = WeakSet()  # of the loops that carry the list; traced again if it needs more room

    def put(self, leaf: Any) -> Any:
        """Returns a leaf of an item as the buffer takes it: by value, so that the tensor may change no more."""
        leaf = _enclosed(leaf)
        if context.trace is not None:
            self.memory |= context.trace.root.memory.of([leaf])
        return leaf

    def take(self, other: AppendCounter) -> None:
        """Counts from now on what another one has counted, whose list has become one with this."""
        self.count += other.count
        self.numbers |= other.numbers
        self.memory |= other.memory
        self.bodies.update(other.bodies)

    def are_awaited(self, trace: Trace) -> bool:
        """Returns True if a loop around this place makes room for what is put in here."""
        return any(trace.is_inside(body) for body in self.bodies)


@dataclass(eq=False, frozen=True)
class Growing(ListContents):
    """The one item of a list whose length is known at run time only."""

    buffer: Any  # the items, stacked along a new first axis: a tensor, or a structure of tensors
    count: Any  # how many there are, less ``added``: an integer scalar
    added: Any  # since the loop's iteration began: an int, or a scalar where that depends on tensors
    appends: AppendCounter

    def operand(self) -> Any:
        """Returns whether it holds something."""
        return self.length > 0

    def look_into(self) -> NoReturn:
        """Refuses that Python looks at the items."""
        self.fail()

    def answer(self, method: str, owner: Any, *operands: Any, **options: Any) -> Any:
        """Returns the result of an operator or method of the list."""
        from graphc.compiler.autograph.constructs.expressions.list_methods import METHODS

        run = METHODS.get(method)
        return self.fail() if run is None else run(owner, self, *operands, **options)

    @property
    def capacity(self) -> int:
        """Returns how many items there is room for."""
        return nest.flatten(self.buffer)[0][0].shape[0]  # all leaves have as many rows

    @property
    def length(self) -> Any:
        """Returns how many items there are: an integer scalar."""
        return self.count if is_number(self.added) and not self.added else self.count + self.added

    def item(self, position: Any) -> Any:
        """Returns what stands at a place of the buffer."""
        self.refuse_numbers()
        item = nest.map_structure(partial(_row, position), self.buffer)
        if context.trace is not None:
            for leaf in nest.flatten(item)[0]:
                self.freeze(leaf)
        return item

    def freeze(self, leaf: Any) -> None:
        """Notes that a tensor is an item or a leaf of one: a copy, to which nothing may be assigned."""
        assert context.trace is not None
        # An element of a NumPy array, unlike a row, is no view.
        memory = self.appends.memory if leaf.shape else frozenset[int]()
        context.trace.root.aliases.freeze(leaf, "the item of a list", memory)

    def refuse_numbers(self) -> None:
        """Gives up an attempt to roll a loop that reads Python numbers which are known after the loop only."""
        if self.appends.numbers and context.trace is not None:
            context.trace.abort("a list of Python numbers is read where it grows")

    def with_room(self, more: int) -> Growing:
        """Returns the same with room for so many items more."""
        return Growing(nest.map_structure(partial(_longer, more), self.buffer), self.count, self.added, self.appends)

    def settled(self) -> Growing:
        """Returns the same with nothing added."""
        return Growing(self.buffer, self.length, 0, self.appends)

    def fail(self) -> NoReturn:
        """Raises the error of a use that needs the items as a Python list."""
        trace = context.trace
        error = UnimplementedError(
            "a list whose length is known at run time only, as it grows or shrinks in a loop or branch on tensors, is "
            "used as a whole; use len(), append, pop, an index or a for loop, or return the list and go on outside the "
            "compiled function"
        )
        raise error if trace is None else trace.refuse(error)

    def __iter__(self) -> NoReturn:
        self.fail()

    def __bool__(self) -> NoReturn:
        self.fail()

    def __array__(self, *options: Any, **named: Any) -> NoReturn:  # NumPy asks, given the list
        self.fail()

    def __eq__(self, other: object) -> NoReturn:  # the list itself asks, as for `x in items`
        self.fail()

    __hash__ = None  # pyright: ignore[reportAssignmentType]


@operand.register(Growing)
def _refuse_operand(value: Growing) -> NoReturn:
    value.fail()


def growing(value: Any) -> Growing | None:
    """Returns what a list holds whose length is known at run time only; None for anything else."""
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if len(items) == 1 and type(items[0]) is Growing:
            return items[0]
    return None


def holds_growing(structure: nest.Structure) -> bool:
    """Returns True if lists whose length is known at run time only are part of a nested value."""
    return structure.kind is Growing or any(map(holds_growing, structure.children))


def as_lists(value: Any) -> Any:
    """Returns a value with real lists for those of run-time length, for which it waits; shared ones stay shared."""
    return _with_lists(value, {})


def _with_lists(value: Any, copies: dict[int, Any]) -> Any:
    """Returns the same; ``copies`` holds what became of the containers so far."""
    if id(value) in copies:
        return copies[id(value)]
    contents, parts = growing(value), nest.children(value)
    if contents is not None:
        new = rows(contents, 0, int(contents.length))
    elif parts and parts[1]:
        items = [_with_lists(item, copies) for item in parts[1]]
        if all(map(operator.is_, items, parts[1])):
            return value
        new = nest.unflatten(nest.level(value), items)
    else:
        return value
    if nest.is_mutable(value):
        copies[id(value)] = new
    return new


def grown(trace: Trace, title: str, items: Sequence[Any], others: Sequence[Any], capacity: int) -> Growing:
    """Returns a buffer of a list's items, made in the open ``trace``, with room for the types of ``others`` too."""
    everything = [*items, *others]
    join = Join(("in one item", "in another"), trace.refuse)
    leaves, structure = nest.flatten(everything[0])
    for leaf in leaves:
        if not is_tensor(leaf) and not is_number(leaf):
            error = UnimplementedError(
                f"{title} grows in a loop or branch on tensors, and holds {describe(leaf)}; only tensors and numbers "
                "can be kept in a list of unknown length"
            )
            raise trace.refuse(error)
    types = [leaf_type(leaf) for leaf in leaves]
    for item in everything[1:]:
        other_leaves, other_structure = nest.flatten(item)
        join.structures(title, (everything[0], item), (structure, other_structure))
        types = [
            join.leaf(title, pair, type)
            for pair, type in zip(zip(leaves, other_leaves, strict=True), types, strict=True)
        ]
    trace.root.has_growing = True  # from here on calls of builtins look at their arguments
    columns = [[nest.flatten(item)[0][position] for item in items] for position in range(len(leaves))]
    appends = AppendCounter()
    buffers = [_buffer(column, type, capacity, appends) for column, type in zip(columns, types, strict=True)]
    return Growing(nest.unflatten(structure, buffers), trace.constant(len(items)), 0, appends)


def _buffer(rows: Sequence[Any], type: TensorType, capacity: int, appends: AppendCounter) -> Any:
    buffer = FUNCTIONS["zeros"]((capacity, *type.shape), dtype=type.dtype)
    for position, row in enumerate(rows):
        buffer = buffer.at[position].set(appends.put(row))
    return buffer


def _enclosed(item: Any) -> Any:
    item, trace = as_tensor(item), context.trace
    if isinstance(item, SymbolicTensor) and trace is not None:
        trace.root.aliases.freeze(item, "the item of a list")
        key = TensorCell(item).key
        while trace.parent is not None:
            if key in trace.journal.writes:
                raise trace.refuse(Alias(item, "the item of a list", None).error(TensorCell(item).what))
            trace = trace.parent
    return item


def matched(regions: Sequence[Region], title: str, contents: Sequence[list[Any]]) -> tuple[list[Any], ...]:
    """Returns what branches left in a list; where the lengths differ, as lists of run-time length."""
    buffers = [growing(items) for items in contents]
    if all(buffer is None for buffer in buffers) and len(set(map(len, contents))) == 1:
        return tuple(contents)
    capacities = [
        len(items) if buffer is None else buffer.capacity for items, buffer in zip(contents, buffers, strict=True)
    ]
    appends = next((buffer.appends for buffer in buffers if buffer is not None), AppendCounter())
    kinds = [sample for items in contents for sample in samples(items)]
    left: list[list[Any]] = []
    for region, items, buffer in zip(regions, contents, buffers, strict=True):
        if buffer is None:
            with trace_scope(region):
                buffer = grown(region, title, items, kinds, max(capacities))
        elif buffer.capacity < max(capacities):  # both sides of a cond have one shape
            with trace_scope(region):
                buffer = buffer.with_room(max(capacities) - buffer.capacity)
        if buffer.appends is not appends:
            appends.take(buffer.appends)
            buffer = replace(buffer, appends=appends)
        left.append([buffer])
    return tuple(left)


def _longer(more: int, buffer: Any) -> Any:
    return FUNCTIONS["concat"]([buffer, FUNCTIONS["zeros"]((more, *buffer.shape[1:]), dtype=buffer.dtype)])


def _row(position: Any, buffer: Any) -> Any:
    return buffer[position]


def _sample(buffer: Any) -> Any:
    return np.zeros(buffer.shape[1:], buffer.dtype)


def samples(items: list[Any]) -> list[Any]:
    """Values of the types that the items of a list have."""
    contents = growing(items)
    if contents is None:
        return items
    return [nest.map_structure(_sample, contents.buffer)]


def room(items: list[Any]) -> int:
    """Returns how many items a list has, or has room for if its length is unknown."""
    return getattr(symbol_of(items), "capacity", len(items))


_NOTHING = list[Any]()
_ITERATORS: tuple[Any, ...] = (type(iter(_NOTHING)), type(reversed(_NOTHING)), enumerate, zip, map, filter)


def check_source(iterator: Any) -> None:
    """Refuses to take an item of a list that became one of unknown length while the iterator was in use."""
    # Python's iterator would find one item, of graphc's own, in the list, and end without a word.
    if type(iterator) in (list, tuple):
        if symbol_of(iterator) is not None and context.trace is not None:
            error = UnimplementedError(
                "a list becomes longer or shorter in a branch on tensors while a loop or an iterator runs over it: how "
                "many items there are is known at run time only. Loop over a copy (`for item in list(items)`), or use "
                "`while` with an index and gx.loop_options(max_iterations=...)"
            )
            raise context.trace.refuse(error)
    elif type(iterator) in _ITERATORS:
        for part in iterator.__reduce__()[1]:
            check_source(part)


def rows(value: Growing, start: int, stop: int) -> list[Any]:
    """Returns the items from ``start`` to ``stop``, which must be there."""
    value.refuse_numbers()
    leaves, structure = nest.flatten(value.buffer)
    columns = [late_rows(leaf, start, stop) for leaf in leaves]
    if context.trace is not None:
        for row in chain.from_iterable(columns):
            value.freeze(row)
    return (
        columns[0] if structure is nest.LEAF else [nest.unflatten(structure, row) for row in zip(*columns, strict=True)]
    )


# Lists whose items are the rows of one array, as a loop leaves a list that it has filled.

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
    """Returns ``items[index]`` where the index is another in each iteration; NotImplemented if that takes Python."""
    # Where the index passes the end of a list, that is about to grow: GROWS.
    if type(items) not in (list, tuple) or not isinstance(index, LoopIndex | PerIterationNumber):
        return NotImplemented
    values = cast("Sequence[Any]", items)
    passes = type(items) is list and isinstance(index, LoopIndex) and index.high >= len(values)
    if passes and any(plain_kind(value) is None for value in values):
        return GROWS
    # First: the item of a list of Python numbers stays an exact Python number.
    element = by_trip(_at_place, (index, *values))
    if (
        element is not NotImplemented
        or not isinstance(index, LoopIndex)
        or not (is_one_buffer(values) or _alike(values))
    ):
        return element
    structure, arrays = stacked(values)  # in the loop, where tapes see it; a pass moves it before the loop
    return row_of(values, structure, [array[index] for array in arrays])


def _at_place(index: int, *items: Any) -> Any:
    return items[index]
