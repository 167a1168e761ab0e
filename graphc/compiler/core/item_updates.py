"""Functional updates of a tensor's items."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphc.compiler.core.numpy_functions import FUNCTIONS

if TYPE_CHECKING:
    from graphc.compiler.core.convert import ArrayLike
    from graphc.compiler.core.tensor import Tensor

__all__ = ["ItemUpdater"]


class ItemUpdater:
    """The ``.at`` of a tensor; indexing it returns an object with the update methods."""

    __slots__ = ("_tensor",)

    def __init__(self, tensor: Any) -> None:
        self._tensor = tensor

    def __getitem__(self, index: Any) -> _IndexedUpdater:
        return _IndexedUpdater(self._tensor, index)


class _IndexedUpdater:
    __slots__ = ("_index", "_tensor")

    def __init__(self, tensor: Any, index: Any) -> None:
        self._tensor = tensor
        self._index = index

    def _update(self, how: str, values: Any) -> Tensor:
        return FUNCTIONS["update_item"](self._tensor, self._index, values, how)

    def get(self) -> Tensor:
        """Returns the elements."""
        return self._tensor[self._index]

    def set(self, values: ArrayLike) -> Tensor:
        """Returns a copy with the elements replaced by ``values``."""
        return self._update("set", values)

    def add(self, values: ArrayLike) -> Tensor:
        """Returns a copy with ``values`` added to the elements; an index given twice adds twice."""
        return self._update("add", values)

    def multiply(self, values: ArrayLike) -> Tensor:
        """Returns a copy with the elements multiplied by ``values``."""
        return self._update("multiply", values)

    def min(self, values: ArrayLike) -> Tensor:
        """Returns a copy with the elementwise minimum of the elements and ``values``."""
        return self._update("min", values)

    def max(self, values: ArrayLike) -> Tensor:
        """Returns a copy with the elementwise maximum of the elements and ``values``."""
        return self._update("max", values)
