"""Datasets and iterators of TensorFlow 1, whose iterators are part of the default graph."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from graphc.compat.tensorflow1.element_functions import InGraph
from graphc.graphs.session import Graph, GraphTensor, default_graph
from graphc.training import data

__all__ = [
    "Dataset",
    "FixedLengthRecordDataset",
    "Iterator",
    "TFRecordDataset",
    "TextLineDataset",
    "get_output_shapes",
    "get_output_types",
    "make_csv_dataset",
    "make_initializable_iterator",
    "make_one_shot_iterator",
]


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
            found = super()._function(function, use, compiled=compiled)
        found.in_python = in_graph = InGraph(function, use, found.location, seed)
        if self.is_fed and not found.is_known:  # what it will be fed with is no element yet
            spec = in_graph.spec(self.element_spec)
            if spec is not None:
                found.declare(spec)
        return found


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
