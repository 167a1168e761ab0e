"""Iteration spaces: what a ``for`` loop that becomes one node runs over.

A :class:`IterationDomain` says how many iterations there are and how the item of each is made: from the loop's counter,
and from the rows of arrays that the loop takes in step. ``range``, tensors, ``zip``, ``enumerate``, ``reversed`` and
``map`` of such are spaces, nested as one likes.

Python's ``zip`` and its like are iterators: consumed once, by whoever asks. :class:`SpaceIterator` is one too. A loop
that runs over it as a whole takes the space that is left; everybody else gets the items one by one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeAlias

from graphc.compiler.autograph.values.growing_list import growing, row_of, stacked
from graphc.compiler.autograph.values.index import LoopIndex, as_tensor
from graphc.compiler.autograph.values.number import SymbolicNumber, span_of
from graphc.compiler.autograph.values.spans import ANY_INT, ValueRange
from graphc.compiler.base import nest
from graphc.compiler.core import FUNCTIONS, SymbolicTensor, Tensor, apply
from graphc.compiler.ir import OPS, Attrs
from graphc.compiler.ops import AS_NUMBER

Counter: TypeAlias = LoopIndex | SymbolicTensor
"""The counter of a loop: an int of which the bounds are known, or a tensor where not even that is."""


def affine(position: Any, start: Any, step: Any) -> Any:
    """``start + step * position``, without operations that change nothing."""
    # By type first: `step != 1` of a tensor is a node.
    if type(step) is not int or step != 1:
        position = position * step
    return position if type(start) is int and not start else position + start


class IterationDomain(ABC):
    """The iteration space of a loop."""

    # The number of iterations; a tensor where it is known at run time only, which may be negative for none.
    length: int | SymbolicTensor
    what: str  # what it is, for reports: "the 6 rows of a tensor"
    _most: int | None = None
    _order: range | None = None

    @property
    def most(self) -> int | None:
        """The most iterations there can be; None where that is not known."""
        if self._most is not None:
            return self._most
        return self.length if isinstance(self.length, int) else None

    @property
    def order(self) -> range:
        """The numbers that the counter runs through, where their number is known."""
        length = self.length
        assert isinstance(length, int)
        return range(length) if self._order is None else self._order

    def tensors(self) -> list[Tensor]:
        """Returns the tensors whose rows are taken."""
        return []

    def is_changed(self) -> bool:
        """Returns True if a list that the items come from holds others by now."""
        return False

    def arrays(self) -> list[Tensor]:
        """Returns what the loop takes one row of in each iteration, in the order of the iterations."""
        return []

    @abstractmethod
    def item(self, counter: Counter, rows: Iterator[Any] | None) -> Any:
        """Returns the item of an iteration."""
        # counter: one of :attr:`order`; the number of the iteration where the length is a tensor.
        # rows: one row of each of :meth:`arrays`; None where the loop takes none.

    def part(self, start: int, stop: int) -> IterationDomain:
        """Returns the iterations from ``start`` to ``stop``, where their number is known."""
        raise NotImplementedError

    def of_position(self, position: Counter, rows: Iterator[Any] | None) -> Any:
        """Returns the item of the iteration of that number, counted from 0."""
        if not isinstance(self.length, int):
            return self.item(position, rows)
        return self.item(affine(position, self.order.start, self.order.step), rows)


class IndexDomain(IterationDomain):
    """A ``range``."""

    def __init__(self, indices: range) -> None:
        self._order = self._indices = indices
        self.length = len(indices)
        self.what = f"its {self.length} iterations do the same work"

    def item(self, counter: Counter, rows: Iterator[Any] | None) -> Any:
        """Returns the counter."""
        return counter

    def part(self, start: int, stop: int) -> IndexDomain:
        """Some of the range."""
        return IndexDomain(self._indices[start:stop])

    def at(self, position: int) -> int:
        """Returns the item of an iteration, in Python."""
        return self._indices[position]


class RowDomain(IterationDomain):
    """The rows of a tensor, in an order."""

    def __init__(self, tensor: Tensor, order: range) -> None:
        self.as_tensor = tensor
        self._order = order  # the numbers of the rows, from one end to the other
        self.length = len(order)
        self.what = f"it runs over the {self.length} rows of a tensor"

    def tensors(self) -> list[Tensor]:
        """Returns the tensor."""
        return [self.as_tensor]

    def arrays(self) -> list[Tensor]:
        """Returns the tensor, cut and turned as the order says."""
        rows, order = self.as_tensor, self.order
        first, last = min(order[0], order[-1]), max(order[0], order[-1])
        if (first, last) != (0, rows.shape[0] - 1):
            rows = rows[first : last + 1]
        # A scan takes its rows from the first on.
        return [rows if order[0] == first else FUNCTIONS["flip"](rows, axis=0)]

    def item(self, counter: Counter, rows: Iterator[Any] | None) -> Any:
        """Returns the row, which of a NumPy array is a view."""
        if rows is None:
            return self.as_tensor[counter]
        row = next(rows)
        if isinstance(self.as_tensor, SymbolicTensor) and row.shape:
            self.as_tensor.trace.view(self.as_tensor, row)
        return row

    def part(self, start: int, stop: int) -> RowDomain:
        """Some of the rows."""
        return RowDomain(self.as_tensor, self.order[start:stop])

    def at(self, position: int) -> Tensor:
        """Returns the row of an iteration whose number is known."""
        return self.as_tensor[self.order[position]]


class ListDomain(IterationDomain):
    """The items of a list that are the rows of one array."""

    def __init__(self, owner: Sequence[Any], order: range) -> None:
        self._owner = owner  # the list, or a tuple
        self._known = list(owner)  # a copy, since the body may change the list
        self._order = order  # the places of the items, from one end to the other
        self.length = len(order)
        self.what = f"it runs over the {self.length} items of a list, which are rows of one array"
        self._arrays: list[Tensor] | None = None
        self._structure = nest.LEAF

    def tensors(self) -> list[Tensor]:
        """Returns the items, stacked."""
        # Once only: an attempt's rollback would take back nodes that a second call makes.
        if self._arrays is None:
            self._structure, self._arrays = stacked(self._known)
        return self._arrays

    def arrays(self) -> list[Tensor]:
        """Returns these, cut and turned as the order says."""
        return [array for tensor in self.tensors() for array in RowDomain(tensor, self.order).arrays()]

    def item(self, counter: Counter, rows: Iterator[Any] | None) -> Any:
        """Returns the item."""
        leaves = [tensor[counter] if rows is None else next(rows) for tensor in self.tensors()]
        return row_of(self._known, self._structure, leaves)

    def part(self, start: int, stop: int) -> ListDomain:
        """Some of the items."""
        return ListDomain(self._owner, self.order[start:stop])

    def is_changed(self) -> bool:
        """Returns True if the list does not hold the items any more."""
        return not is_same(self._owner, self._known)


def is_same(items: Sequence[Any], others: Sequence[Any]) -> bool:
    """Returns True if two lists hold the same objects."""
    # By identity: == of tensors is a tensor.
    return len(items) == len(others) and all(one is other for one, other in zip(items, others, strict=True))


class TensorIndices(IterationDomain):
    """The numbers ``start + step * position``, as many as a tensor says."""

    what = "its range has a tensor bound"

    def __init__(
        self, start: Any, step: Any, length: SymbolicTensor, most: int | None, span: ValueRange | None
    ) -> None:
        self._start = start  # an int or an integer scalar
        self._step = step
        self.length = length
        self._most = most  # how many there can be, if that is known
        self._span = span  # between which ints the numbers lie; None for what the start and the step tell

    def item(self, counter: Counter, rows: Iterator[Any] | None) -> Any:
        """Returns the number at that place."""
        if isinstance(counter, LoopIndex):
            return affine(counter, self._start, self._step)
        # A product that wraps on the way does no harm: all numbers of a range lie between its bounds.
        tensors = [as_tensor(value) for value in (self._start, self._step)]
        number = affine(SymbolicTensor(counter.raw, counter.trace), *tensors)
        if self._span is not None and number.raw is not counter.raw:
            attrs = Attrs(kind="int", low=self._span.low, high=self._span.high)
            number = apply(AS_NUMBER, (number,), attrs)
        return SymbolicNumber(number, int, span=self._span or _span_of_range(self._start, self._step))


def _span_of_range(start: Any, step: Any) -> ValueRange | None:
    first, step = span_of(start), span_of(step)
    if first is None or step is None:
        return None
    # Else a loop around that moves the number further only widens its bounds, and this body is not traced again.
    first.rely()
    step.rely()
    if step.low <= 0 <= step.high:  # it may go either way
        return None
    return replace(ANY_INT, low=first.low) if step.low > 0 else replace(ANY_INT, high=first.high)


class GrowingItems(IterationDomain):
    """The items of a list whose length is known at run time only."""

    what = "it runs over a list whose length is known at run time only"

    def __init__(self, owner: list[Any], *, backwards: bool = False) -> None:
        items = growing(owner)
        assert items is not None
        self._owner = owner
        self._items = items
        self._most = items.capacity
        self._backwards = backwards  # from the last item to the first

    def refuse(self) -> NoReturn:
        """Refuses that somebody asks for the items one by one."""
        self._items.fail()

    def check(self) -> None:
        """Refuses that the body of the loop has changed the list that it runs over."""
        # A Growing never changes: whatever changes the list puts another one there.
        if growing(self._owner) is not self._items:
            self._items.fail()

    # Late: the sum of what there was and what was added is a node.
    @property
    def length(self) -> Any:  # pyright: ignore[reportIncompatibleVariableOverride]
        """How many items there are."""
        return self._items.length

    def item(self, counter: Counter, rows: Iterator[Any] | None) -> Any:
        """Returns the item."""
        return self._items.item(self._items.length - 1 - as_tensor(counter) if self._backwards else counter)


class _Several(IterationDomain):
    """Spaces side by side, as long as the shortest."""

    def __init__(self, parts: Sequence[IterationDomain]) -> None:
        lengths = [part.length for part in parts if isinstance(part.length, int)]
        unknown = [part.length for part in parts if not isinstance(part.length, int)]
        length: Any = min(lengths, default=None)
        for other in unknown:
            length = other if length is None else apply(OPS["minimum"], (other, length))
        self.length = length
        # Cut, since all arrays of a scan have one length.
        self._parts = list(parts) if unknown else [part.part(0, length) for part in parts]
        self._most = min((part.most for part in parts if part.most is not None), default=None)

    # Late: the tensors of a list are made when somebody asks for them.
    @property
    def what(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """That of its parts that tells most."""
        descriptions = [part.what for part in self._parts if not isinstance(part.length, int)]
        descriptions += [part.what for part in self._parts if part.tensors()]
        return (descriptions or [IndexDomain(range(self.length)).what])[0]

    def is_changed(self) -> bool:
        return any(part.is_changed() for part in self._parts)

    def tensors(self) -> list[Tensor]:
        return [tensor for part in self._parts for tensor in part.tensors()]

    def arrays(self) -> list[Tensor]:
        return [array for part in self._parts for array in part.arrays()]

    def _items(self, counter: Counter, rows: Iterator[Any] | None) -> tuple[Any, ...]:
        return tuple([part.of_position(counter, rows) for part in self._parts])


class Enumerated(_Several):
    """``enumerate``: the items of a space, numbered from ``start`` on."""

    def __init__(self, part: IterationDomain, start: Any) -> None:
        super().__init__([part])
        self._start = start

    def item(self, counter: Counter, rows: Iterator[Any] | None) -> Any:
        """Returns the number and the item."""
        return (affine(counter, self._start, 1), *self._items(counter, rows))

    def part(self, start: int, stop: int) -> Enumerated:
        """Some of the items, numbered as before."""
        return Enumerated(self._parts[0].part(start, stop), self._start + start)


class MappedDomain(_Several):
    """``map``, and ``zip`` by a function that makes tuples: what a function makes of the items of several spaces."""

    def __init__(self, function: Callable[..., Any], parts: Sequence[IterationDomain]) -> None:
        super().__init__(parts)
        self._function = function

    def item(self, counter: Counter, rows: Iterator[Any] | None) -> Any:
        """Returns what the function returns."""
        return self._function(*self._items(counter, rows))

    def part(self, start: int, stop: int) -> MappedDomain:
        """Some of the items."""
        return MappedDomain(self._function, [part.part(start, stop) for part in self._parts])
