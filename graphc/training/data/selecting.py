"""Methods of a dataset that select, repeat and order elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import jax

from graphc.compiler.base.nest import LEAF, Structure
from graphc.compiler.core import as_dtype
from graphc.training.data.elements import described, flatten
from graphc.training.data.nodes.counting import Concatenate, Repeat, Shard, Skip, Take, Zip
from graphc.training.data.nodes.origins import Numbers
from graphc.training.data.nodes.sharing import ShareBatches
from graphc.training.data.nodes.shuffling import Shuffle
from graphc.training.data.planned_dataset import Planned, count_of, plan_of, refuse
from graphc.training.data.sources import INFINITE

__all__ = ["Choosing"]


class Choosing(Planned):
    """Methods of a dataset that select and order elements."""

    def take(self, count: int, name: str | None = None) -> Self:
        """Keeps the first elements.

        Args:
          count: the number of elements; -1 for all.
          name: ignored.
        """
        count = count_of("take", "count", count, -1)
        return self if count < 0 else self._on(Take(self.plan, count))

    def skip(self, count: int, name: str | None = None) -> Self:
        """Skips the first elements.

        Args:
          count: the number of elements; -1 for all.
          name: ignored.
        """
        count = count_of("skip", "count", count, -1)
        return self._on(Skip(self.plan, INFINITE if count < 0 else count))

    def repeat(self, count: int | None = None, name: str | None = None) -> Self:
        """Repeats the elements.

        Args:
          count: the number of repetitions; None and -1 for endless repetition.
          name: ignored.
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
          name: ignored.

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
          name: ignored.

        Raises:
          InvalidArgumentError: ``index`` is out of range.
        """
        shards, place = count_of("shard", "num_shards", num_shards, 1), count_of("shard", "index", index)
        if place >= shards:
            raise refuse("shard", f"index {place} must be less than num_shards {shards}")
        return self._on(Shard(self.plan, shards, place))

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
        place = jax.process_index() if process is None else count_of("shard_batches", "process", process)
        if place >= count:
            raise refuse("shard_batches", f"process {place} must be less than processes {count}")
        shapes = [getattr(leaf, "shape", ()) for leaf in flatten(self.element_spec)[0]]
        if not all(shape is None or shape for shape in shapes):
            raise refuse("shard_batches", f"elements have no rows: {described(self.element_spec)}; use it after batch")
        return self if count == 1 else self._on(ShareBatches(self.plan, count, place))

    def concatenate(self, dataset: Any, name: str | None = None) -> Self:
        """Appends the elements of another dataset.

        Args:
          dataset: a dataset with elements of the same structure and dtypes.
          name: ignored.

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
          name: ignored.

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
          name: ignored.
        """
        found = transformation_func(self)
        plan_of(found, "apply")
        return found
