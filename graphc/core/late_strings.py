"""Strings that have no value yet: a function of the elements of a dataset is traced with them.

What ops of the host make of them is noted by who made them, and computed later, for many elements at once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from graphc.base.errors import ConcretizationError
from graphc.core.strings import Contents, StringTensor, refused
from graphc.ir import Attrs, OpDef

__all__ = ["LateStrings"]

Applied = Callable[[OpDef, Sequence[Any], Attrs], list[Any]]


class LateStrings(StringTensor):
    """A tensor of strings of a known shape, whose values nobody may ask for.

    Args:
      shape: of the tensor.
      place: where it is kept when it has values.
      applied: gives the results of an op of the host, inputs and attributes.
    """

    __slots__ = ("_shape", "applied", "place")

    def __init__(self, shape: tuple[int, ...], place: int, applied: Applied) -> None:  # pyright: ignore[reportMissingSuperCall]
        self._shape, self.place, self.applied = shape, place, applied

    def _refuse(self) -> NoReturn:
        problem = f"strings of an element ({self.type}) have no value while the function is traced"
        raise refused(ConcretizationError(problem))

    @property
    def held(self) -> np.ndarray[Any, Any]:
        """Refused, as everything is that takes values."""
        self._refuse()

    @property
    def encoded(self) -> np.ndarray[Any, Any]:
        """Refused."""
        self._refuse()

    @property
    def contents(self) -> Contents:
        """Refused."""
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
