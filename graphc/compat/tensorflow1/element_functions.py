"""Functions of elements that make operations of a graph: a graph of their own, which a Session of its own runs."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from graphc.compiler.base import Location, at, nest
from graphc.compiler.base.errors import InvalidArgumentError
from graphc.compiler.core import STRING, StringTensor, bytes_array
from graphc.compiler.function import TensorSpec
from graphc.graphs import session
from graphc.training.data import GraphDataset, sources

__all__ = ["InGraph"]


class InGraph:
    """A function that is called for elements, outside of the graph that it was written beside.

    One that makes no operations of a graph is called for each element. Another one is called once, and what it made is
    run for each element, as TensorFlow 1 does it.

    Args:
      function: the user's function.
      use: the transformation, for messages.
      location: the function's location.
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
                found = self._called(element, graph)
            if not any(isinstance(leaf, session.GraphTensor) for leaf in nest.flatten(found)[0]):
                return found
            with self._lock:
                self._run = self._run or self._built(lambda: nest.map_structure(_placeholder, element))[0]
        return self._run(*element)

    def spec(self, given: Any) -> Any:
        """Returns the types of what it makes, from those of the elements; None where they do not say it."""
        kind = cast("Any", type(given))
        element = given if kind is tuple else (given,)
        try:
            self._run, found = self._built(lambda: sources.map_spec(_placeholder_for, element))
        except Exception:  # it takes values, or is wrong, which it says where it is called
            return None
        return nest.map_structure(_spec, found)

    def _called(self, element: tuple[Any, ...], graph: session.Graph) -> Any:
        try:
            found = self._function(*element)
        except InvalidArgumentError as error:
            if "is of another graph" not in str(error):
                raise
            raise self._refusal(str(error).partition("; build")[0]) from error
        for leaf in nest.flatten(found)[0]:
            if isinstance(leaf, session.GraphTensor) and leaf.graph is not graph:
                raise self._refusal(f"{leaf!r} is made of tensors or Variables of another graph")
            if isinstance(leaf, GraphDataset) and leaf.is_fed:
                problem = f"{self._use}: it returns a dataset of tensors that it makes itself, which are not known yet"
                raise at(InvalidArgumentError(f"{problem}; make them in a map before it"), self._location)
        return tuple(cast("list[Any]", found)) if isinstance(found, list) else found

    def _refusal(self, problem: str) -> Exception:
        remedy = "a function of elements may not use tensors, Variables or placeholders of the graph around it"
        instead = "give it NumPy values, or make them part of the elements (from_tensor_slices of a placeholder, zip)"
        return at(InvalidArgumentError(f"{self._use}: {problem}; {remedy}: {instead}"), self._location)

    def _built(self, placeholders: Callable[[], tuple[Any, ...]]) -> tuple[Callable[..., Any], Any]:
        """Returns what runs the graph that the function makes of placeholders, and the tensors that it returned."""
        with session.Graph().as_default() as graph:
            graph.seed = self._seed
            given = placeholders()
            results, made = nest.flatten(self._called(given, graph))
            fetches = [session.convert_to_tensor(leaf) for leaf in results]
        run = session.Session(graph=graph).make_callable(fetches, nest.flatten(given)[0])

        def call(*element: Any) -> Any:
            return nest.unflatten(made, run(*map(_fed, nest.flatten(element)[0])))

        return call, nest.unflatten(made, fetches)


def _placeholder(leaf: Any) -> Any:
    """Returns a placeholder for an item of elements, of whose shape only the number of axes is sure."""
    given = _fed(leaf)
    return session.placeholder(STRING if given.dtype.kind in "OSU" else given.dtype, (None,) * given.ndim)


def _placeholder_for(leaf: TensorSpec) -> Any:
    return session.placeholder(STRING if leaf.of_strings else leaf.type.dtype, leaf.shape)


def _spec(leaf: Any) -> TensorSpec:
    return TensorSpec(leaf.shape, "string" if leaf.dtype == STRING else leaf.dtype)


def _fed(leaf: Any) -> Any:
    return bytes_array(leaf) if isinstance(leaf, StringTensor) else np.asarray(leaf)
