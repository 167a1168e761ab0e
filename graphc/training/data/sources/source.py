"""The protocol of a pipeline's sources: elements on the host, read in bulk where possible, with the position as data.

Elements are nested structures (see :mod:`graphc.nest`) of NumPy arrays; a string is ``bytes``, and an array of strings
is a NumPy array of ``bytes`` objects. In a batch, each leaf has an additional first axis.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol, Self, TypeAlias, runtime_checkable

from graphc.compiler.base import nest
from graphc.compiler.function import TensorSpec

__all__ = ["INFINITE", "Cardinality", "RowSource", "Source", "SourceIterator", "State", "map_spec", "stacked_spec"]

INFINITE = math.inf
"""The cardinality of a source that does not end."""

Cardinality: TypeAlias = "int | float | None"
"""Number of elements: an integer, :data:`INFINITE`, or None where only reading them tells."""

State: TypeAlias = dict[str, Any]
"""A position: a small structure of JSON values and NumPy arrays."""


class SourceIterator(Protocol):
    """Reads a source once, from the start or from a position set by :meth:`restore`."""

    def __iter__(self) -> Self: ...

    def __next__(self) -> Any:
        """Returns the next element.

        Raises:
          StopIteration: there are no more elements.
        """
        ...

    def read_many(self, count: int) -> Any | None:
        """Returns between one and ``count`` of the next elements as one batch; None if there are no more."""
        ...

    def state(self) -> State:
        """Returns the position: an iterator of the same source that restores it continues with the same elements."""
        ...

    def restore(self, state: State) -> None:
        """Moves to a position from :meth:`state`, forward or backward."""
        ...

    def close(self) -> None:
        """Releases files and other resources; a second call does nothing."""
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
    """A source that can be read in any order, so that a shuffle permutes row numbers instead of rows."""

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
      >>> from graphc.training.data.sources import stacked_spec
      >>> from graphc.compiler.function import TensorSpec
      >>> stacked_spec({"x": TensorSpec((3,), "float32")})["x"].shape
      (None, 3)
    """

    def stacked(leaf: TensorSpec) -> TensorSpec:
        return TensorSpec(None if leaf.shape is None else (size, *leaf.shape), leaf.dtype)

    return map_spec(stacked, spec)


def map_spec(function: Callable[[TensorSpec], Any], spec: Any) -> Any:
    """Applies a function to each leaf of a spec; :mod:`graphc.nest` treats a ``TensorSpec`` as a dataclass, not a leaf.

    Example:
      >>> from graphc.training.data.sources import map_spec
      >>> from graphc.compiler.function import TensorSpec
      >>> map_spec(str, (TensorSpec((3,), "float32"), {"name": TensorSpec((), "string")}))
      ('float32[3]', {'name': 'string[]'})
    """
    if isinstance(spec, TensorSpec):
        return function(spec)
    _, children = nest.children(spec) or ((), ())
    return nest.unflatten(nest.level(spec), [map_spec(function, child) for child in children])
