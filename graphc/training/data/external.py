"""Methods that make datasets of external data: file names, and generators."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Self, cast

from graphc.compiler.function import TensorSpec
from graphc.training.data.planned_dataset import Planned, refuse
from graphc.training.data.sources import Iterated, matching_files

__all__ = ["Outside", "signature_of"]


class Outside(Planned):
    """Methods that make datasets of data from outside of the program."""

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
          name: ignored.

        Raises:
          FileMissingError: no files match.
        """
        made: Any = cls
        names = matching_files(file_pattern, "list_files")
        dataset = made.from_tensor_slices(names)
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
          name: ignored.

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
        made: Any = cls
        if not callable(generator):
            raise refuse("from_generator", f"expected a function that returns an iterable, got {generator!r:.60}")
        given = tuple(args or ())

        def start() -> Iterable[Any]:
            return generator(*given)

        start.__name__ = getattr(generator, "__name__", "generator")
        return made.from_source(Iterated(start, output_signature or signature_of(output_types, output_shapes)))


def signature_of(types: Any, shapes: Any) -> Any:
    """Returns the types of an element from TensorFlow 1's arguments: dtypes, and shapes of the same structure."""
    if isinstance(types, dict):
        named = cast("dict[Any, Any]", types)
        return {key: signature_of(type, None if shapes is None else shapes[key]) for key, type in named.items()}
    if isinstance(types, tuple | list):
        listed = cast("Sequence[Any]", types)
        return tuple([signature_of(type, None if shapes is None else shapes[k]) for k, type in enumerate(listed)])
    return None if types is None else TensorSpec(shapes, types)
