"""The protocol of a pipeline's sources: elements on the host, read in bulk where possible, with the position as data.

Elements are nested structures (see :mod:`graphc.nest`) of NumPy arrays; a string is ``bytes``, and an array of strings
is a NumPy array of objects that are ``bytes``. In a batch each leaf of such a structure has one more axis at the front.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol, Self, TypeAlias, runtime_checkable

from graphc.base import nest
from graphc.function import TensorSpec

__all__ = ["INFINITE", "Cardinality", "RowSource", "Source", "SourceIterator", "State", "map_spec", "stacked_spec"]

INFINITE = math.inf
"""The cardinality of a source that does not end."""

Cardinality: TypeAlias = "int | float | None"
"""Number of elements: an integer, :data:`INFINITE`, or None where only reading them tells."""

State: TypeAlias = dict[str, Any]
"""A position: a small structure of JSON values and NumPy arrays."""


class SourceIterator(Protocol):
    """Reads a source once, from its start or from where :meth:`restore` takes it."""

    def __iter__(self) -> Self: ...

    def __next__(self) -> Any:
        """Returns the next element.

        Raises:
          StopIteration: there are no more.
        """
        ...

    def read_many(self, count: int) -> Any | None:
        """Returns at least one of the next elements and at most so many as one batch; None if there are no more."""
        ...

    def state(self) -> State:
        """Returns where it is: an iterator of the same source that is given this goes on with the same elements."""
        ...

    def restore(self, state: State) -> None:
        """Goes to a position that :meth:`state` gave, forward or backward."""
        ...

    def close(self) -> None:
        """Lets go of files and other resources; a second time it does nothing."""
        ...


class Source(Protocol):
    """A source of elements. It holds no position: each :meth:`open` starts anew."""

    @property
    def spec(self) -> Any:
        """The types of an element: its structure with a ``TensorSpec`` for each leaf."""
        ...

    @property
    def cardinality(self) -> Cardinality:
        """The number of elements."""
        ...

    def open(self) -> SourceIterator:
        """Starts to read."""
        ...


@runtime_checkable
class RowSource(Source, Protocol):
    """A source whose elements can be had in any order, so that a shuffle moves row numbers and not rows."""

    def __len__(self) -> int: ...

    def take_rows(self, indices: Any) -> Any:
        """Returns rows as one batch.

        Args:
          indices: their numbers, a vector of ints from 0 to below the length.
        """
        ...


def stacked_spec(spec: Any, size: int | None = None) -> Any:
    """Returns the spec of a batch of elements.

    Args:
      spec: the spec of an element.
      size: the number of elements in a batch; None for any number.

    Example:
      >>> from graphc.data.sources import stacked_spec
      >>> from graphc.function import TensorSpec
      >>> stacked_spec({"x": TensorSpec((3,), "float32")})["x"].shape
      (None, 3)
    """

    def stacked(leaf: TensorSpec) -> TensorSpec:
        return TensorSpec(None if leaf.shape is None else (size, *leaf.shape), leaf.dtype)

    return map_spec(stacked, spec)


def map_spec(function: Callable[[TensorSpec], Any], spec: Any) -> Any:
    """Applies a function to each leaf of a spec; ``TensorSpec`` is a dataclass, so to :mod:`graphc.nest` it is no leaf.

    Example:
      >>> from graphc.data.sources import map_spec
      >>> from graphc.function import TensorSpec
      >>> map_spec(str, (TensorSpec((3,), "float32"), {"name": TensorSpec((), "string")}))
      ('float32[3]', {'name': 'string[]'})
    """
    if isinstance(spec, TensorSpec):
        return function(spec)
    _, children = nest.children(spec) or ((), ())
    return nest.unflatten(nest.level(spec), [map_spec(function, child) for child in children])
