"""Rows: the arguments of a request; joining those of several requests, and splitting their results."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphc.compiler.base import at, nest, user_location
from graphc.compiler.base.errors import InvalidArgumentError, InvalidTypeError
from graphc.compiler.core import Tensor, Variable, canonical_array

__all__ = ["Array", "Key", "Rows", "padded"]

Array = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Key:
    """The properties that requests must have in common to be batched together."""

    structure: nest.Structure
    types: tuple[Hashable, ...]


@dataclass(frozen=True)
class Rows:
    """The arguments of a request, copied to the host."""

    key: Key
    leaves: tuple[Array, ...]

    def __len__(self) -> int:
        return len(self.leaves[0])

    @classmethod
    def of(cls, what: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Rows:
        """Copies the arguments of a call."""
        leaves, structure = nest.flatten((args, kwargs))
        for leaf in leaves:
            if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype")):
                error = InvalidTypeError(
                    f"{what}: expected arrays with a row for each query, got {type(leaf).__name__} {leaf!r:.60}; pass "
                    "np.asarray(...), and bind arguments that are the same for all queries with functools.partial"
                )
                raise at(error, user_location())
        values = [leaf.numpy() if isinstance(leaf, Tensor | Variable) else leaf for leaf in leaves]
        arrays = tuple([canonical_array(value) for value in values])
        sizes = {array.shape[:1] for array in arrays}
        if len(sizes) != 1 or sizes & {(), (0,)}:
            shapes = ", ".join(str(array.shape) for array in arrays) or "missing"
            error = InvalidArgumentError(
                f"{what}: all arrays must have the same number of rows, at least one, along their first axis; their "
                f"shapes are {shapes}. A query of one row is x[None]"
            )
            raise at(error, user_location())
        return cls(Key(structure, tuple([(array.shape[1:], array.dtype) for array in arrays])), arrays)


def padded(parts: Sequence[Sequence[Array]], size: int) -> list[Array]:
    """Joins the rows of several requests, and repeats the last row until there are ``size``.

    A repeated row fails no batch that would not fail anyway; a row of zeros might.
    """
    more = size - sum(len(part[0]) for part in parts)
    if len(parts) == 1 and not more:
        return list(parts[0])
    joined: list[Array] = []
    for column in zip(*parts, strict=True):
        rows = [*column, np.repeat(column[-1][-1:], more, axis=0)] if more else list(column)
        joined.append(np.concatenate(rows))
    return joined
