"""Strings without a value: placeholders for a dataset's elements while a function of them is traced.

Host ops on them are recorded by their creator, and computed later for many elements at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from graphc.compiler.base.errors import ConcretizationError
from graphc.compiler.core.strings import Contents, StringTensor, refused
from graphc.compiler.ir import Attrs, OpDef

__all__ = ["LateStrings"]

Applied = Callable[[OpDef, Sequence[Any], Attrs], list[Any]]


class LateStrings(StringTensor):
    """A tensor of strings with a known shape, whose values cannot be read yet.

    Args:
      shape: the tensor's shape.
      place: the index under which its values are stored later.
      applied: takes a host op, inputs and attributes and returns the results.
    """

    __slots__ = ("_shape", "applied", "place")

    def __init__(self, shape: tuple[int, ...], place: int, applied: Applied) -> None:  # pyright: ignore[reportMissingSuperCall]
        self._shape, self.place, self.applied = shape, place, applied

    def _refuse(self) -> NoReturn:
        problem = f"strings of an element ({self.type}) have no value while the function is traced"
        raise refused(ConcretizationError(problem))

    @property
    def held(self) -> np.ndarray[Any, Any]:
        """Raises, as do all accesses to the values."""
        self._refuse()

    @property
    def encoded(self) -> np.ndarray[Any, Any]:
        """Raises."""
        self._refuse()

    @property
    def contents(self) -> Contents:
        """Raises."""
        self._refuse()

    @property
    def _values(self) -> np.ndarray[Any, Any]:
        self._refuse()

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each axis."""
        return self._shape

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self._shape)

    @property
    def size(self) -> int:
        """The number of strings."""
        return int(np.prod(self._shape))
