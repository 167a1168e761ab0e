"""Methods that make datasets of values in memory."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from graphc.compiler.core import as_dtype
from graphc.training.data.elements import flatten, stacked, take_apart, unflatten
from graphc.training.data.memory import Slices
from graphc.training.data.nodes.counting import Zip
from graphc.training.data.nodes.origins import Gather, Numbers, RandomNumbers, Read
from graphc.training.data.planned_dataset import Planned, count_of, plan_of, refuse
from graphc.training.data.sources import INFINITE, Source

__all__ = ["Creation"]


class Creation(Planned):
    """Methods that make datasets."""

    @classmethod
    def from_tensor_slices(cls, tensors: Any, name: str | None = None) -> Self:
        """Makes a dataset of the slices of arrays along their first axis.

        Args:
          tensors: a nested structure of arrays of one length; they are copied.
          name: ignored.

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
          name: ignored.
        """
        row, structure = take_apart(tensors)
        return cls(Gather(Slices(unflatten(structure, stacked([row])), "from_tensors"), Numbers(0, 1)))

    @classmethod
    def range(cls, *args: Any, output_type: Any = "int64", name: str | None = None) -> Self:
        """Makes a dataset of the numbers of a range.

        Args:
          *args: the arguments of Python's ``range``: stop; or start and stop; or start, stop and step.
          output_type: the dtype; int64, as in tf.data, becomes int32 without 64-bit types.
          name: ignored.

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
        found, dtype = range(*numbers), as_dtype(output_type)
        limits = np.iinfo(dtype) if dtype.kind in "iu" else None
        if found and limits and not limits.min <= min(found[0], found[-1]) <= max(found[0], found[-1]) <= limits.max:
            raise refuse(
                "Dataset.range", f"{found} does not fit {dtype.name}; pass output_type, or enable 64-bit types"
            )
        return cls(Numbers(found.start, len(found), found.step, dtype))

    @classmethod
    def counter(cls, start: int = 0, step: int = 1, dtype: Any = "int64", name: str | None = None) -> Self:
        """Makes an endless dataset of numbers.

        Args:
          start: the first.
          step: the difference between successive elements.
          dtype: their dtype.
          name: ignored.
        """
        first, each = (count_of("Dataset.counter", "each argument", value, -(2**63)) for value in (start, step))
        return cls(Numbers(first, INFINITE, each, as_dtype(dtype)))

    @classmethod
    def random(cls, seed: Any = None, rerandomize_each_iteration: bool | None = None, name: str | None = None) -> Self:
        """Makes an endless dataset of random 32-bit integers.

        Args:
          seed: the seed of the numbers; None as for :meth:`shuffle`.
          rerandomize_each_iteration: whether each pass returns different numbers.
          name: ignored.
        """
        return cls(RandomNumbers(cls._seed(seed), bool(rerandomize_each_iteration)))

    @classmethod
    def from_source(cls, source: Source) -> Self:
        """Makes a dataset of a source: an object with a spec that opens to an iterator with a position.

        Args:
          source: a :class:`graphc.data.sources.Source`. If it reads rows by number, a shuffle permutes only the
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
          name: ignored.

        Example:
          >>> import graphc as gx
          >>> numbers = gx.data.Dataset.range(3)
          >>> [(int(a), int(b)) for a, b in gx.data.Dataset.zip(numbers, numbers.skip(1))]
          [(0, 1), (1, 2)]
        """
        given = datasets if datasets is not None else args[0] if len(args) == 1 else args
        leaves, structure = flatten(given)
        parts = [plan_of(leaf, "Dataset.zip") for leaf in leaves]
        if not parts:
            raise refuse("Dataset.zip", "there are no datasets")
        return cls(Zip(tuple(parts), structure))
