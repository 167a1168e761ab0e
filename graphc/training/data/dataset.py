"""The Dataset class: input pipelines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, cast

import jax
import numpy as np

from graphc.compiler.base.nest import LEAF, Structure
from graphc.compiler.core import as_dtype
from graphc.compiler.function import TensorSpec
from graphc.training.data.elements import described, flatten, stacked, take_apart, unflatten
from graphc.training.data.inspecting import Looking
from graphc.training.data.looping import Looping
from graphc.training.data.nodes.buffers import Shuffle
from graphc.training.data.nodes.counting import Concatenate, Repeat, Shard, Skip, Take, Zip
from graphc.training.data.nodes.origins import Gather, Numbers, RandomNumbers, Read, ShareBatches
from graphc.training.data.planned_dataset import count_of, plan_of, refuse
from graphc.training.data.sources import INFINITE, ChunkSource, Iterated, Slices, matching_files
from graphc.training.data.stateful import Remembering
from graphc.training.data.transforming import Transforming


class Dataset(Transforming, Remembering, Looking, Looping):
    """An input pipeline: a source of elements and transformations of them (TensorFlow's ``tf.data.Dataset``).

    A dataset is immutable and holds no position: each ``for`` loop over it starts from the beginning. Elements are
    nested tuples, dicts, named tuples and dataclasses of tensors. Methods take the ``name`` of tf.data, and ignore it.

    Example:
      >>> import graphc as gx
      >>> images, labels = gx.zeros((10, 4)), gx.arange(10)
      >>> dataset = gx.data.Dataset.from_tensor_slices((images, labels)).shuffle(10).batch(5)
      >>> for image, label in dataset:
      ...     print(image.shape, label.shape)
      (5, 4) (5,)
      (5, 4) (5,)
    """

    # Methods that make datasets.

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Self:
        """Makes a dataset of the slices of arrays along their first axis.

        Args:
          tensors: a nested structure of arrays of one length; they are copied.

        Raises:
          InvalidArgumentError: an array has no axes, or the lengths differ.

        Example:
          >>> import graphc as gx
          >>> dataset = gx.data.Dataset.from_tensor_slices({"x": [[1.0, 2.0], [3.0, 4.0]], "y": [0, 1]})
          >>> len(dataset), dataset.element_spec["x"].shape
          (2, (2,))
        """
        source = Slices(tensors)
        return cls(Gather(source, Numbers(0, len(source))))

    @classmethod
    def from_tensors(cls, tensors: Any, name: str | None = None) -> Self:
        """Makes a dataset of one element.

        Args:
          tensors: the element, a nested structure of arrays.
        """
        row, structure = take_apart(tensors)
        return cls(Gather(Slices(unflatten(structure, stacked([row])), "from_tensors"), Numbers(0, 1)))

    @classmethod
    def range(cls, *args: Any, output_type: Any = "int64", name: str | None = None) -> Self:
        """Makes a dataset of the numbers of a range.

        Args:
          *args: the arguments of Python's ``range``: stop; or start and stop; or start, stop and step.
          output_type: the dtype; int64, as in tf.data, becomes int32 without 64-bit types.

        Raises:
          InvalidArgumentError: these are not one to three ints, the step is 0, or a number does not fit into the dtype.

        Example:
          >>> import graphc as gx
          >>> [int(x) for x in gx.data.Dataset.range(2, 10, 3)]
          [2, 5, 8]
        """
        numbers = [count_of("Dataset.range", "each argument", value, -(2**63)) for value in args]
        if not 1 <= len(numbers) <= 3 or (len(numbers) == 3 and not numbers[2]):
            raise refuse("Dataset.range", f"expected stop; start, stop; or start, stop, step (not 0), got {args}")
        values, dtype = range(*numbers), as_dtype(output_type)
        limits = np.iinfo(dtype) if dtype.kind in "iu" else None
        if (
            values
            and limits
            and not limits.min <= min(values[0], values[-1]) <= max(values[0], values[-1]) <= limits.max
        ):
            raise refuse(
                "Dataset.range", f"{values} does not fit {dtype.name}; pass output_type, or enable 64-bit types"
            )
        return cls(Numbers(values.start, len(values), values.step, dtype))

    @classmethod
    def counter(cls, start: int = 0, step: int = 1, dtype: Any = "int64", name: str | None = None) -> Self:
        """Makes an endless dataset of numbers.

        Args:
          start: the first.
          step: the difference between successive elements.
          dtype: their dtype.
        """
        first, each = (count_of("Dataset.counter", "each argument", value, -(2**63)) for value in (start, step))
        return cls(Numbers(first, INFINITE, each, as_dtype(dtype)))

    @classmethod
    def random(cls, seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None) -> Self:
        """Makes an endless dataset of random 32-bit integers.

        Args:
          seed: the seed of the numbers; None as for :meth:`shuffle`.
          rerandomize_each_iteration: whether each pass returns different numbers.
        """
        return cls(RandomNumbers(cls._seed(seed), bool(rerandomize_each_iteration)))

    @classmethod
    def from_source(cls, source: ChunkSource) -> Self:
        """Makes a dataset of a source: an object with a spec that opens to an iterator with a position.

        Args:
          source: a :class:`graphc.data.sources.ChunkSource`. If it reads rows by number, a shuffle permutes only the
            numbers.
        """
        take_rows = getattr(source, "take_rows", None)
        if take_rows is not None:
            rows: Any = source
            return cls(Gather(rows, Numbers(0, len(rows))))
        return cls(Read(source))

    @classmethod
    def zip(cls, *args: Any, datasets: Any = None, name: str | None = None) -> Self:
        """Makes a dataset of tuples with an element from each of several datasets; ends with the shortest.

        Args:
          *args: datasets, or one nested structure of them.
          datasets: the same as a keyword.

        Example:
          >>> import graphc as gx
          >>> numbers = gx.data.Dataset.range(3)
          >>> [(int(a), int(b)) for a, b in gx.data.Dataset.zip(numbers, numbers.skip(1))]
          [(0, 1), (1, 2)]
        """
        nested = datasets if datasets is not None else args[0] if len(args) == 1 else args
        leaves, structure = flatten(nested)
        parts = [plan_of(leaf, "Dataset.zip") for leaf in leaves]
        if not parts:
            raise refuse("Dataset.zip", "there are no datasets")
        return cls(Zip(tuple(parts), structure))

    @classmethod
    def list_files(
        cls, file_pattern: Any, shuffle: bool | None = None, seed: int | None = None, name: str | None = None
    ) -> Self:
        """Makes a dataset of the names of the files that match a pattern.

        Args:
          file_pattern: a pattern with ``*``, ``?`` and ``[...]``, or a list of patterns.
          shuffle: whether each pass returns the names in a different random order; None for True, as in tf.data.
            Otherwise they are sorted.
          seed: the seed of that order.

        Raises:
          FileMissingError: no files match.
        """
        names = matching_files(file_pattern, "list_files")
        dataset = cls.from_tensor_slices(names)
        return dataset if shuffle is False else dataset.shuffle(len(names), seed)

    @classmethod
    def from_generator(
        cls,
        generator: Callable[..., Iterable[Any]],
        output_types: Any = None,
        output_shapes: Any = None,
        args: Any = None,
        output_signature: Any = None,
        name: str | None = None,
    ) -> Self:
        """Makes a dataset of the elements of a generator, which each pass restarts.

        Args:
          generator: a function that returns an iterable.
          output_types: the dtypes of an element, a nested structure; instead of ``output_signature``.
          output_shapes: their shapes; None for any.
          args: the arguments of the generator, as NumPy arrays.
          output_signature: the types of an element, a nested structure of ``gx.TensorSpec``; None for the types of the
            first element.

        Raises:
          InvalidArgumentError: raised while reading, if an element has another structure or shape, or other dtypes.

        Example:
          >>> import graphc as gx
          >>> def squares():
          ...     for k in range(3):
          ...         yield k * k
          >>> [int(x) for x in gx.data.Dataset.from_generator(squares, output_signature=gx.TensorSpec((), gx.int32))]
          [0, 1, 4]
        """
        if not callable(generator):
            raise refuse("from_generator", f"expected a function that returns an iterable, got {generator!r:.60}")
        arguments = tuple(args or ())

        def start() -> Iterable[Any]:
            return generator(*arguments)

        start.__name__ = getattr(generator, "__name__", "generator")
        return cls.from_source(Iterated(start, output_signature or signature_of(output_types, output_shapes)))

    # Methods that select and order elements.

    def take(self, count: int, name: str | None = None) -> Self:
        """Keeps the first elements.

        Args:
          count: the number of elements; -1 for all.
        """
        count = count_of("take", "count", count, -1)
        return self if count < 0 else self._on(Take(self.plan, count))

    def skip(self, count: int, name: str | None = None) -> Self:
        """Skips the first elements.

        Args:
          count: the number of elements; -1 for all.
        """
        count = count_of("skip", "count", count, -1)
        return self._on(Skip(self.plan, INFINITE if count < 0 else count))

    def repeat(self, count: int | None = None, name: str | None = None) -> Self:
        """Repeats the elements.

        Args:
          count: the number of repetitions; None and -1 for endless repetition.
        """
        times = -1 if count is None else count_of("repeat", "count", count, -1)
        return self._on(Repeat(self.plan, INFINITE if times < 0 else times))

    def shuffle(
        self, buffer_size: int, seed: Any = None, reshuffle_each_iteration: bool | None = True, name: str | None = None
    ) -> Self:
        """Shuffles the elements.

        Each element is drawn from a buffer, which is then refilled, as in tf.data. If the source reads rows by number,
        the buffer holds numbers.

        Args:
          buffer_size: the size of the buffer; with the size of the dataset, every order is equally likely.
          seed: the seed of the order; None to derive it from ``gx.random.seed``, or at random if that is not set.
          reshuffle_each_iteration: whether each pass over the dataset has a different order.

        Example:
          >>> import graphc as gx
          >>> dataset = gx.data.Dataset.range(5).shuffle(5, seed=0)
          >>> sorted(int(x) for x in dataset)
          [0, 1, 2, 3, 4]
        """
        size = count_of("shuffle", "buffer_size", buffer_size, 1)
        reshuffle = True if reshuffle_each_iteration is None else bool(reshuffle_each_iteration)
        return self._on(Shuffle(self.plan, size, self._seed(seed), reshuffle))

    def shard(self, num_shards: int, index: int, name: str | None = None) -> Self:
        """Keeps every ``num_shards``-th element.

        Args:
          num_shards: the number of parts of the dataset.
          index: the index of this shard, from 0.

        Raises:
          InvalidArgumentError: ``index`` is out of range.
        """
        shards, position = count_of("shard", "num_shards", num_shards, 1), count_of("shard", "index", index)
        if position >= shards:
            raise refuse("shard", f"index {position} must be less than num_shards {shards}")
        return self._on(Shard(self.plan, shards, position))

    def shard_batches(self, processes: int | None = None, process: int | None = None) -> Self:
        """Keeps the consecutive rows of one process from each batch.

        The processes of a job run the same pipeline, with the same seeds. All take the same number of steps, together
        they see each row once, and the joined batch (:meth:`graphc.distribute.DataParallel.from_local`) equals the
        batch of a single process. The position refers to the whole dataset, so a job can resume with another number of
        processes. If the source reads rows by number, only the rows of this process are read.

        Args:
          processes: the number of processes; None for those of the job.
          process: the index of the process; None for this one.

        Raises:
          InvalidArgumentError: ``process`` is out of range, or the elements are not batches.

        Example:
          >>> import graphc as gx
          >>> batches = gx.data.Dataset.range(8).batch(4, drop_remainder=True)
          >>> [[batch.tolist() for batch in batches.shard_batches(2, process)] for process in range(2)]
          [[[0, 1], [4, 5]], [[2, 3], [6, 7]]]
        """
        count = jax.process_count() if processes is None else count_of("shard_batches", "processes", processes, 1)
        rank = jax.process_index() if process is None else count_of("shard_batches", "process", process)
        if rank >= count:
            raise refuse("shard_batches", f"process {rank} must be less than processes {count}")
        shapes = [getattr(leaf, "shape", ()) for leaf in flatten(self.element_spec)[0]]
        if not all(shape is None or shape for shape in shapes):
            raise refuse("shard_batches", f"elements have no rows: {described(self.element_spec)}; use it after batch")
        return self if count == 1 else self._on(ShareBatches(self.plan, count, rank))

    def concatenate(self, dataset: Any, name: str | None = None) -> Self:
        """Appends the elements of another dataset.

        Args:
          dataset: a dataset with elements of the same structure and dtypes.

        Raises:
          InvalidArgumentError: the elements differ in more than shapes.
        """
        return self._checked(Concatenate((self.plan, plan_of(dataset, "concatenate"))))

    def _checked(self, plan: Any) -> Self:
        plan.spec  # noqa: B018  raises an error if they do not fit together
        return self._on(plan)

    def enumerate(self, start: int = 0, name: str | None = None) -> Self:
        """Returns pairs of a number and an element.

        Args:
          start: the first number.

        Example:
          >>> import graphc as gx
          >>> [(int(i), int(x)) for i, x in gx.data.Dataset.range(7, 9).enumerate(start=1)]
          [(1, 7), (2, 8)]
        """
        numbers: Any = Numbers(count_of("enumerate", "start", start, -(2**31)), INFINITE, dtype=as_dtype("int64"))
        pair = Structure(tuple, (0, 1), (LEAF, LEAF))
        return self._on(Zip((numbers, self.plan), pair))

    def apply(self, transformation_func: Callable[[Any], Any], name: str | None = None) -> Any:
        """Applies a function from datasets to datasets.

        Args:
          transformation_func: the function.
        """
        dataset = transformation_func(self)
        plan_of(dataset, "apply")
        return dataset


def signature_of(types: Any, shapes: Any) -> Any:
    """Returns the types of an element from TensorFlow 1's arguments: dtypes, and shapes of the same structure."""
    if isinstance(types, dict):
        named = cast("dict[Any, Any]", types)
        return {key: signature_of(type, None if shapes is None else shapes[key]) for key, type in named.items()}
    if isinstance(types, tuple | list):
        listed = cast("Sequence[Any]", types)
        return tuple([signature_of(type, None if shapes is None else shapes[k]) for k, type in enumerate(listed)])
    return None if types is None else TensorSpec(shapes, types)
