"""Sources of Python data: iterables, generators, queues, and arrays in memory."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import Any, Self, cast

import jax.numpy as jnp
import numpy as np

from graphc.compiler.base import nest
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, InvalidTypeError, OutOfRangeError
from graphc.compiler.core import Tensor
from graphc.compiler.function import TensorSpec
from graphc.graphs.queues import QueueBase
from graphc.training.data.elements import (
    Block,
    Row,
    described,
    flatten,
    host_leaf,
    spec_of,
    stacked,
    take_apart,
    unflatten,
)
from graphc.training.data.late import Origin
from graphc.training.data.sources.chunks import Cardinality, ChunkSource, SourceIterator, State
from graphc.training.data.sources.rows import Items, checked_row


def python_source(given: Any, spec: Any = None) -> ChunkSource:
    """Returns a source of a Python object: a sequence, an iterable, an iterator, or a function that returns one.

    Args:
      given: the object. With ``__len__`` and ``__getitem__``, its items can be read in any order.
      spec: the types of an element; None for those of the first one.

    Raises:
      InvalidTypeError: it is none of these.
    """
    if hasattr(given, "__len__") and hasattr(given, "__getitem__") and not isinstance(given, dict | str | bytes):
        return Items(given, spec)
    return Iterated(given, spec)


class Iterated:
    """The elements of an iterable, in order.

    Its position is the number of elements taken, and resuming takes them again; an iterator with its own ``state()``
    and ``restore()`` resumes at once.

    Args:
      given: an iterable, which each iteration starts anew; an iterator, which can be read once; or a function without
        arguments that returns either.
      spec: the types of an element; None for those of the first one.
    """

    def __init__(self, structure: Any, spec: Any = None) -> None:
        if not isinstance(structure, Iterable) and not callable(structure):
            problem = (
                "a dataset of Python's elements takes a sequence, an iterable or a function that returns one, got "
                f"{structure!r:.60}"
            )
            raise InvalidTypeError(problem).here()
        self._given: Any = structure
        self._origin = Origin()
        self._once = isinstance(structure, Iterator)
        self._first: list[Any] = []
        if spec is None:
            row, self.structure = take_apart(self._peeked())
            self.specs: list[Any] = [spec_of(leaf) for leaf in row]
        else:
            self.specs, self.structure = flatten(spec)

    def as_now(self) -> Iterated:
        """Returns the source with what its function captures now, if the open trace has made it."""
        source = copy.copy(self)
        source._given = self._origin.as_now(self._given)
        return self if source._given is self._given else source

    def _peeked(self) -> Any:
        """Returns the first element; keeps it for later if the iterator can be read only once."""
        for element in self.elements():
            if self._once:
                self._first.append(element)
            return element
        problem = "there are no elements to infer the types of the dataset from; pass element_spec"
        raise InvalidArgumentError(problem).here()

    def elements(self) -> Iterator[Any]:
        """Starts the iteration."""
        if isinstance(self._given, Iterable):
            return iter(cast("Iterable[Any]", self._given))
        return iter(self._given())

    @property
    def spec(self) -> Any:
        """The types of an element."""
        return unflatten(self.structure, self.specs)

    @property
    def cardinality(self) -> int | None:
        """The number of elements, if the iterable has a length."""
        return len(self._given) if hasattr(self._given, "__len__") else None

    def __str__(self) -> str:
        return f"from_python({getattr(self._given, '__name__', type(self._given).__name__)})"

    def open(self) -> _Elements:
        """Starts to read.

        Raises:
          FailedPreconditionError: an iterator was already read.
        """
        if not self._once:
            return _Elements(self, self.elements())
        source: Any = self._given
        self._given = _used
        first, self._first = self._first, []
        return _Elements(self, chain(first, self.elements() if source is _used else source))


def _used() -> Iterator[Any]:
    remedy = "pass the iterable, or a function that returns a new iterator each time"
    raise FailedPreconditionError(f"a Python iterator can be read only once, and was already read; {remedy}").here()


class _Elements:
    def __init__(self, source: Iterated, elements: Iterator[Any]) -> None:
        self._source, self._elements = source, elements
        self._taken = 0
        self._failed: Exception | None = None

    def __iter__(self) -> Self:
        return self

    def _row(self) -> Row:
        if self._failed is not None:
            error, self._failed = self._failed, None
            raise error
        element = next(self._elements)
        source, number = self._source, self._taken
        self._taken += 1
        return checked_row(element, source.specs, source.structure, f"element {number}")

    def __next__(self) -> Any:
        return unflatten(self._source.structure, self._row())

    def read_many(self, count: int) -> Any | None:
        """Returns the next elements as one batch; elements before an error come first."""
        rows: list[Row] = []
        try:
            while len(rows) < count:
                rows.append(self._row())
        except StopIteration:
            pass
        except Exception as error:
            if not rows:
                raise
            self._failed = error
        return unflatten(self._source.structure, stacked(rows)) if rows else None

    def state(self) -> State:
        """Returns the number of elements taken, and the iterator's own state."""
        own: Callable[[], Any] | None = getattr(self._elements, "state", None)
        return {"taken": self._taken, **({"own": own()} if callable(own) else {})}

    def restore(self, state: State) -> None:
        """Moves to a position: at once if the iterator can, else by taking the elements before it again."""
        if "own" in state:
            cast("Any", self._elements).restore(state["own"])
        else:
            if state["taken"] < self._taken:
                self._elements, self._taken = self._source.elements(), 0
            for _ in range(state["taken"] - self._taken):
                next(self._elements)
        self._taken = state["taken"]

    def close(self) -> None:
        """Ends a generator."""
        end: Callable[[], None] | None = getattr(self._elements, "close", None)
        if end is not None:
            end()


class QueueSource:
    """The elements of a queue, until it is closed and empty.

    Args:
      queue: a queue that eager code made. Its elements are tuples of the components, dicts if the components have
        names, or the component itself if there is only one.
    """

    def __init__(self, queue: Any) -> None:
        if not isinstance(queue, QueueBase):
            raise InvalidTypeError(f"from_queue: expected a queue, got {queue!r:.60}").here()
        self.queue: QueueBase = queue
        specs = [TensorSpec(shape, dtype) for shape, dtype in zip(queue.shapes, queue.dtypes, strict=True)]
        self.spec: Any = specs[0] if len(specs) == 1 and queue.names is None else tuple(specs)
        if queue.names is not None:
            self.spec = dict(zip(queue.names, specs, strict=True))

    @property
    def cardinality(self) -> None:
        """None: the source ends when the queue is closed."""

    def __str__(self) -> str:
        return f"from_queue({described(self.spec)})"

    def open(self) -> _Dequeued:
        """Starts to take elements."""
        return _Dequeued(self)


class _Dequeued:
    def __init__(self, source: QueueSource) -> None:
        self._queue = source.queue
        self._structure = flatten(source.spec)[1]

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        try:
            element = self._queue.dequeue()
        except OutOfRangeError:
            raise StopIteration from None
        return unflatten(self._structure, [host_leaf(leaf) for leaf in nest.flatten(element)[0]])

    def read_many(self, count: int) -> Any | None:
        """Returns the next element as a batch, because the producer may wait for this one to be used."""
        for element in self:
            return unflatten(self._structure, stacked([tuple(flatten(element)[0])]))
        return None

    def state(self) -> State:
        """Returns an empty state: elements that a queue returned are gone."""
        return {}

    def restore(self, state: State) -> None:
        """Raises an error."""
        remedy = "save the state of the queue's producer instead"
        raise FailedPreconditionError(f"from_queue: a queue has no position to restore; {remedy}").here()

    def close(self) -> None:
        """Does nothing: the queue belongs to its owner."""


_ALIGNED = 64  # bytes; JAX uses memory that starts at a multiple of it as it is, and copies other memory
_LARGE = 2**14


class Slices:
    """The slices of arrays along their first axis, as a source.

    Args:
      tensors: a nested structure of arrays, all of one length; they are copied.
      use: the name of the calling function, for messages.

    Raises:
      InvalidArgumentError: an array has no axes, or the lengths differ.
    """

    def __init__(self, tensors: Any, use: str = "from_tensor_slices") -> None:
        row, self._structure = take_apart(tensors)
        self.columns = [np.asarray(leaf) for leaf in row]
        self._use = use
        self._tensors: list[Any] | None = None
        lengths = {column.shape[:1] for column in self.columns}
        if not self.columns or () in lengths or len(lengths) > 1:
            shown = described(unflatten(self._structure, [spec_of(leaf) for leaf in self.columns]))
            raise InvalidArgumentError(f"{use}: expected arrays of one length, which are sliced, got {shown}").here()
        for column in self.columns:
            column.flags.writeable = False

    @property
    def spec(self) -> Any:
        """The types of a slice."""
        leaves = [spec_of(column) for column in self.columns]
        return unflatten(self._structure, [TensorSpec(leaf.shape[1:], leaf.dtype) for leaf in leaves])

    def on_device(self) -> list[Any]:
        """Returns the arrays as tensors, for programs that read rows of them."""
        if self._tensors is None:
            self._tensors = [Tensor(jnp.asarray(column)) for column in self.columns]
        return self._tensors

    @property
    def cardinality(self) -> Cardinality:
        """The number of slices."""
        return len(self)

    def __len__(self) -> int:
        return len(self.columns[0])

    def __str__(self) -> str:
        return f"{self._use}({described(self.spec)})"

    def take_rows(self, indices: Any) -> Any:
        """Returns slices as one batch: a view of the arrays if they are contiguous."""
        return unflatten(self._structure, self.take_columns(indices))

    def take_columns(self, indices: Any) -> Block:
        """Returns the leaves of :meth:`take_rows`."""
        count = len(indices)
        if count and indices[-1] - indices[0] == count - 1 and (count < 3 or (np.diff(indices) == 1).all()):
            chosen: Any = slice(int(indices[0]), int(indices[-1]) + 1)
            return tuple([column[chosen] for column in self.columns])
        return tuple([_taken(column, indices) for column in self.columns])

    def open(self) -> SourceIterator:
        """Raises an error: a plan reads the slices by row number."""
        raise NotImplementedError


def _taken(column: Any, indices: Any) -> Any:
    """Returns rows of an array, in memory that JAX need not copy if they are large: 28x28 floats are a fifth faster."""
    shape = (len(indices), *column.shape[1:])
    size = math.prod(shape) * column.dtype.itemsize
    if size < _LARGE or column.dtype.kind == "O":
        return column.take(indices, 0)
    memory = np.empty(size + _ALIGNED, np.uint8)
    start = -memory.ctypes.data % _ALIGNED
    rows = memory[start : start + size].view(column.dtype).reshape(shape)
    return np.take(column, indices, 0, out=rows, mode="clip")
