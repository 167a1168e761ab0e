"""Datasets and iterators of TensorFlow 1, whose iterators are part of the default graph."""

from __future__ import annotations

import itertools
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, cast

import numpy as np

from graphc.compiler.base import Location, nest
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import STRING, StringTensor, bytes_array
from graphc.compiler.function import TensorSpec
from graphc.graphs import session
from graphc.graphs.session import Graph, GraphTensor, default_graph
from graphc.training import data
from graphc.training.data import GraphDataset, sources


class InGraph:
    """A function that is called for elements, outside of the graph that it was written beside.

    One that makes no operations of a graph is called for each element. Another one is called once, and what it made is
    run for each element, as TensorFlow 1 does it.

    Args:
      seed: the seed of the graph that it was written beside.
    """

    def __init__(self, function: Callable[..., Any], use: str, location: Location | None, seed: int | None) -> None:
        self._function, self._use, self._location, self._seed = function, use, location, seed
        self._run: Callable[..., Any] | None = None
        self._lock = threading.Lock()

    def __call__(self, *element: Any) -> Any:
        """Returns what it makes of an element."""
        if self._run is None:
            with session.Graph().as_default() as graph:
                results = self._called(element, graph)
            if not any(isinstance(leaf, session.GraphTensor) for leaf in nest.flatten(results)[0]):
                return results
            with self._lock:
                self._run = self._run or self._built(lambda: nest.map_structure(_placeholder, element))[0]
        return self._run(*element)

    def spec(self, element_spec: Any) -> Any:
        """Returns the types of what it makes, from those of the elements; None where they do not say it."""
        kind = cast("Any", type(element_spec))
        element = element_spec if kind is tuple else (element_spec,)
        try:
            self._run, outputs = self._built(lambda: sources.map_spec(_placeholder_for, element))
        except Exception:  # it takes values, or is wrong, which it says where it is called
            return None
        return nest.map_structure(_spec, outputs)

    def _called(self, element: tuple[Any, ...], graph: session.Graph) -> Any:
        try:
            results = self._function(*element)
        except InvalidArgumentError as error:
            if "is of another graph" not in str(error):
                raise
            raise self._refusal(str(error).partition("; build")[0]) from error
        for leaf in nest.flatten(results)[0]:
            if isinstance(leaf, session.GraphTensor) and leaf.graph is not graph:
                raise self._refusal(f"{leaf!r} is made of tensors or Variables of another graph")
            if isinstance(leaf, GraphDataset) and leaf.is_fed:
                problem = f"{self._use}: it returns a dataset of tensors that it makes itself, which are not known yet"
                raise InvalidArgumentError(f"{problem}; make them in a map before it").at(self._location)
        return tuple(cast("list[Any]", results)) if isinstance(results, list) else results

    def _refusal(self, problem: str) -> Exception:
        remedy = "a function of elements may not use tensors, Variables or placeholders of the graph around it"
        instead = "give it NumPy values, or make them part of the elements (from_tensor_slices of a placeholder, zip)"
        return InvalidArgumentError(f"{self._use}: {problem}; {remedy}: {instead}").at(self._location)

    def _built(self, placeholders: Callable[[], tuple[Any, ...]]) -> tuple[Callable[..., Any], Any]:
        """Returns what runs the graph that the function makes of placeholders, and the tensors that it returned."""
        with session.Graph().as_default() as graph:
            graph.seed = self._seed
            feeds = placeholders()
            results, structure = nest.flatten(self._called(feeds, graph))
            fetches = [session.convert_to_tensor(leaf) for leaf in results]
        run = session.Session(graph=graph).make_callable(fetches, nest.flatten(feeds)[0])

        def call(*element: Any) -> Any:
            return nest.unflatten(structure, run(*map(_fed, nest.flatten(element)[0])))

        return call, nest.unflatten(structure, fetches)


def _placeholder(leaf: Any) -> Any:
    """Returns a placeholder for an item of elements, of whose shape only the number of axes is sure."""
    array = _fed(leaf)
    return session.placeholder(STRING if array.dtype.kind in "OSU" else array.dtype, (None,) * array.ndim)


def _placeholder_for(leaf: TensorSpec) -> Any:
    return session.placeholder(STRING if leaf.of_strings else leaf.type.dtype, leaf.shape)


def _spec(leaf: Any) -> TensorSpec:
    return TensorSpec(leaf.shape, "string" if leaf.dtype == STRING else leaf.dtype)


def _fed(leaf: Any) -> Any:
    return bytes_array(leaf) if isinstance(leaf, StringTensor) else np.asarray(leaf)


class Dataset(data.GraphDataset):
    """A dataset whose iterators are part of the default graph."""

    @classmethod
    def graph_to_build(cls) -> Graph:
        """Returns the default graph."""
        return default_graph()

    @classmethod
    def seed_of_program(cls) -> int | None:
        """Returns the next of the seeds that follow from that of the default graph; None if it has none."""
        graph = default_graph()
        if graph.seed is None:
            return None
        number = next(_seeds.setdefault(graph, itertools.count()))
        return int(np.random.SeedSequence([graph.seed % 2**64, number]).generate_state(1)[0])

    def _function(self, function: Any, use: str, *, compiled: bool = True) -> Any:
        seed = default_graph().seed
        with Graph().as_default():  # what an attempt to compile it adds is of no graph of the user's
            converted = super()._function(function, use, compiled=compiled)
        converted.in_python = in_graph = InGraph(function, use, converted.location, seed)
        if self.is_fed and not converted.is_known:  # what it will be fed with is no element yet
            spec = in_graph.spec(self.element_spec)
            if spec is not None:
                converted.declare(spec)
        return converted


_seeds: weakref.WeakKeyDictionary[Graph, itertools.count[int]] = weakref.WeakKeyDictionary()


class Iterator:
    """TensorFlow 1's names of the ways to make an iterator without a dataset."""

    @staticmethod
    def from_structure(
        output_types: Any, output_shapes: Any = None, shared_name: str | None = None, output_classes: Any = None
    ) -> data.GraphIterator:
        """Adds an iterator to the default graph; ``make_initializer(dataset)`` starts it.

        Args:
          output_types: the dtypes of an element, a nested structure.
          output_shapes: their shapes; None for any.
          shared_name: iterators of one shared name are one.
          output_classes: ignored.
        """
        return data.GraphIterator.from_structure(default_graph(), output_types, output_shapes, shared_name)

    @staticmethod
    def from_string_handle(
        string_handle: Any, output_types: Any, output_shapes: Any = None, output_classes: Any = None
    ) -> data.GraphIterator:
        """Adds an iterator to the default graph that is the one whose handle is fed.

        Args:
          string_handle: a tensor: what ``string_handle()`` of the iterator that is meant gives.
          output_types: the dtypes of an element, a nested structure.
          output_shapes: their shapes; None for any.
          output_classes: ignored.
        """
        spec = data.signature_of(output_types, output_shapes)
        return data.GraphIterator(default_graph(), spec, handle=string_handle)


def _in_graphs(function: Callable[..., data.Dataset]) -> Callable[..., Dataset]:
    """Returns a function that makes a dataset of TensorFlow 1."""

    @wraps(function)
    def made(*args: Any, **kwargs: Any) -> Dataset:
        return Dataset(function(*args, **kwargs).plan)

    return made


def _of_files(function: Callable[..., data.Dataset]) -> Callable[..., Dataset]:
    """Returns a function that makes a dataset of files, whose names a tensor of the graph may be."""

    @wraps(function)
    def made(filenames: Any, *args: Any, **kwargs: Any) -> Dataset:
        def of_names(values: list[Any]) -> data.Dataset:
            return function(np.ravel(values[0]).tolist(), *args, **kwargs)

        if isinstance(filenames, GraphTensor):
            return Dataset.fed_by([filenames], [b""], of_names)
        return Dataset(function(filenames, *args, **kwargs).plan)

    return made


FixedLengthRecordDataset = _of_files(data.fixed_length_records)
TFRecordDataset = _of_files(data.tf_records)
TextLineDataset = _of_files(data.text_lines)
make_csv_dataset = _in_graphs(data.make_csv_dataset)


def make_one_shot_iterator(dataset: Dataset) -> data.GraphIterator:
    """Adds an iterator to the graph that gives the elements once in each Session."""
    return dataset.make_one_shot_iterator()


def make_initializable_iterator(dataset: Dataset, shared_name: str | None = None) -> data.GraphIterator:
    """Adds an iterator to the graph that starts whenever its ``initializer`` runs."""
    return dataset.make_initializable_iterator(shared_name)


def get_output_types(dataset_or_iterator: Dataset | data.GraphIterator) -> Any:
    """Returns the dtypes of an element."""
    return dataset_or_iterator.output_types


def get_output_shapes(dataset_or_iterator: Dataset | data.GraphIterator) -> Any:
    """Returns the shapes of an element."""
    return dataset_or_iterator.output_shapes
