"""Methods of a dataset that apply functions to elements, and batch them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from graphc.compiler.base.nest import Structure
from graphc.training.data.elements import described, flatten
from graphc.training.data.nodes.batching import Batch, PaddedBatch, Rebatch, Unbatch, filling
from graphc.training.data.nodes.maps import Filter, Map, TakeWhile
from graphc.training.data.planned_dataset import Planned, count_of, refuse, threads_of
from graphc.training.data.workers import packed

__all__ = ["Transforming"]


class Transforming(Planned):
    """Methods of a dataset that transform elements."""

    def map(
        self, map_func: Callable[..., Any], num_parallel_calls: int | None = None, deterministic: bool | None = None,
        synchronous: bool | None = None, use_unbounded_threadpool: bool = False, name: str | None = None,
        *, workers: int | None = None,
    ) -> Self:  # fmt: skip
        """Applies a function to each element.

        graphc traces the function. If it only computes on numbers, it runs as one program for a batch of elements. If
        graphc cannot compile it, Python calls it for each element, with NumPy arrays and tensors of strings, and
        ``dataset.explain()`` names the line that prevents compilation.

        Args:
          map_func: a function from an element to an element; it takes the items of a tuple as separate arguments.
          num_parallel_calls: the number of threads that call it in Python; ``gx.data.AUTOTUNE`` for one per core.
          deterministic: False returns elements as they finish, out of order.
          synchronous: ignored.
          use_unbounded_threadpool: ignored.
          name: ignored.
          workers: the number of processes that call it in Python, for functions that are slow in Python itself. Arrays
            come back through shared memory. The function is sent by pickle, or by cloudpickle where that is installed.

        Example:
          >>> import graphc as gx
          >>> [int(x) for x in gx.data.Dataset.range(3).map(lambda x: x * x)]
          [0, 1, 4]
        """
        if workers is not None:
            count = count_of("map", "workers", workers, 1)
            packed(map_func, self.plan.spec, "map")  # raises an error here if it cannot be sent
            function = self._function(map_func, "map", compiled=False)
            return self._on(Map(self.plan, function, None, deterministic, count))
        function, threads = self._function(map_func, "map"), threads_of("map", num_parallel_calls)
        return self._on(Map(self.plan, function, threads if threads > 1 else None, deterministic))

    def filter(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """Keeps the elements for which a function returns True.

        Args:
          predicate: a function from an element to a truth value.
          name: ignored.

        Example:
          >>> import graphc as gx
          >>> [int(x) for x in gx.data.Dataset.range(6).filter(lambda x: x % 2 == 1)]
          [1, 3, 5]
        """
        return self._on(Filter(self.plan, self._function(predicate, "filter")))

    def take_while(self, predicate: Callable[..., Any], name: str | None = None) -> Self:
        """Ends before the first element for which a function returns False.

        Args:
          predicate: a function from an element to a truth value.
          name: ignored.

        Example:
          >>> import graphc as gx
          >>> [int(x) for x in gx.data.Dataset.range(6).take_while(lambda x: x < 2)]
          [0, 1]
        """
        return self._on(TakeWhile(self.plan, self._function(predicate, "take_while")))

    def batch(
        self, batch_size: int, drop_remainder: bool = False, num_parallel_calls: int | None = None,
        deterministic: bool | None = None, name: str | None = None,
    ) -> Self:  # fmt: skip
        """Stacks consecutive elements.

        Args:
          batch_size: the number of elements in a batch.
          drop_remainder: whether to drop a last batch with fewer elements.
          num_parallel_calls: ignored.
          deterministic: ignored.
          name: ignored.

        Raises:
          InvalidArgumentError: raised while iterating, if elements of a batch have different shapes.

        Example:
          >>> import graphc as gx
          >>> [x.tolist() for x in gx.data.Dataset.range(5).batch(2)]
          [[0, 1], [2, 3], [4]]
        """
        return self._on(Batch(self.plan, count_of("batch", "batch_size", batch_size, 1), bool(drop_remainder)))

    def padded_batch(
        self, batch_size: int, padded_shapes: Any = None, padding_values: Any = None, drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:  # fmt: skip
        """Stacks consecutive elements, padded to the largest of the batch.

        Args:
          batch_size: the number of elements in a batch.
          padded_shapes: for each leaf the shape to pad it to, with None (or -1) for the size of the largest; None
            for the largest in all axes.
          padding_values: for each leaf, or for all, the value to pad with; 0 and "" by default.
          drop_remainder: whether to drop a last batch with fewer elements.
          name: ignored.

        Raises:
          InvalidArgumentError: raised while iterating, if an element is larger than its padded shape.

        Example:
          >>> import graphc as gx
          >>> lists = gx.data.Dataset.range(1, 4).map(lambda n: gx.full((int(n),), 7))
          >>> next(iter(lists.padded_batch(3))).tolist()
          [[7, 0, 0], [7, 7, 0], [7, 7, 7]]
        """
        size = count_of("padded_batch", "batch_size", batch_size, 1)
        shapes = padded_shapes_of(self.element_spec, padded_shapes)
        values = filling(self.element_spec, padding_values)
        return self._on(PaddedBatch(self.plan, size, bool(drop_remainder), shapes, values))

    def unbatch(self, name: str | None = None) -> Self:
        """Returns the slices of each element, one by one.

        Args:
          name: ignored.
        """
        return self._on(Unbatch(self.plan))

    def rebatch(self, batch_size: int | Sequence[int], drop_remainder: bool = False, name: str | None = None) -> Self:
        """Changes the size of batches.

        Args:
          batch_size: the number of elements in a batch; several numbers are used in turn.
          drop_remainder: whether to drop a last batch with fewer elements.
          name: ignored.

        Example:
          >>> import graphc as gx
          >>> [x.tolist() for x in gx.data.Dataset.range(6).batch(2).rebatch([1, 3])]
          [[0], [1, 2, 3], [4], [5]]
        """
        given: Any = batch_size if isinstance(batch_size, Sequence) else np.atleast_1d(batch_size)
        sizes = tuple([count_of("rebatch", "batch_size", size, 1) for size in given])
        if not sizes:
            raise refuse("rebatch", "batch_size is empty")
        return self._on(Rebatch(self.plan, sizes, bool(drop_remainder)))


def padded_shapes_of(spec: Any, given: Any) -> tuple[Any, ...]:
    """Returns the padded shape of each leaf, with None for open sizes.

    Raises:
      InvalidArgumentError: the number of shapes differs from the number of leaves.
    """
    leaves, structure = flatten(spec)
    if given is None:
        return (None,) * len(leaves)
    try:
        return tuple([None if shape is None else _open_sizes(shape) for shape in _shapes(given, structure)])
    except (TypeError, ValueError, KeyError, AttributeError):
        wanted = f"a shape for each leaf of {described(spec)}, with None for open sizes"
        raise refuse("padded_batch", f"padded_shapes must be {wanted}, got {given!r:.80}") from None


def _open_sizes(shape: Any) -> tuple[int | None, ...]:
    return tuple([None if size is None or size == -1 else int(size) for size in shape])


def _shapes(given: Any, structure: Structure) -> list[Any]:
    """Returns the shapes in a nested structure, where each shape is a list, a tuple or a TensorShape."""
    if structure.kind is None:
        return [given]
    parts = [given[key] for key in structure.keys] if structure.kind is dict else list(given)
    return [shape for part, inner in zip(parts, structure.children, strict=True) for shape in _shapes(part, inner)]
