"""Methods of datasets that change, batch and combine elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from graphc.compiler.base.nest import Structure
from graphc.training.data.elements import described, flatten
from graphc.training.data.late import Runs
from graphc.training.data.nodes.batching import Batch, PaddedBatch, Rebatch, Unbatch, filling
from graphc.training.data.nodes.grouping import GroupByWindow, Window
from graphc.training.data.nodes.maps import Filter, Map, TakeWhile
from graphc.training.data.nodes.mixing import Choose, Interleave, RandomChoices
from graphc.training.data.planned_dataset import Planned, count_of, plan_of, refuse, threads_of
from graphc.training.data.workers import packed


class Transforming(Planned):
    """Methods of a dataset that transform elements, and combine several datasets into one."""

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
        """Returns the slices of each element, one by one."""
        return self._on(Unbatch(self.plan))

    def rebatch(self, batch_size: int | Sequence[int], drop_remainder: bool = False, name: str | None = None) -> Self:
        """Changes the size of batches.

        Args:
          batch_size: the number of elements in a batch; several numbers are used in turn.
          drop_remainder: whether to drop a last batch with fewer elements.

        Example:
          >>> import graphc as gx
          >>> [x.tolist() for x in gx.data.Dataset.range(6).batch(2).rebatch([1, 3])]
          [[0], [1, 2, 3], [4], [5]]
        """
        requested: Any = batch_size if isinstance(batch_size, Sequence) else np.atleast_1d(batch_size)
        sizes = tuple([count_of("rebatch", "batch_size", size, 1) for size in requested])
        if not sizes:
            raise refuse("rebatch", "batch_size is empty")
        return self._on(Rebatch(self.plan, sizes, bool(drop_remainder)))

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Self:
        """Maps each element to a dataset and returns the elements of these datasets, one dataset after the other.

        Args:
          map_func: a function that takes an element, of NumPy arrays and tensors of strings, and returns a dataset.

        Example:
          >>> import graphc as gx
          >>> [int(x) for x in gx.data.Dataset.range(1, 4).flat_map(gx.data.Dataset.range)]
          [0, 0, 1, 0, 1, 2]
        """
        return self._on(Interleave(self.plan, self._function(map_func, "flat_map", compiled=False), 1, 1))

    def interleave(
        self, map_func: Callable[..., Any], cycle_length: int | None = None, block_length: int | None = None,
        num_parallel_calls: int | None = None, deterministic: bool | None = None, name: str | None = None,
    ) -> Self:  # fmt: skip
        """Maps each element to a dataset and interleaves the elements of these datasets.

        Args:
          map_func: a function that takes an element, of NumPy arrays and tensors of strings, and returns a dataset.
          cycle_length: the number of datasets to read in turn; None for 4.
          block_length: the number of consecutive elements of each; None for 1.
          num_parallel_calls: if more than 1, a thread for each dataset reads some elements ahead.
          deterministic: ignored: elements come in order.

        Example:
          >>> import graphc as gx
          >>> pairs = lambda x: gx.data.Dataset.from_tensors(x).repeat(3)
          >>> [int(x) for x in gx.data.Dataset.range(3).interleave(pairs, cycle_length=2, block_length=2)]
          [0, 0, 1, 1, 0, 1, 2, 2, 2]
        """
        cycle = count_of("interleave", "cycle_length", _cycle(cycle_length), 1)
        block = count_of("interleave", "block_length", 1 if block_length is None else block_length, 1)
        ahead = threads_of("interleave", num_parallel_calls) > 1
        function = self._function(map_func, "interleave", compiled=False)
        return self._on(Interleave(self.plan, function, cycle, block, 2 * block if ahead else None))

    def window(
        self, size: int, shift: int | None = None, stride: int = 1, drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:  # fmt: skip
        """Returns datasets of consecutive elements, one dataset for each leaf of an element.

        Args:
          size: the number of elements in a window.
          shift: the number of elements by which the next window starts later; None for ``size``.
          stride: the distance between the elements of a window.
          drop_remainder: whether to drop smaller windows at the end.

        Example:
          >>> import graphc as gx
          >>> windows = gx.data.Dataset.range(5).window(3, shift=1, drop_remainder=True)
          >>> [x.tolist() for x in windows.flat_map(lambda window: window.batch(3))]
          [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
        """
        length = count_of("window", "size", size, 1)
        step = count_of("window", "shift", length if shift is None else shift, 1)
        spacing = count_of("window", "stride", stride, 1)
        return self._on(Window(self.plan, length, step, spacing, bool(drop_remainder), type(self)))

    def group_by_window(
        self, key_func: Callable[..., Any], reduce_func: Callable[[Any, Any], Any], window_size: int | None = None,
        window_size_func: Callable[[Any], Any] | None = None, name: str | None = None,
    ) -> Self:  # fmt: skip
        """Groups elements by a key, maps each group to a dataset, and returns the elements of these datasets.

        Args:
          key_func: a function from an element to its key, an int.
          reduce_func: a function from a key and a dataset of elements with that key to a dataset.
          window_size: the number of elements in a group; the remaining elements at the end form smaller groups.
          window_size_func: a function from a key to that number; pass one of the two.

        Example:
          >>> import graphc as gx
          >>> groups = gx.data.Dataset.range(6).group_by_window(
          ...     lambda x: x % 2, lambda key, group: group.batch(2), window_size=2
          ... )
          >>> [x.tolist() for x in groups]
          [[0, 2], [1, 3], [4], [5]]
        """
        if (window_size is None) == (window_size_func is None):
            raise refuse("group_by_window", "pass either window_size or window_size_func")
        size = None if window_size is None else count_of("group_by_window", "window_size", window_size, 1)
        key = self._function(key_func, "group_by_window")
        reduce = self._function(reduce_func, "group_by_window", compiled=False)
        return self._on(GroupByWindow(self.plan, key, reduce, window_size_func or size, type(self)))

    def bucket_by_sequence_length(
        self, element_length_func: Callable[..., Any], bucket_boundaries: Sequence[int],
        bucket_batch_sizes: Sequence[int], padded_shapes: Any = None, padding_values: Any = None,
        pad_to_bucket_boundary: bool = False, no_padding: bool = False, drop_remainder: bool = False,
        name: str | None = None,
    ) -> Self:  # fmt: skip
        """Batches elements of similar length, padded to one shape.

        Args:
          element_length_func: a function from an element to its length, an int.
          bucket_boundaries: the lengths at which the next bucket starts, in ascending order.
          bucket_batch_sizes: the size of the batches of each bucket, one more than boundaries.
          padded_shapes: see :meth:`padded_batch`.
          padding_values: see :meth:`padded_batch`.
          pad_to_bucket_boundary: whether to pad open sizes to the longest length of the bucket; elements beyond the
            last boundary then raise an error.
          no_padding: whether the elements of a batch already have one shape.
          drop_remainder: whether to drop smaller batches at the end.
        """
        use = "bucket_by_sequence_length"
        bounds, sizes = np.asarray(bucket_boundaries, int), [int(size) for size in bucket_batch_sizes]
        if len(sizes) != len(bounds) + 1 or not len(bounds) or (np.diff(bounds) <= 0).any():
            problem = f"{len(bounds)} boundaries in ascending order need {len(bounds) + 1} batch sizes, got {sizes}"
            raise refuse(use, problem)
        leaves = len(flatten(self.element_spec)[0])

        def key_of(*element: Any) -> Any:
            return np.searchsorted(bounds, int(element_length_func(*element)), side="right")

        def batched(key: Any, group: Transforming) -> Any:
            bucket = int(key)
            if no_padding:
                return group.batch(sizes[bucket], drop_remainder)
            shapes = padded_shapes
            if pad_to_bucket_boundary:
                if bucket == len(bounds):
                    raise refuse(use, f"an element is as long as the last boundary {bounds[-1]} or longer")
                most = int(bounds[bucket]) - 1
                requested = _leaf_shapes(group.element_spec, padded_shapes)
                filled = [tuple([most if size is None else size for size in shape]) for shape in requested]
                shapes = filled if leaves > 1 else filled[0]
            return group.padded_batch(sizes[bucket], shapes, padding_values, drop_remainder)

        key = self._function(key_of, use, compiled=False)
        reduce = self._function(batched, use, compiled=False)
        return self._on(GroupByWindow(self.plan, key, reduce, lambda key: sizes[int(key)], type(self)))

    @classmethod
    def sample_from_datasets(
        cls, datasets: Sequence[Any], weights: Any = None, seed: Any = None, stop_on_empty_dataset: bool = False,
        rerandomize_each_iteration: bool | None = None,
    ) -> Self:  # fmt: skip
        """Draws each element from a random one of several datasets.

        Args:
          datasets: datasets with elements of the same structure and dtypes.
          weights: the probability of each; None for equal probabilities.
          seed: the seed of the draws; None as for :meth:`shuffle`.
          stop_on_empty_dataset: whether to end with the first dataset that ends; otherwise the others continue.
          rerandomize_each_iteration: whether each pass draws different numbers.
        """
        use = "sample_from_datasets"
        parts = tuple([plan_of(dataset, use) for dataset in datasets])
        try:
            probabilities = tuple([1.0] * len(parts) if weights is None else [float(weight) for weight in weights])
        except TypeError:
            problem = f"weights must be numbers, got {weights!r:.60}; if they change, use choose_from_datasets"
            raise refuse(use, problem) from None
        if len(probabilities) != len(parts) or not parts or min(probabilities) < 0 or not sum(probabilities):
            raise refuse(use, f"{len(parts)} datasets need as many non-negative weights, got {probabilities}")
        parts = tuple([part for part, weight in zip(parts, probabilities, strict=True) if weight])
        probabilities = tuple([weight for weight in probabilities if weight])
        again = bool(rerandomize_each_iteration)
        choice = RandomChoices(probabilities, cls._seed(seed), again, Runs() if again else None)
        return cls(Choose(choice, parts, bool(stop_on_empty_dataset)))

    @classmethod
    def choose_from_datasets(
        cls, datasets: Sequence[Any], choice_dataset: Any, stop_on_empty_dataset: bool = True
    ) -> Self:
        """Takes each element from the dataset whose index another dataset returns.

        Args:
          datasets: datasets with elements of the same structure and dtypes.
          choice_dataset: a dataset of indices, from 0.
          stop_on_empty_dataset: whether to end with the first dataset that ends; otherwise the others continue.

        Example:
          >>> import graphc as gx
          >>> numbers, choice = gx.data.Dataset.range(3), gx.data.Dataset.range(2).repeat()
          >>> [int(x) for x in gx.data.Dataset.choose_from_datasets([numbers, numbers.skip(1)], choice)]
          [0, 1, 1, 2, 2]
        """
        use = "choose_from_datasets"
        parts = tuple([plan_of(dataset, use) for dataset in datasets])
        if not parts:
            raise refuse(use, "there are no datasets")
        return cls(Choose(plan_of(choice_dataset, use), parts, bool(stop_on_empty_dataset)))


def padded_shapes_of(spec: Any, shapes: Any) -> tuple[Any, ...]:
    """Returns the padded shape of each leaf, with None for open sizes."""
    leaves, structure = flatten(spec)
    if shapes is None:
        return (None,) * len(leaves)
    try:
        return tuple([None if shape is None else _open_sizes(shape) for shape in _shapes(shapes, structure)])
    except (TypeError, ValueError, KeyError, AttributeError):
        wanted = f"a shape for each leaf of {described(spec)}, with None for open sizes"
        raise refuse("padded_batch", f"padded_shapes must be {wanted}, got {shapes!r:.80}") from None


def _open_sizes(shape: Any) -> tuple[int | None, ...]:
    return tuple([None if size is None or size == -1 else int(size) for size in shape])


def _shapes(nested: Any, structure: Structure) -> list[Any]:
    """Returns the shapes in a nested structure, where each shape is a list, a tuple or a TensorShape."""
    if structure.kind is None:
        return [nested]
    parts = [nested[key] for key in structure.keys] if structure.kind is dict else list(nested)
    return [shape for part, inner in zip(parts, structure.children, strict=True) for shape in _shapes(part, inner)]


_CYCLE = 4


def _cycle(length: int | None) -> int:
    return _CYCLE if length is None or length == -1 else length


def _leaf_shapes(spec: Any, requested: Any) -> list[Any]:
    from graphc.training.data.transforming import padded_shapes_of

    shapes = padded_shapes_of(spec, requested)
    leaves = flatten(spec)[0]
    return [leaf.shape if shape is None else shape for leaf, shape in zip(leaves, shapes, strict=True)]
