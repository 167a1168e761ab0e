"""Iterators that are part of graphs built by hand: each Session that runs the graph has its own position.

``get_next`` is an operation; every run of it takes an element. One-shot iterators start by themselves, initializable
ones when their initializer runs. A reinitializable iterator can be started over any dataset of its structure, and a
feedable one is the iterator whose handle a run feeds. They are TensorFlow 1's.
"""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Protocol, Self, cast

import numpy as np

from graphc.compiler.base import Signal, holding, interruption, nest, when_done
from graphc.compiler.base.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, OutOfRangeError
from graphc.compiler.core import STRING, SymbolicTensor, current_resources, on_host
from graphc.compiler.function import TensorSpec
from graphc.compiler.ir import OPEN, OPS, Attrs, Effect, Graph, Infer, OpDef, TensorType, gives, part_of_world, writes
from graphc.graphs.queues import shared
from graphc.training.data.dataset import Dataset, signature_of
from graphc.training.data.elements import described, flatten, unflatten
from graphc.training.data.functions import UserFunction
from graphc.training.data.iterator import DatasetIterator
from graphc.training.data.plan import PlanNode, replaced, walk
from graphc.training.data.sources import map_spec

# A wait for the next element of an iterator that can be abandoned without losing the element.


class _Rows(Iterator[Any], Protocol):
    def close(self) -> None: ...


class _Fetch:
    """The next element, the end, or an error, taken by a separate thread."""

    def __init__(self, rows: _Rows) -> None:
        self._rows = rows
        self._found: list[Any] = []
        self._error: BaseException | None = None
        self.done = Signal()
        when_done(self._take, self.done.set)

    def _take(self) -> None:
        try:
            self._found = list(itertools.islice(self._rows, 1))
        except BaseException as error:  # raised again in the waiting thread
            self._error = error

    def found(self) -> list[Any]:
        if self._error is not None:
            raise self._error
        return self._found


class Attended:
    """An iterator, used by one thread at a time, that respects deadlines and cancellation tokens."""

    def __init__(self, rows: _Rows, label: str) -> None:
        self._rows, self._what = rows, f"the next element of the iterator {label!r}"
        self._fetch: _Fetch | None = None  # a fetch in progress, or one whose element was not taken

    def take(self) -> list[Any]:
        """Returns the next element in a list, which is empty at the end."""
        if self._fetch is None and interruption() is None:
            return list(itertools.islice(self._rows, 1))
        fetch = self._fetch = self._fetch or _Fetch(self._rows)
        fetch.done.wait(self._what)
        self._fetch = None
        return fetch.found()

    def close(self) -> None:
        """Ends the iteration, after a fetch in progress."""
        if self._fetch is not None:
            self._fetch.done.wait(self._what)
        self._rows.close()


_datasets: weakref.WeakValueDictionary[str, Dataset] = weakref.WeakValueDictionary()
"""The datasets that ops of graphs refer to; the graphs keep them alive."""

_numbers = itertools.count()
_KEPT = "graphc/datasets"
_WHAT = "an iterator that another run is reading"


class GraphDataset(Dataset):
    """A dataset whose iterators are part of a graph, TensorFlow 1's ``tf.data.Dataset``.

    Its functions run for elements, outside of the graph.
    """

    @classmethod
    def graph_to_build(cls) -> Any:
        """Returns the graph to add iterators to; a layer with a default graph defines this."""
        raise NotImplementedError

    def _function(self, function: Any, use: str, *, compiled: bool = True) -> UserFunction:
        with on_host():
            return super()._function(function, use, compiled=compiled)

    @property
    def is_fed(self) -> bool:
        """True if it is made from tensors of the graph, whose values the initializer reads."""
        return bool(_fed(self.plan))

    @property
    def output_types(self) -> Any:
        """The dtypes of an element."""
        return map_spec(_dtype, self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of an element."""
        return map_spec(lambda leaf: leaf.shape, self.element_spec)

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Self:
        """Makes a dataset of the slices of arrays; tensors of the graph are sliced when the initializer runs.

        Args:
          tensors: a nested structure of arrays and tensors of the graph.
          name: ignored.

        Raises:
          InvalidArgumentError: a tensor has no rows, or rows of a shape that is not known.
        """
        leaves, structure = flatten(tensors)
        if not any(isinstance(leaf, SymbolicTensor) for leaf in leaves):
            return super().from_tensor_slices(tensors)
        sample = unflatten(structure, list(map(_one_row, leaves)))
        return cls.fed_by(leaves, sample, lambda values: Dataset.from_tensor_slices(unflatten(structure, values)))

    @classmethod
    def fed_by(cls, tensors: Sequence[Any], sample: Any, make: Callable[[list[Any]], Dataset]) -> Self:
        """Makes a dataset from values of tensors of the graph, which are known when the initializer runs.

        Args:
          tensors: the tensors.
          sample: arrays whose slices have the types of the elements.
          make: a function that makes it from the values.
        """
        dataset = super().from_tensor_slices(sample)
        source = cast("Any", dataset.plan).source
        source.fed, source.refill = tensors, make
        return dataset

    def make_one_shot_iterator(self) -> GraphIterator:
        """Adds an iterator to the graph that returns the elements once in each Session.

        Raises:
          InvalidArgumentError: the dataset is made from tensors of the graph.
        """
        if self.is_fed:
            problem = (
                "make_one_shot_iterator: the dataset is made from tensors of the graph; make_initializable_iterator"
            )
            raise InvalidArgumentError(f"{problem} reads them when the initializer runs").here()
        return GraphIterator(type(self).graph_to_build(), self.element_spec, dataset=self)

    def make_initializable_iterator(self, shared_name: str | None = None) -> GraphIterator:
        """Adds an iterator to the graph that restarts whenever its ``initializer`` runs.

        Args:
          shared_name: a name that makes iterators share their state.
        """
        iterator = GraphIterator(type(self).graph_to_build(), self.element_spec, shared_name=shared_name)
        iterator.initializer = iterator.make_initializer(self)
        return iterator


class GraphIterator:
    """An iterator in a graph, made by datasets and ``from_structure``.

    Args:
      graph: the graph.
      spec: the types of an element.
      dataset: the dataset to iterate; None if an initializer sets it.
      shared_name: the name that iterators share.
      handle: a tensor that names the iterator that is meant; None for one of its own.

    Attributes:
      element_spec: the types of an element.
      initializer: the operation that starts it, if it has one.
    """

    __graphc_opaque__ = True

    def __init__(
        self,
        graph: Any,
        spec: Any,
        *,
        dataset: GraphDataset | None = None,
        shared_name: str | None = None,
        handle: Any = None,
    ) -> None:
        self._graph, self.element_spec, self._handle = graph, spec, handle
        self._initializer: Any = None
        leaves, self._structure = flatten(spec)
        with graph.entered(), graph.name_scope("Iterator") as scope:
            name = shared_name or scope.rstrip("/")
        types = tuple([leaf.type for leaf in leaves])
        token = "" if dataset is None else _kept(graph, dataset)
        self._attrs = Attrs(container=graph.current_container, iterator=name, types=types, dataset=token)

    @classmethod
    def from_structure(
        cls, graph: Any, output_types: Any, output_shapes: Any = None, shared_name: str | None = None
    ) -> Self:
        """Adds an iterator without a dataset; ``make_initializer`` sets it.

        Args:
          graph: the graph.
          output_types: the dtypes of an element, a nested structure.
          output_shapes: their shapes; None for any.
          shared_name: a name that makes iterators share their state.
        """
        return cls(graph, signature_of(output_types, output_shapes), shared_name=shared_name)

    @property
    def initializer(self) -> Any:
        """The operation that starts it.

        Raises:
          InvalidArgumentError: the iterator has none: it starts by itself, or ``make_initializer`` makes one per
            dataset.
        """
        if self._initializer is None:
            problem = "this iterator has no initializer; use make_initializer(dataset), or make_initializable_iterator"
            raise InvalidArgumentError(problem).here()
        return self._initializer

    @initializer.setter
    def initializer(self, operation: Any) -> None:
        self._initializer = operation

    @property
    def output_types(self) -> Any:
        """The dtypes of an element."""
        return map_spec(_dtype, self.element_spec)

    @property
    def output_shapes(self) -> Any:
        """The shapes of an element."""
        return map_spec(lambda leaf: leaf.shape, self.element_spec)

    def make_initializer(self, dataset: GraphDataset, name: str | None = None) -> Any:
        """Returns an operation that starts the iterator over a dataset.

        Args:
          dataset: a dataset of the same structure.
          name: the name of the operation.

        Raises:
          InvalidArgumentError: the dataset has another structure, or other dtypes or shapes.
        """
        specs, structure = flatten(dataset.element_spec)
        wanted = flatten(self.element_spec)[0]
        if structure != self._structure or not all(map(_fits, wanted, specs)):
            expected, actual = described(self.element_spec), described(dataset.element_spec)
            problem = f"make_initializer: the dataset has {actual}, the iterator {expected}"
            raise InvalidArgumentError(problem).here()
        token = _kept(self._graph, dataset)
        return self._emit(INITIALIZE, "make_initializer", name, _fed(dataset.plan), dataset=token)

    def get_next(self, name: str | None = None) -> Any:
        """Returns the tensors of the next element: each run takes one.

        Args:
          name: the name of the operation.
        """
        inputs = () if self._handle is None else (self._handle,)
        outputs = self._emit(GET_NEXT, "IteratorGetNext", name, inputs)
        return unflatten(self._structure, nest.as_tuple(outputs))

    def string_handle(self, name: str | None = None) -> Any:
        """Returns a string that identifies it, to feed to a feedable iterator.

        Args:
          name: the name of the operation.
        """
        return self._emit(HANDLE, "IteratorToStringHandle", name)

    def _emit(self, op: OpDef, default: str, name: str | None, inputs: Sequence[Any] = (), **attrs: Any) -> Any:
        with self._graph.entered():
            return shared.emit(self._graph, op, inputs, Attrs({**self._attrs, **attrs}), name or default)


def _one_row(leaf: Any) -> Any:
    """Returns an array of one row like the rows of a leaf."""
    if not isinstance(leaf, SymbolicTensor):
        return leaf[:1]
    type = leaf.raw.type
    if not type.ranked or not type.shape or OPEN in type.shape[1:]:
        problem = f"from_tensor_slices: {leaf!r} has no rows of a known shape; give the placeholder a shape (None, ...)"
        raise InvalidArgumentError(problem).here()
    return np.full((1, *type.shape[1:]), b"" if type.dtype == STRING else 0, type.dtype)


def _fed(plan: PlanNode) -> list[Any]:
    """Returns the tensors of the graph in a plan, and the arrays used with them."""
    return [leaf for node in walk(plan) for leaf in getattr(getattr(node, "source", None), "fed", ())]


def _with_values(plan: PlanNode, values: Iterator[Any]) -> PlanNode:
    """Returns a plan with values in place of tensors."""
    plan = replaced(plan, lambda node: _with_values(node, values))
    source = getattr(plan, "source", None)
    count = len(getattr(source, "fed", ()))
    if not count:
        return plan
    return cast("Any", source).refill([next(values) for _ in range(count)]).plan


def _dtype(leaf: TensorSpec) -> Any:
    return leaf.dtype if leaf.of_strings else leaf.type.dtype


def _fits(wanted: TensorSpec, actual: TensorSpec) -> bool:
    same = wanted.of_strings == actual.of_strings and wanted.type.dtype == actual.type.dtype
    if wanted.shape is None or actual.shape is None:
        return same
    sizes = list(zip(wanted.shape, actual.shape, strict=False))
    return same and len(wanted.shape) == len(actual.shape) and all(a in (None, b) or b is None for a, b in sizes)


def _kept(graph: Any, dataset: Dataset) -> str:
    """Returns the name by which ops find a dataset, which the graph keeps alive."""
    token = f"dataset_{next(_numbers)}"
    _datasets[token] = dataset
    graph.add_to_collection(_KEPT, dataset)
    return token


class _State:
    """An iterator in the resources of a Session."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: Attended | None = None

    def start(self, label: str, token: str, values: Sequence[Any] = (), *, again: bool = True) -> None:
        """Starts over a dataset of values of tensors; if not ``again``, only if it is not started already."""
        with holding(self._lock, _WHAT):
            if self._rows is None or again:
                if self._rows is not None:
                    self._rows.close()
                dataset = _datasets[token]
                dataset = Dataset(_with_values(dataset.plan, iter(values))) if values else dataset
                self._rows = Attended(DatasetIterator(dataset, as_numpy=True), label)

    def next(self, label: str) -> list[Any]:
        """Returns the leaves of the next element."""
        with holding(self._lock, _WHAT):
            if self._rows is None:
                problem = f"the iterator {label!r} was not started in this Session; run its initializer first"
                raise FailedPreconditionError(problem)
            for element in self._rows.take():
                return flatten(element)[0]
        raise OutOfRangeError(f"End of sequence: the dataset of the iterator {label!r} has no more elements")


def _state(attrs: Mapping[str, Any]) -> _State:
    return current_resources().get_or_make(attrs["container"], attrs["iterator"], _State, _State)


def _initialize(*values: Any, **attrs: Any) -> tuple[()]:
    _state(attrs).start(attrs["iterator"], attrs["dataset"], values)
    return ()


def _get_next(*handle: Any, **attrs: Any) -> tuple[Any, ...]:
    if handle:
        container, _, name = handle[0].item().decode(errors="replace").rpartition("|")
        state = current_resources().find(container, name, _State)
        if state is None:
            problem = f"there is no iterator {name!r} in this Session; evaluate its string_handle() first"
            raise NotFoundError(f"get_next: {problem}")
        leaves = state.next(name)
        for leaf, type in zip(leaves, attrs["types"], strict=True):
            dtype = STRING if isinstance(leaf, bytes) else leaf.dtype
            if dtype != type.dtype:
                raise InvalidArgumentError(f"get_next: the iterator {name!r} has {dtype}, expected {type}")
    else:
        state = _state(attrs)
        if attrs["dataset"]:
            state.start(attrs["iterator"], attrs["dataset"], again=False)
        leaves = state.next(attrs["iterator"])
    return tuple([_array(leaf) for leaf in leaves])


def _array(leaf: Any) -> np.ndarray[Any, Any]:
    if not isinstance(leaf, bytes):
        return np.asarray(leaf)
    array = np.empty((), object)
    array[()] = leaf
    return array


def _handle(**attrs: Any) -> np.ndarray[Any, Any]:
    state = _state(attrs)
    if attrs["dataset"]:
        state.start(attrs["iterator"], attrs["dataset"], again=False)
    return _array(f"{attrs['container']}|{attrs['iterator']}".encode())


def _types(types: Sequence[TensorType], attrs: Attrs, regions: Sequence[Graph]) -> tuple[TensorType, ...]:
    return attrs["types"]


def _touches(attrs: Mapping[str, Any]) -> tuple[Effect, ...]:
    return (writes(part_of_world(f"iterator/{attrs['container']}/{attrs['iterator']}")),)


def _op(name: str, impl: Callable[..., Any], infer: Infer, params: tuple[str, ...], doc: str) -> OpDef:
    name = f"iterator.{name}"
    row = OpDef(name, impl, infer, params, effects=_touches, differentiable=False, host=True, doc=doc)
    return OPS.add(name, row)


INITIALIZE = _op("initialize", _initialize, gives(), ("*values",), "Starts an iterator over a dataset.")
GET_NEXT = _op("get_next", _get_next, _types, ("*handle",), "Takes an element from an iterator.")
HANDLE = _op("handle", _handle, gives(TensorType((), STRING)), (), "The string that identifies an iterator.")
