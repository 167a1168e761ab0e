"""``zip``, ``enumerate``, ``reversed``, ``map`` and ``iter`` of what a loop can take as a whole.

Each is the iterator that Python's own is: consumed once, by whoever asks. A loop that runs over one takes the space
that is left of it (see :mod:`graphc.compiler.autograph.constructs.loops.spaces`); everybody else gets the items one by
one.
"""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, cast

from graphc.compiler.autograph.constructs.calls.call import call
from graphc.compiler.autograph.constructs.exceptions.origins import in_python
from graphc.compiler.autograph.constructs.loops.ranges import TensorRange, refuse_range
from graphc.compiler.autograph.constructs.loops.spaces import (
    Enumerated,
    GrowingItems,
    IndexDomain,
    IterationDomain,
    ListDomain,
    MappedDomain,
    RowDomain,
    TensorIndices,
    is_same,
)
from graphc.compiler.autograph.constructs.overrides import Functions
from graphc.compiler.autograph.constructs.purity.natives import check_methods
from graphc.compiler.autograph.constructs.purity.watch import INDEXED, made, operator_method
from graphc.compiler.autograph.values.exact import whole_number
from graphc.compiler.autograph.values.growing_list import check_source, growing, is_one_buffer
from graphc.compiler.autograph.values.index import LoopIndex
from graphc.compiler.base.errors import InvalidTypeError, UnimplementedError
from graphc.compiler.core import SymbolicTensor, Tensor
from graphc.compiler.tracing import current_trace

Native = Callable[..., Any]


class SpaceIterator(Iterator[Any]):
    """An iterator that a loop can take as a whole."""

    filters: ClassVar[bool] = False

    def __init__(self, parts: Sequence[SpaceIterator]) -> None:
        self.position: int = 0
        self._parts = parts
        self._lost = ""

    def nodes(self) -> list[SpaceIterator]:
        """Returns the iterator, and those that it takes its items from."""
        return [self, *(node for part in self._parts for node in part.nodes())]

    def left(self) -> IterationDomain | None:
        """Returns the iterations that are left; None where two parts share an iterator, so are not in step."""
        nodes = self.nodes()
        for node in nodes:
            node.check()
        # zip(it, it) takes two items of it at each step.
        return self._left() if len({id(node) for node in nodes}) == len(nodes) else None

    def gives_items(self) -> bool:
        """Returns True if the items can be had one by one."""
        space = self.left()
        return space is None or isinstance(space.length, int)

    def computes(self) -> bool:
        """Returns True if a function of the user's makes the items, and none was taken."""
        return any(isinstance(node, _Map) for node in self.nodes()) and not any(self.mark())

    @abstractmethod
    def _left(self) -> Any:
        """Returns the space that is left."""

    def mark(self) -> list[int]:
        """Returns how far the iterator is, to come back to."""
        return [node.position for node in self.nodes()]

    def reset(self, mark: Sequence[int]) -> None:
        """Comes back to where :meth:`mark` was called."""
        for node, position in zip(self.nodes(), mark, strict=True):
            node.position = position

    def exhaust(self, count: int) -> None:
        """Leaves the iterator as a loop does that takes all items."""
        self.advance(count)
        next(self, None)  # the call that ends a loop; zip(strict=True) compares lengths in it

    def advance(self, count: int) -> None:
        """Leaves the iterator as a loop does that takes so many items."""
        for node in self.nodes():
            node.position += count

    def spoil(self, why: str) -> None:
        """Says that nobody knows how many items a loop took."""
        for node in self.nodes():
            node.lose(why)

    def lose(self, why: str) -> None:
        """As :meth:`spoil`, of this one alone."""
        self._lost = why

    def check_lists(self) -> None:
        """Refuses that the body of a loop over the iterator has changed a list that the items come from."""
        for part in self._parts:
            part.check_lists()

    def check(self) -> None:
        """Refuses the use of an iterator of which nobody knows what is left."""
        if self._lost:
            error = UnimplementedError(
                f"an iterator is used after a loop over it {self._lost}, so that what is left of it is known at run "
                "time only; make a new iterator for each loop"
            )
            raise current_trace().refuse(error)


class _Leaf(SpaceIterator):
    """The iterator over one space."""

    def __init__(self, space: IndexDomain | RowDomain | TensorIndices | GrowingItems) -> None:
        super().__init__(())
        self._space = space

    def check_lists(self) -> None:
        if isinstance(self._space, GrowingItems):
            self._space.check()

    def _left(self) -> IterationDomain:
        if isinstance(self._space, TensorIndices | GrowingItems):
            return self._space
        return self._space.part(self.position, len(self._space.order))

    def __next__(self) -> Any:
        self.check()
        if isinstance(self._space, TensorIndices):
            refuse_range()
        if isinstance(self._space, GrowingItems):
            self._space.refuse()
        if self.position >= self._space.length:
            raise StopIteration
        self.position += 1
        return self._space.at(self.position - 1)


class _Items(SpaceIterator):
    """The iterator over a list whose items are the rows of one array."""

    def __init__(self, owner: Sequence[Any], step: int) -> None:
        super().__init__(())
        self._owner = owner  # the list, or a tuple
        self._order = range(len(owner))[::step]
        self._known = list(owner)

    def _left(self) -> ListDomain:
        if not is_same(self._owner, self._known):
            error = UnimplementedError(
                "a list was changed while an iterator over it was in use; make the iterator where the loop begins"
            )
            raise current_trace().refuse(error)
        return ListDomain(self._owner, self._order[self.position :])

    def __next__(self) -> Any:
        self.check()
        check_source(self._owner)
        growing_list = self._order.step > 0  # Python looks for the next item when it is asked for
        index = self.position if growing_list else len(self._order) - 1 - self.position
        if not 0 <= index < len(self._owner):
            raise StopIteration
        self.position += 1
        return self._owner[index]


class _Zip(SpaceIterator):
    def __init__(self, parts: Sequence[SpaceIterator], strict: Any) -> None:
        super().__init__(parts)
        self._strict = bool(strict)
        # Python's zip knows which parts have given one item more when the shortest ends.
        self._native = zip(*parts, strict=self._strict)

    def _left(self) -> MappedDomain:
        spaces = [part._left() for part in self._parts]
        if self._strict and not all(isinstance(space.length, int) for space in spaces):
            raise _strict_error("over what is as long as a tensor says")
        return MappedDomain(lambda *items: items, spaces)

    def lose(self, why: str) -> None:
        super().lose(why)
        if self._strict and len({len(part._left().order) for part in self._parts}) > 1:
            raise _strict_error(f"over different lengths, in a loop {why},")

    def __next__(self) -> Any:
        self.check()
        return in_python(next, self._native)


def _strict_error(where: str) -> Exception:
    error = UnimplementedError(
        f"zip(strict=True) {where} would have to raise by the values of tensors, which is not compiled; check the "
        "lengths before the loop, and zip without strict=True"
    )
    return current_trace().refuse(error)


class _Enumerate(SpaceIterator):
    def __init__(self, part: SpaceIterator, start: Any) -> None:
        super().__init__([part])
        self._start = start

    def _left(self) -> Enumerated:
        return Enumerated(self._parts[0]._left(), self._start + self.position)

    def __next__(self) -> Any:
        item = next(self._parts[0])
        self.position += 1
        return self._start + (self.position - 1), item


class _Map(SpaceIterator):
    def __init__(self, function: Callable[..., Any], parts: Sequence[SpaceIterator]) -> None:
        super().__init__(parts)
        self._function = function
        self._native = map(function, *parts)

    def _left(self) -> MappedDomain:
        return MappedDomain(self._function, [part._left() for part in self._parts])

    def __next__(self) -> Any:
        self.check()
        return in_python(next, self._native)


def iterator_of(value: Any) -> SpaceIterator | None:
    """Returns what ``iter(value)`` is where a loop can take it as a whole; None for other values."""
    if isinstance(value, SpaceIterator):
        return value
    if isinstance(value, range):
        return _Leaf(IndexDomain(value))
    if isinstance(value, TensorRange):
        return _counting(value)
    iterator = _of_list(value, 1)
    if iterator is not None:
        return iterator
    return _rows(value, 1) if isinstance(value, Tensor) else None


def _of_list(value: Any, step: int) -> SpaceIterator | None:
    """Returns the iterator over a list that is one array, forwards or backwards; None for anything else."""
    if growing(value) is not None:
        return _Leaf(GrowingItems(value, backwards=step < 0))
    # No subclass, whose __iter__ may give other items than it holds.
    if type(value) not in (list, tuple) or not is_one_buffer(value):
        return None
    return _Items(value, step)


def _counting(numbers: TensorRange, *, backwards: bool = False) -> SpaceIterator:
    leaf = _Leaf(numbers.space(backwards=backwards))
    return leaf if numbers.item is None else _Map(numbers.item, [leaf])


def _rows(tensor: Tensor, step: int) -> SpaceIterator:
    if not tensor.shape:
        raise InvalidTypeError(f"iteration over a 0-d tensor {tensor.type}").here()
    return _Leaf(RowDomain(tensor, range(tensor.shape[0])[::step]))


def _iterators(values: Sequence[Any]) -> list[SpaceIterator] | None:
    """Returns the iterators over all of the values; None where a loop cannot take one of them as a whole."""
    if not values or not all(map(_is_space, values)):
        return None
    return [iterator for value in values if (iterator := iterator_of(value)) is not None]


def _is_space(value: Any) -> bool:
    if type(value) in (list, tuple):
        return _of_list(value, 1) is not None
    return isinstance(value, SpaceIterator | range | TensorRange | Tensor) or growing(value) is not None


def _zip(native: Native, *iterables: Any, strict: Any = False) -> Any:
    parts = _iterators(iterables)
    return native(*iterables, strict=strict) if parts is None else made(_Zip(parts, strict))


def _enumerate(native: Native, iterable: Any, start: Any = 0) -> Any:
    check_methods(start, INDEXED)
    parts = _iterators([iterable])
    if isinstance(start, SymbolicTensor):
        start = whole_number(start)
    elif not isinstance(start, LoopIndex):
        start = operator.index(start)
    if parts is not None:
        return made(_Enumerate(parts[0], start))
    if isinstance(start, int):
        return native(iterable, start)
    # Python's enumerate takes an int only.
    return made((start + index, item) for index, item in native(iterable))


def _reversed(native: Native, sequence: Any) -> Any:
    if isinstance(sequence, Tensor) and sequence.shape:
        return made(_rows(sequence, -1))
    if isinstance(sequence, range):
        return made(_Leaf(IndexDomain(sequence[::-1])))
    if isinstance(sequence, TensorRange):
        return made(_counting(sequence, backwards=True))
    iterator = _of_list(sequence, -1)
    return native(sequence) if iterator is None else made(iterator)


def asked_to_iterate(value: Any) -> Any:
    """Returns what an ``__iter__`` of the user's gives, which must be an iterator; any other value as it is."""
    method = operator_method(value, "__iter__")
    if method is None:
        return value
    iterator = call(method)(value)
    if not hasattr(cast("type[Any]", type(iterator)), "__next__"):
        raise TypeError(f"iter() returned non-iterator of type {type(iterator).__name__!r}")
    return iterator


def _iter(native: Native, value: Any, *sentinel: Any) -> Any:
    if not sentinel and operator_method(value, "__iter__") is not None:
        return asked_to_iterate(value)
    iterator = iterator_of(value) if not sentinel and _is_space(value) else None  # iter(f, sentinel) calls f
    return native(value, *sentinel) if iterator is None or iterator is value else made(iterator)


def _map(native: Native, function: Any, *iterables: Any, **options: Any) -> Any:
    # Python's map refuses keywords itself, or takes strict=True from 3.14 on.
    parts = None if options else _iterators(iterables)
    if parts is None:
        return native(function, *iterables, **options)
    return made(_Map(call(function), parts))


OVERRIDES: Functions = {zip: _zip, enumerate: _enumerate, reversed: _reversed, iter: _iter, map: _map}
