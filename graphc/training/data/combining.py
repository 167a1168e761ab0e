"""Methods that combine datasets: flat_map, interleave, window, groups, and choosing from several."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np

from graphc.training.data.elements import flatten
from graphc.training.data.late import Runs
from graphc.training.data.nodes.grouping import GroupByWindow, Window
from graphc.training.data.nodes.mixing import Choose, Interleave, RandomChoices
from graphc.training.data.planned_dataset import Planned, count_of, plan_of, refuse, threads_of
from graphc.training.data.transforming import Transforming

__all__ = ["Combining"]

_CYCLE = 4


class Combining(Planned):
    """Methods of a dataset that combine several datasets into one."""

    def flat_map(self, map_func: Callable[..., Any], name: str | None = None) -> Self:
        """Maps each element to a dataset and returns the elements of these datasets, one dataset after the other.

        Args:
          map_func: a function that takes an element, of NumPy arrays and tensors of strings, and returns a dataset.
          name: ignored.

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
          name: ignored.

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
          name: ignored.

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
          name: ignored.

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
          name: ignored.
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
                given = _leaf_shapes(group.element_spec, padded_shapes)
                filled = [tuple([most if size is None else size for size in shape]) for shape in given]
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
            found = tuple([1.0] * len(parts) if weights is None else [float(weight) for weight in weights])
        except TypeError:
            problem = f"weights must be numbers, got {weights!r:.60}; if they change, use choose_from_datasets"
            raise refuse(use, problem) from None
        if len(found) != len(parts) or not parts or min(found) < 0 or not sum(found):
            raise refuse(use, f"{len(parts)} datasets need as many non-negative weights, got {found}")
        parts = tuple([part for part, weight in zip(parts, found, strict=True) if weight])
        found = tuple([weight for weight in found if weight])
        again = bool(rerandomize_each_iteration)
        choice = RandomChoices(found, cls._seed(seed), again, Runs() if again else None)
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


def _cycle(given: int | None) -> int:
    return _CYCLE if given is None or given == -1 else given


def _leaf_shapes(spec: Any, given: Any) -> list[Any]:
    from graphc.training.data.transforming import padded_shapes_of

    shapes = padded_shapes_of(spec, given)
    leaves = flatten(spec)[0]
    return [leaf.shape if shape is None else shape for leaf, shape in zip(leaves, shapes, strict=True)]
